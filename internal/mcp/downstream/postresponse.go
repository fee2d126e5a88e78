package downstream

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/overdue"
	"secateur/internal/mcp/wire"
)

// postResponse is the Exchange for the requests of one POST: a single one, or a batch. Nothing is
// sent before the first message is available. An answer that comes first and alone is sent whole.
// An earlier message or a long silence opens a stream, which a goroutine writes until it has the
// answer.
type postResponse struct {
	*request
	buffer *replayBuffer // holds the stream's messages
	kind   streamKind    // of the stream

	mu       sync.Mutex
	session  string    // guarded by mu, like all below; the session id to tell the client
	primes   bool      // a stream begins with a priming event
	stream   *stream   // nil: not opened
	carried  chan bool // gets whether the stream was written to its end
	answered bool

	silence overdue.Entry[*postResponse] // pending until the answer or the first event

	own    replayBuffer // for a request without a session
	cancel context.CancelFunc
}

// Send sends a message before the answer.
func (x *postResponse) Send(msg []byte) bool {
	if !x.accept.stream {
		return false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream != nil {
		return x.stream.put(msg)
	}
	if !x.makeStream() {
		return false
	}
	ok := x.stream.put(msg)
	x.carry(nil)
	return ok
}

// Header returns the header of the HTTP request.
func (x *postResponse) Header() http.Header { return x.r.Header }

// Principal returns the caller.
func (x *postResponse) Principal() *access.Principal { return x.principal }

// Streams reports whether the client accepts a stream.
func (x *postResponse) Streams() bool { return x.accept.stream }

// Heard reports whether the client reads the stream or, if none is open, still waits.
func (x *postResponse) Heard() bool {
	x.mu.Lock()
	s := x.stream
	x.mu.Unlock()
	if s == nil {
		return x.accept.stream && x.r.Context().Err() == nil
	}
	return s.heard()
}

// primeAfter is when a client that can resume streams gets a priming event. A slower answer is then
// not lost with the connection. A faster one is sent whole.
const primeAfter = 50 * time.Millisecond

// watch starts the silence timer: a client that accepts a stream gets an event if the answer takes
// long.
func (x *postResponse) watch() {
	if !x.accept.stream {
		return
	}
	waiting := &x.h.quiet
	if x.primes {
		waiting = &x.h.unprimed
	}
	waiting.Add(&x.silence, x)
}

// breakSilence opens a stream.
func (x *postResponse) breakSilence() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream == nil && x.makeStream() {
		var head []byte
		if !x.primes {
			head = []byte(keepAlive)
		}
		x.carry(head)
	}
}

// makeStream opens a stream, unless no client would read it.
func (x *postResponse) makeStream() bool {
	if x.answered || x.r.Context().Err() != nil {
		return false
	}
	x.stream = x.buffer.open(x.kind)
	return true
}

// carry starts writing the stream to the client.
func (x *postResponse) carry(head []byte) {
	x.carried = make(chan bool, 1)
	r := newReader()
	x.stream.attach(r, position{})
	if x.primes {
		head = append(appendPriming(nil, eventID{stream: x.stream.number}), head...)
	}
	x.announce()
	stream := x.stream
	go func() {
		x.h.metrics.streams.Inc()
		defer x.h.metrics.streams.Dec()
		x.w.beginStream(-1)
		wrote, all := x.w.carry(stream, r, head, x.h.opt.KeepAlive, x.r.Context().Done())
		stream.detach(r, x.kind == resumable && wrote)
		x.carried <- all
	}()
}

// announce tells the client its session.
func (x *postResponse) announce() {
	if x.session != "" {
		x.w.Header()["Mcp-Session-Id"] = []string{x.session}
	}
}

// disown withdraws the session id of a failed initialize.
func (x *postResponse) disown() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.session = ""
}

// agree records the session's protocol version.
func (x *postResponse) agree(version string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.primes = primes(version)
}

// early sends one of several answers. It returns false if no stream is open yet.
func (x *postResponse) early(a *Answer) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream == nil {
		return false
	}
	x.stream.answer(a)
	return true
}

