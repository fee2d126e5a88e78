package upstream

// MCP, "Transports", Streamable HTTP: "Sending Messages to the Server" and "Resumability and
// Redelivery", the client's side.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"secateur/internal/mcp/buffer"
	"secateur/internal/mcp/wire"
)

// call performs one call. If the server has lost its session, it opens another and retries the
// call. Another goroutine reads an answer that is a stream, because the caller serves the
// notifications before the answer.
func (l *streamable) call(caller context.Context, m outgoing) {
	ctx := m.call.beginWork(caller)
	stream, err := l.attempt(ctx, m)
	if stream == nil {
		defer m.call.endWork()
		l.conclude(caller, m.call, err)
		return
	}
	read := func() {
		defer m.call.endWork()
		l.conclude(caller, m.call, l.readAnswer(ctx, stream, m.call))
	}
	if !l.work.run(read) {
		read() // it ends soon, because all connections do
	}
}

// answerStream is a stream that carries the answer to a call.
type answerStream struct {
	r      io.Reader
	body   io.ReadCloser
	status int
}

// readAnswer reads a stream up to the answer, and the few bytes that may follow.
func (l *streamable) readAnswer(ctx context.Context, stream *answerStream, c *call) error {
	defer func() { _ = stream.body.Close() }()
	if err := l.follow(ctx, stream.r, stream.status, c); err != nil {
		return err
	}
	drain(stream.body)
	return nil
}

// conclude fails a call whose request failed.
func (l *streamable) conclude(caller context.Context, c *call, err error) {
	if errors.Is(err, errSessionLost) {
		err = l.s.u.callError(err) // do not retry a second time
	}
	if err != nil && !c.isGone(caller) { // otherwise the caller ended the request
		l.s.fail(c, l.s.u.callError(err))
	}
}

// attempt returns the stream that carries the answer; nil: the answer has been delivered.
func (l *streamable) attempt(ctx context.Context, m outgoing) (*answerStream, error) {
	if !m.call.greets {
		if err := l.settled(ctx); err != nil {
			return nil, err
		}
	}
	now := l.sessionID()
	stream, err := l.try(ctx, now, m)
	if !errors.Is(err, errSessionLost) || m.call.greets {
		return stream, err
	}
	return l.again(ctx, now, m)
}

// again retries a call whose session was lost.
func (l *streamable) again(ctx context.Context, lost sessionID, m outgoing) (*answerStream, error) {
	if err := l.reopen(ctx, lost); err != nil {
		return nil, err
	}
	return l.try(ctx, l.sessionID(), m)
}

// try posts the request and handles the response.
func (l *streamable) try(ctx context.Context, now sessionID, m outgoing) (*answerStream, error) {
	resp, err := l.endpoint.post(ctx, l.header(now, m), &sentBody{data: m.message, ours: true})
	if err != nil {
		return nil, l.s.u.transportError(err, l.endpoint.host)
	}
	stream, err := l.takeResponse(ctx, now, m, resp)
	if stream == nil {
		_ = resp.Body.Close()
	}
	return stream, err
}

// takeResponse handles a response, unless it is a stream, which it returns.
func (l *streamable) takeResponse(ctx context.Context, now sessionID, m outgoing, resp *http.Response) (*answerStream, error) {
	if m.call.greets && m.method == methodInitialize && resp.StatusCode < 300 {
		if id := resp.Header.Get("Mcp-Session-Id"); isHeaderValue(id) {
			l.named(now.generation, id)
		}
	}
	r, err := l.endpoint.reader(resp)
	if err != nil {
		return nil, err
	}
	if isStream(resp) {
		return &answerStream{r, resp.Body, resp.StatusCode}, nil
	}
	return nil, l.takeBody(ctx, now, r, resp, m.call)
}

// isStream reports whether a response is a stream that may carry an answer.
func isStream(resp *http.Response) bool { return isEventStream(resp) && resp.StatusCode < 300 }

func isEventStream(resp *http.Response) bool {
	said := resp.Header.Get("Content-Type")
	if said == "application/json" {
		return false
	}
	kind, _, _ := mime.ParseMediaType(said)
	return kind == "text/event-stream"
}

// takeBody reads an answer that is not a stream. An error status does not matter if the content is
// the answer.
func (l *streamable) takeBody(ctx context.Context, now sessionID, r io.Reader, resp *http.Response, c *call) error {
	room := len(c.id.String()) // space for the caller's id, which replaces the number
	buf, err := l.endpoint.sizes.ReadBehind(room, c.hold.Reader(r), resp.ContentLength, l.s.u.maxMessage())
	defer func() { buffer.Put(buf) }()
	if err != nil {
		return l.endpoint.bodyError(err, resp)
	}
	body := buf[room:]
	msg, err := l.s.u.parse(body)
	if err == nil && msg.Kind() == wire.Response {
		if n, ok := number(msg.ID); ok && n == c.number {
			c.whole.Store(true)
			if l.s.answered(ctx, &msg, resp.StatusCode, buf) {
				buf = nil // the reply owns it now
			}
			return nil
		}
	}
	if isLost(now, resp.StatusCode, &msg) {
		return errSessionLost
	}
	failed := l.endpoint.statusError(resp, body)
	failed.foreign = err != nil
	return failed
}

