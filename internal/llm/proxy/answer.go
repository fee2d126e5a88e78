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

// answer is a provider's response on its way to the client.
type answer struct {
	from   *provider
	format chat.Format
	res    *http.Response
	usage  *meter  // reads the usage from a copy; nil: not needed
	events *events // follows a readable stream; nil: any other response
	begun  bool    // its first byte other than space has come
	torn   bool    // the client has an incomplete event
	told   bool    // the client was told that the response broke off

	patience time.Duration // how long the provider may be silent
	giveUp   context.CancelCauseFunc

	ending *atomic.Bool // set before the client may get the last byte; nil: not needed
	passed int64
	said   *guess // measures the model's output; nil: not needed
}

// outcome is how a request ended. The words are labels of metrics.
type outcome string

const (
	answered      outcome = "ok"
	providerError outcome = "provider_error" // the provider's own 4xx or 5xx
	brokenOff     outcome = "broken_off"     // the provider ended in the middle of its response
	clientGone    outcome = "client_gone"
	unreachable   outcome = "unreachable"
	timedOut      outcome = "timeout"
	noModel       outcome = "model_not_found"
	badRequest    outcome = "bad_request"
	tooLarge      outcome = "too_large"
	limited       outcome = "rate_limited"
)

// broken reports whether the client did not get the whole response.
func (o outcome) broken() bool { return o == brokenOff || o == timedOut || o == clientGone }

// errSilent is the cause when we give up on a silent provider.
var errSilent = errors.New("the provider sends nothing")

// copyBuffer is how much of a response is passed on at once.
const copyBuffer = 32 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// pass streams the response to the client, every piece at once, and returns how it ended.
func (a *answer) pass(ctx context.Context, w http.ResponseWriter) outcome {
	h := w.Header()
	copyAnswerHeaders(h, a.res.Header)
	if _, ok := h["Content-Type"]; !ok {
		h["Content-Type"] = nil // net/http would guess one
	}
	w.WriteHeader(a.res.StatusCode)
	control := http.NewResponseController(w)
	if a.events != nil {
		// The first event may take long; a writer without Flush cannot be helped.
		_ = control.Flush()
	}
	buf, _ := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buf)
	silence := time.AfterFunc(a.patience, func() { a.giveUp(errSilent) })
	defer silence.Stop()
	held := 0 // bytes of an incomplete event
	for {
		n, err := a.res.Body.Read(buf[held:])
		silence.Stop() // a slow client is not the provider's fault
		if n > 0 {
			fresh, all := buf[held:held+n], buf[:held+n]
			a.lookAhead(fresh)
			out := a.ready(all)
			taken := a.write(w, control, out)
			if a.usage != nil {
				a.usage.read(fresh) // even if the client has gone: the provider counted it
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

// ready returns how many of these bytes may be sent: in a stream, all complete events. Nothing of
// an incomplete event is sent, so that clients can parse a following error event. Events larger
// than the buffer are sent as they come, and so is the last line of chat completions.
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

// write sends bytes at once and reports whether the client accepts them.
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

// lookAhead inspects the bytes that are about to be sent.
func (a *answer) lookAhead(p []byte) {
	if a.events != nil && !a.begun {
		start := bytes.TrimLeft(p, " \t\r\n")
		if a.begun = len(start) > 0; a.begun && start[0] == '{' {
			// No event field begins like this: it is a document, most likely an error.
			a.events = nil
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

// passTrailer forwards the provider's trailers.
func (a *answer) passTrailer(h http.Header) {
	withoutOurs(a.res.Trailer)
	for name, values := range a.res.Trailer {
		h[http.TrailerPrefix+name] = values
	}
}

// endsTooEarly reports whether a response that ended after these held bytes is incomplete. The
// framing of a framed response tells, except for streams of formats whose last event is never
// missing; its blank line may be. A response delimited by its connection ends with a final mark if
// it is a stream, and with valid JSON otherwise.
func (a *answer) endsTooEarly(held []byte) bool {
	switch {
	case a.res.StatusCode != http.StatusOK, isFramed(a.res) && (a.events == nil || a.format == chat.Completions):
		return false
	case a.events != nil:
		return !a.events.done && (!a.events.finished() || !hasWholeData(held))
	}
	return a.usage != nil && isType(a.res.Header, "application/json") && a.usage.isHalf()
}

// isFramed reports whether a response declares its own length.
func isFramed(res *http.Response) bool {
	return res.ContentLength >= 0 || len(res.TransferEncoding) > 0 || res.ProtoMajor > 1
}

// tell ends a stream with an error event, if possible. After the last event, or in a stream with a
// declared length, only the broken connection shows that something is missing.
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
