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

// postResponse is the Exchange of the requests of one POST: one, or those of a batch. Nothing is sent before there is
// something to send. An answer that comes first and alone goes out whole; what comes before it, or a silence, opens a
// stream, which a goroutine carries until the answer is on it.
type postResponse struct {
	*request
	buffer *replayBuffer // where the stream has its messages
	kind   streamKind    // of the stream

	mu       sync.Mutex
	session  string    // the id to tell the client; guarded by mu, like all below
	primes   bool      // a stream begins with a priming event
	stream   *stream   // nil: none was opened
	carried  chan bool // tells whether the stream was carried to its end
	answered bool

	silence overdue.Entry[*postResponse] // until the answer, or the first event

	own    replayBuffer // of a request without a session
	cancel context.CancelFunc
}

// Send puts a message ahead of the answer.
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

// Header holds the header of the HTTP request.
func (x *postResponse) Header() http.Header { return x.r.Header }

// Principal is the caller.
func (x *postResponse) Principal() *access.Principal { return x.principal }

// Streams reports whether the client takes a stream.
func (x *postResponse) Streams() bool { return x.accept.stream }

// Heard reports whether the client reads the stream or, as long as there is none, still waits.
func (x *postResponse) Heard() bool {
	x.mu.Lock()
	s := x.stream
	x.mu.Unlock()
	if s == nil {
		return x.accept.stream && x.r.Context().Err() == nil
	}
	return s.heard()
}

// primeAfter is when a client that can come back to a stream gets the event that it may come back to: an answer that
// takes longer is not lost with the connection. One that does not take as long goes out in one piece.
const primeAfter = 50 * time.Millisecond

// watch begins to wait for the answer: a client that takes a stream hears of us if that lasts.
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

// makeStream opens a stream, unless nobody would read it.
func (x *postResponse) makeStream() bool {
	if x.answered || x.r.Context().Err() != nil {
		return false
	}
	x.stream = x.buffer.open(x.kind)
	return true
}

// carry begins to write the stream to the client.
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

// disown takes back what an initialize was promised.
func (x *postResponse) disown() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.session = ""
}

// agree notes the session's revision of the protocol.
func (x *postResponse) agree(version string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.primes = primes(version)
}

// early gives an answer that others are to follow. It reports false if there is no stream to put it on yet.
func (x *postResponse) early(a *Answer) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stream == nil {
		return false
	}
	x.stream.answer(a)
	return true
}

// finish ends the response with its answers: more than one are those of a batch. It reports whether the client was
// there to get them.
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
	here := x.r.Context().Err() == nil // one who seems to have gone may still be reading
	if x.wantsStream(answers) {
		here = x.sendStream(answers, here) && here
		x.h.metrics.answered(asStream, here)
		return here
	}
	here = x.sendJSON(isBatch, answers) && here
	x.h.metrics.answered(asJSON, here)
	return here
}

// wantsStream tells whether answers go out as a stream. One with a status of its own does not.
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

// sendJSON writes answers that are no stream.
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

// sendBody writes an answer. Where it is empty nobody wants to know any more.
func (x *postResponse) sendBody(status int, body []byte) bool {
	if len(body) == 0 {
		x.w.WriteHeader(http.StatusAccepted)
		return true
	}
	return x.w.sendJSON(status, body) == nil
}

// sendStream writes a stream that is whole already. If the client was here to see it begin, it may come back to it.
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
	var room [1]*frame // most have no more
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

// handle asks the session. A fault in one request ends that request, not the program.
func handle(ctx context.Context, log *slog.Logger, s Session, req *wire.Message, x Exchange) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			log.ErrorContext(ctx, "request panicked", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
			a = Answer{Body: wire.NewError(wire.CodeInternal, "internal error").AppendResponse(nil, req.ID), Refused: true}
		}
	}()
	return s.Handle(ctx, req, x)
}

// takeIn gives the session a notification or a response.
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

// notice is what is around a message that is not answered.
type notice struct{ *request }

func (notice) Send([]byte) bool               { return false }
func (n notice) Header() http.Header          { return n.r.Header }
func (n notice) Principal() *access.Principal { return n.principal }
func (notice) Streams() bool                  { return false }
func (notice) Heard() bool                    { return false }