// resumePoint is the position at which an event stream was interrupted.
type resumePoint struct {
	id    string // of the last event; "": cannot be resumed
	delay time.Duration
	moved bool // something arrived since the last resumption
}

const (
	resumeTries = 5 // attempts to resume a stream without anything new
	resumeFirst = 200 * time.Millisecond
	resumeLast  = 5 * time.Second
	drainTime   = time.Second
)

// follow reads a call's stream up to its answer. It resumes a stream that ends early, if the server
// supports that.
func (l *streamable) follow(ctx context.Context, r io.Reader, status int, c *call) error {
	from := source{call: c, status: status}
	var at resumePoint
	err := l.readStream(ctx, r, &at, from)
	for try := 0; err != nil && at.id != "" && ctx.Err() == nil; try++ {
		if at.moved {
			try, at.moved = 0, false
		}
		if try == resumeTries {
			break
		}
		wait := max(at.delay, min(resumeFirst<<try, resumeLast))
		if !pauseFor(ctx, wait) {
			return ctx.Err()
		}
		var final bool
		if final, err = l.resume(ctx, &at, from); final {
			break
		}
	}
	return err
}

// pauseFor waits; false if the context ended first.
func pauseFor(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// resume requests the rest of a stream. final means that the server refuses.
func (l *streamable) resume(ctx context.Context, at *resumePoint, from source) (final bool, err error) {
	resp, err := l.openStream(ctx, l.sessionID(), at.id)
	if err != nil {
		return false, l.s.u.transportError(err, l.endpoint.host)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || !isEventStream(resp) {
		return true, l.endedEarly(from)
	}
	r, err := l.endpoint.reader(resp)
	if err != nil {
		return true, err
	}
	return false, l.readStream(ctx, r, at, from)
}

// openStream opens a stream of the server's messages; with an event id, of those after that event.
func (l *streamable) openStream(ctx context.Context, now sessionID, after string) (*http.Response, error) {
	return l.endpoint.do(ctx, http.MethodGet, l.endpoint.with(
		headerField{"Accept", "text/event-stream"},
		headerField{"Mcp-Protocol-Version", l.s.protocol()},
		headerField{"Mcp-Session-Id", now.value},
		headerField{"Last-Event-Id", after},
	))
}

func (l *streamable) endedEarly(from source) error {
	if from.call.strays.Load() > 0 {
		failed := l.s.u.errorf(Invalid, "it answered with the id of another call")
		failed.HTTPStatus = from.status
		return failed
	}
	return l.s.u.errorf(Unavailable, "%s ended its stream before the answer", l.endpoint.host)
}

// readStream passes a stream's messages to the connection. It returns nil when the call has its
// outcome.
func (l *streamable) readStream(ctx context.Context, r io.Reader, at *resumePoint, from source) error {
	events := l.s.u.newEvents(r)
	events.lastID = at.id
	for {
		ev, err := events.next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				l.s.u.log.DebugContext(ctx, "stream broke", "err", innermost(err))
			}
			return l.endedEarly(from)
		}
		if ev.long != nil && !ev.long.IsCall {
			return l.s.u.skippedError(ev.long)
		}
		l.take(ctx, &ev, at, from)
		if !l.s.calls.waits(from.call) {
			return nil
		}
	}
}

// take records the position and passes the event's message, if any, to the connection.
func (l *streamable) take(ctx context.Context, ev *event, at *resumePoint, from source) {
	at.id, at.moved = ev.id, true
	if ev.retry > 0 {
		at.delay = min(ev.retry, time.Minute)
	}
	l.s.receiveEvent(ctx, ev, from)
}

// receiveEvent handles an event's message, if it has one.
func (s *connection) receiveEvent(ctx context.Context, ev *event, from source) {
	switch {
	case ev.name != "" && ev.name != "message":
	case ev.long != nil:
		s.tooLong(ctx, ev.long)
	case len(ev.data) > 0:
		s.receive(ctx, bytes.Clone(ev.data), from)
	}
}

// drain reads the few bytes after an answer, so that the connection can be reused.
func drain(body io.ReadCloser) {
	late := time.AfterFunc(drainTime, func() { _ = body.Close() })
	defer late.Stop()
	_, _ = io.CopyN(io.Discard, body, 64<<10)
}