// finish ends the response with its answers; several are those of a batch. It reports whether the
// client was there to receive them.
func (x *postResponse) finish(isBatch bool, answers ...*Answer) bool {
	x.mu.Lock()
	x.answered = true
	x.mu.Unlock()
	x.silence.End()
	defer func() {
		for _, a := range answers {
			a.free()
		}
	}()
	if x.stream != nil {
		for _, a := range answers {
			x.stream.answer(a)
		}
		x.stream.finish()
		all := <-x.carried
		x.h.metrics.answered(asStream, all)
		return all
	}
	here := x.r.Context().Err() == nil // a client that seems gone may still be reading
	if x.wantsStream(answers) {
		here = x.sendStream(answers, here) && here
		x.h.metrics.answered(asStream, here)
		return here
	}
	here = x.sendJSON(isBatch, answers) && here
	x.h.metrics.answered(asJSON, here)
	return here
}

// wantsStream reports whether answers are sent as a stream. An answer with its own status is not.
func (x *postResponse) wantsStream(answers []*Answer) bool {
	if !x.accept.stream {
		return false
	}
	wants := !x.accept.json
	for _, a := range answers {
		if a.Status != 0 && a.Status != http.StatusOK || len(a.Body) == 0 {
			return false
		}
		wants = wants || a.Stream
	}
	return wants
}

// sendJSON writes answers that are not a stream.
func (x *postResponse) sendJSON(isBatch bool, answers []*Answer) bool {
	x.announce()
	if isBatch {
		return x.sendBody(http.StatusOK, joinAnswers(answers))
	}
	a := answers[0]
	maps.Copy(x.w.Header(), a.Header)
	status := a.Status
	if status == 0 {
		status = http.StatusOK
	}
	return x.sendBody(status, a.Body)
}

// sendBody writes an answer. An empty one means that the client cancelled the request.
func (x *postResponse) sendBody(status int, body []byte) bool {
	if len(body) == 0 {
		x.w.WriteHeader(http.StatusAccepted)
		return true
	}
	return x.w.sendJSON(status, body) == nil
}

// sendStream writes a stream that is already complete. If the client saw it begin, it may resume
// it.
func (x *postResponse) sendStream(answers []*Answer, here bool) bool {
	x.announce()
	var at eventID
	if x.kind.keeps() {
		at.stream = x.buffer.number()
	}
	var head []byte
	if x.primes {
		head = appendPriming(make([]byte, 0, maxEventHead), at)
	}
	var room [1]*frame // usually one frame is enough
	frames, length := room[:0], len(head)
	for _, a := range answers {
		if x.kind.keeps() {
			at.message++
		}
		maps.Copy(x.w.Header(), a.Header)
		f := newFrame(a, at, false)
		frames = append(frames, f)
		length += f.length()
	}
	x.w.beginStream(length)
	err := x.w.sendAll(head, frames)
	if x.kind.keeps() && here {
		x.buffer.keep(at.stream, frames, err == nil)
		return err == nil
	}
	for _, f := range frames {
		f.dropped = true
		f.free()
	}
	return err == nil
}

// handle calls the session. A panic ends this request, not the program.
func handle(ctx context.Context, log *slog.Logger, s Session, req *wire.Message, x Exchange) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(ctx, "request panicked", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
			a = Answer{Body: wire.NewError(wire.CodeInternal, "internal error").AppendResponse(nil, req.ID), Refused: true}
		}
	}()
	return s.Handle(ctx, req, x)
}

// takeIn passes a notification or a response to the session.
func takeIn(ctx context.Context, log *slog.Logger, s Session, msg *wire.Message, x Exchange) {
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(ctx, "message panicked", "method", msg.Method, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	if msg.Kind() == wire.Response {
		s.Respond(ctx, msg)
		return
	}
	s.Notify(ctx, msg, x)
}

// notice is the Exchange of a message without an answer.
type notice struct{ *request }

func (notice) Send([]byte) bool               { return false }
func (n notice) Header() http.Header          { return n.r.Header }
func (n notice) Principal() *access.Principal { return n.principal }
func (notice) Streams() bool                  { return false }
func (notice) Heard() bool                    { return false }
