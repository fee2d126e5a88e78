package upstream

// MCP 2024-11-05, "Transports", HTTP with SSE: the client's side.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"secateur/internal/mcp/buffer"
)

// httpSSE is the link to a server over HTTP+SSE, the transport of 2024-11-05. One event stream
// carries all messages from the server; its first event is the address for POSTs. The stream is the
// session: when it ends, so does the link.
type httpSSE struct {
	poster
	to      *url.URL // address for POSTs
	stream  io.Closer
	events  *eventReader
	hangUp  context.CancelFunc // ends the stream
	closing sync.Once
}

// openHTTPSSE opens the stream and waits for the address. ctx limits the wait, but not the stream's
// lifetime.
func openHTTPSSE(ctx context.Context, s *connection) (link, error) {
	life, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	l := &httpSSE{poster: newPoster(s), hangUp: hangUp}
	inTime := context.AfterFunc(ctx, hangUp)
	err := l.open(life)
	if !inTime() {
		err = ctx.Err()
		if errors.Is(context.Cause(ctx), errStartTimeout) {
			err = s.u.errorf(Unavailable, "it sent no endpoint event within %s", s.u.startupTimeout())
		}
	}
	if err == nil {
		return l, nil
	}
	l.close()
	if l.stream == nil {
		err = &noStream{err}
	}
	return nil, err
}

// noStream is the reason why no event stream exists; the server does not seem to support this
// transport.
type noStream struct{ error }

func (e *noStream) Unwrap() error { return e.error }

func (l *httpSSE) open(ctx context.Context) error {
	resp, err := l.endpoint.do(ctx, http.MethodGet, l.endpoint.with(headerField{"Accept", "text/event-stream"}))
	if err != nil {
		return l.s.u.transportError(err, l.endpoint.host)
	}
	if resp.StatusCode != http.StatusOK || !isEventStream(resp) {
		defer func() { _ = resp.Body.Close() }()
		body, _ := buffer.Read(resp.Body, -1, 64<<10)
		defer buffer.Put(body)
		failed := l.endpoint.statusError(resp, body)
		if failed.Hint == "" {
			failed.Hint = `if the server offers Streamable HTTP, leave out transport = "sse"`
		}
		return failed
	}
	l.stream = resp.Body
	r, err := l.endpoint.reader(resp)
	if err != nil {
		return err
	}
	l.events = l.s.u.newEvents(r)
	return l.awaitAddress()
}

// awaitAddress reads up to the event with the address for messages. It ignores events before that.
func (l *httpSSE) awaitAddress() error {
	for {
		ev, err := l.events.next()
		switch {
		case err != nil:
			return l.s.u.errorf(Unavailable, "%s ended its stream before the endpoint event", l.endpoint.host)
		case ev.name == "endpoint":
			l.to, err = l.address(string(ev.data))
			return err
		}
	}
}

// address resolves the server's address for messages, which may be relative to the stream's. It
// must have the same origin, because the messages and headers are meant for the configured server
// only.
func (l *httpSSE) address(said string) (*url.URL, error) {
	to, err := l.endpoint.url.Parse(strings.TrimSpace(said))
	if err != nil {
		return nil, l.s.u.errorf(Invalid, "the endpoint event of %s holds no address", l.endpoint.host)
	}
	if !sameOrigin(to, l.endpoint.url) {
		failed := l.s.u.errorf(Invalid, "%s wants messages posted to another origin, %s://%s; that is refused",
			l.endpoint.host, to.Scheme, to.Host)
		failed.Hint = "put the address by which the server calls itself into its url"
		return nil, failed
	}
	return to, nil
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		switch {
		case u.Port() != "":
			return u.Port()
		case u.Scheme == "https":
			return "443"
		}
		return "80"
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// run reads the stream until it ends, or until a refused message shows that the session has ended.
func (l *httpSSE) run(ctx context.Context) error {
	l.work.run(func() {
		for {
			ev, err := l.events.next()
			if err != nil {
				l.s.u.log.DebugContext(ctx, "stream ended", "err", innermost(err))
				l.end(fmt.Errorf("%s ended its stream", l.endpoint.host))
				return
			}
			l.s.receiveEvent(ctx, &ev, source{})
		}
	})
	return l.reason()
}

// send posts a message. The answer to a call arrives on the stream.
func (l *httpSSE) send(ctx context.Context, m outgoing) error {
	switch {
	case m.call != nil:
		m.call.stage.Store(sent)
		if !l.work.run(func() { l.request(ctx, m) }) {
			return errStopped
		}
		return nil
	case m.patience == 0:
		return l.away(ctx, m, l.tell)
	default:
		return l.within(ctx, m, l.tell)
	}
}

// tell delivers a notification or a response.
func (l *httpSSE) tell(ctx context.Context, m outgoing) error {
	err := l.deliver(ctx, m)
	if errors.Is(err, errSessionLost) {
		l.end(err)
		err = l.s.u.callError(err)
	}
	return err
}

// request posts a call's request. The server may confirm the POST even later than it answers the
// call.
func (l *httpSSE) request(caller context.Context, m outgoing) {
	ctx := m.call.beginWork(caller)
	defer m.call.endWork()
	err := l.deliver(ctx, m)
	if err == nil || m.call.isGone(caller) { // the caller gave up
		return
	}
	if errors.Is(err, errSessionLost) {
		// the server did not accept it, so another connection may retry it
		m.call.stage.Store(queued)
		defer l.end(err)
	}
	l.s.fail(m.call, l.s.u.callError(err))
}

// deliver posts a message and waits until the server has accepted it.
func (l *httpSSE) deliver(ctx context.Context, m outgoing) error {
	header := l.endpoint.with(
		headerField{"Content-Type", "application/json"},
		headerField{"Accept", "application/json, text/event-stream"},
		headerField{"Mcp-Protocol-Version", l.s.protocol()},
	)
	err := l.post(ctx, l.to, header, m.message)
	if failed, ok := errors.AsType[*CallError](err); ok && failed.HTTPStatus == http.StatusNotFound {
		return errSessionLost
	}
	return err
}

func (l *httpSSE) close() {
	l.closing.Do(func() {
		l.end(errStopped)
		l.hangUp()
		if l.stream != nil {
			_ = l.stream.Close()
		}
		l.shut()
	})
}
