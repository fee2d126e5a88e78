package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/llm/chat"
)

// answer is a provider's answer on its way to the client.
type answer struct {
	from   *provider
	format chat.Format
	res    *http.Response
	usage  *meter  // reads along; nil: nobody wants to know
	events *events // reads along in a stream that can be read; nil: in any other answer
	begun  bool    // its first byte that is no space has come
	torn   bool    // the client has a part of an event whose end has not come
	told   bool    // the client was told that the answer broke off

	patience time.Duration // how long the provider may send nothing
	giveUp   context.CancelCauseFunc

	ending *atomic.Bool // set before the client gets what may be the last of it; nil: nobody wants to know
	passed int64
	said   *guess // counts what the model says; nil: nobody wants to know
}

// outcome is how a request ended. The words are labels of metrics.
type outcome string

const (
	answered      outcome = "ok"
	providerError outcome = "provider_error" // the provider's own 4xx or 5xx
	brokenOff     outcome = "broken_off"     // the provider ended in the middle of its answer
	clientGone    outcome = "client_gone"
	unreachable   outcome = "unreachable"
	timedOut      outcome = "timeout"
	noModel       outcome = "model_not_found"
	badRequest    outcome = "bad_request"
	tooLarge      outcome = "too_large"
	limited       outcome = "rate_limited"
)

// broken tells whether the client has not got the answer whole.
func (o outcome) broken() bool { return o == brokenOff || o == timedOut || o == clientGone }

// errSilent is why a provider is given up that sends nothing.
var errSilent = errors.New("the provider sends nothing")

// copyBuffer is how much of an answer is passed on at once.
const copyBuffer = 32 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// pass sends the answer to the client as it comes, every piece at once, and says how it ended.
func (a *answer) pass(ctx context.Context, w http.ResponseWriter) outcome {
	h := w.Header()
	copyAnswerHeaders(h, a.res.Header)
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // net/http would guess one
	}
	w.WriteHeader(a.res.StatusCode)
	control := http.NewResponseController(w)
	if a.events != nil {
		_ = control.Flush() // the first event may be long in coming; whoever cannot flush cannot be helped
	}
	buf, _ := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buf)
	silence := time.AfterFunc(a.patience, func() { a.giveUp(errSilent) })
	defer silence.Stop()
	held := 0 // bytes of an event whose end has not come
	for {
		n, err := a.res.Body.Read(buf[held:])
		silence.Stop() // a client that is slow to take it is not the provider's fault
		if n > 0 {
			fresh, all := buf[held:held+n], buf[:held+n]
			a.lookAhead(fresh)
			out := a.ready(all)
			taken := a.write(w, control, out)
			if a.usage != nil {
				a.usage.read(fresh) // also for a client that has gone: it was counted
			}
			if !taken {
				return clientGone
			}
			held = copy(buf[:], all[len(out):])
		}
		switch {
		case err == nil:
			silence.Reset(a.patience)
		case errors.Is(err, io.EOF) && !a.endsTooEarly(buf[:held]):
			if !a.write(w, control, buf[:held]) {
				return clientGone
			}
			a.passTrailer(h)
			if a.res.StatusCode >= http.StatusBadRequest {
				return providerError
			}
			return answered
		case errors.Is(context.Cause(ctx), http.ErrServerClosed):
			a.tell(w, control, stopped())
			return brokenOff
		case errors.Is(context.Cause(ctx), errSilent):
			a.tell(w, control, wentSilent(a.from, a.patience))
			return timedOut
		case ctx.Err() != nil:
			return clientGone
		default:
			a.tell(w, control, brokeOff(a.from))
			return brokenOff
		}
	}
}

// ready is what of these bytes may go out: in a stream all events that are whole. Of one that the provider never ends
// nothing goes out, so that the error event behind it is read as one; the bytes of an event too large for the buffer go
// out as they come, and so does the last line of chat completions.
func (a *answer) ready(p []byte) []byte {
	if a.events == nil || a.format == chat.Completions && a.events.finished() {
		return p
	}
	end := wholeEvents(p)
	if end == 0 && len(p) == copyBuffer {
		a.torn = true
		return p
	}
	if end > 0 {
		a.torn = false
	}
	return p[:end]
}

// write sends bytes at once and tells whether the client takes them.
func (a *answer) write(w http.ResponseWriter, control *http.ResponseController, p []byte) bool {
	if len(p) == 0 {
		return true
	}
	if _, err := w.Write(p); err != nil {
		return false
	}
	err := control.Flush()
	return err == nil || errors.Is(err, http.ErrNotSupported)
}

// lookAhead sees what is about to go out.
func (a *answer) lookAhead(p []byte) {
	if a.events != nil && !a.begun {
		start := bytes.TrimLeft(p, " \t\r\n")
		if a.begun = len(start) > 0; a.begun && start[0] == '{' {
			a.events = nil // no field of an event begins so: it is a document, most likely an error
		}
	}
	a.passed += int64(len(p))
	if a.events != nil {
		a.events.read(p)
	}
	if a.said != nil {
		a.said.read(p)
	}
	if a.ending != nil && (a.passed == a.res.ContentLength || a.events != nil && a.events.finished()) {
		a.ending.Store(true)
	}
}

// passTrailer sends what a provider says behind its answer.
func (a *answer) passTrailer(h http.Header) {
	withoutOurs(a.res.Trailer)
	for name, values := range a.res.Trailer {
		h[http.TrailerPrefix+name] = values
	}
}

// endsTooEarly tells whether an answer that simply stops, behind these bytes that are held, has not come to its end. Where it
// is framed, its frame tells, but for the streams of formats in which a last event is never missing; its blank line may be. Of
// an answer that lasts as long as its connection a stream ends with a mark of its own, and JSON where it is whole.
func (a *answer) endsTooEarly(held []byte) bool {
	switch {
	case a.res.StatusCode != http.StatusOK, isFramed(a.res) && (a.events == nil || a.format == chat.Completions):
		return false
	case a.events != nil:
		return !a.events.done && (!a.events.finished() || !hasWholeData(held))
	}
	return a.usage != nil && isType(a.res.Header, "application/json") && a.usage.isHalf()
}

// isFramed tells whether an answer says itself how long it is.
func isFramed(res *http.Response) bool {
	return res.ContentLength >= 0 || len(res.TransferEncoding) > 0 || res.ProtoMajor > 1
}

// tell ends a stream with an error event, where that can be done: behind the last event of a stream, or in one whose
// length was told, only the broken connection says that something is missing.
func (a *answer) tell(w http.ResponseWriter, control *http.ResponseController, why *failure) {
	if a.events == nil || a.events.finished() || a.res.ContentLength >= 0 {
		return
	}
	var end []byte
	if a.torn {
		end = append(end, "\n\n"...)
	}
	end = append(why.appendEvent(end, a.format), "\n\n"...)
	if _, err := w.Write(end); err != nil {
		return
	}
	a.told = control.Flush() == nil
}

func isEventStream(h http.Header) bool { return isType(h, "text/event-stream") }

func isType(h http.Header, want string) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), want)
}

func isEncoded(h http.Header) bool {
	e := h.Get("Content-Encoding")
	return e != "" && !strings.EqualFold(e, "identity")
}
