package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"

	"secateur/internal/mcp/wire"
)

// fakeLink is a link to a server in the test, without processes and sockets.
type fakeLink struct {
	s     *connection
	serve func(l *fakeLink, req request) // called for each message, in the order sent
	ended chan struct{}
	once  sync.Once
	why   error
}

func (l *fakeLink) run(context.Context) error {
	<-l.ended
	return l.why
}

func (l *fakeLink) close() { l.die("closed") }

// die ends the link like a crash.
func (l *fakeLink) die(why string) {
	l.once.Do(func() {
		l.why = errors.New(why)
		close(l.ended)
	})
}

func (l *fakeLink) send(_ context.Context, m outgoing) error {
	if m.call != nil {
		m.call.stage.Store(sent)
	}
	var req request
	if err := json.Unmarshal(m.message, &req); err != nil {
		return err
	}
	l.serve(l, req)
	return nil
}

// say delivers a message from the server.
func (l *fakeLink) say(format string, args ...any) {
	l.s.receive(context.Background(), fmt.Appendf(nil, format, args...), source{})
}

func (l *fakeLink) answer(id json.RawMessage, result string) {
	l.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// answerAll answers every call with the same result.
func (l *fakeLink) answerAll(result string) {
	l.serve = func(l *fakeLink, req request) {
		if !l.shakeHands(req) {
			l.answer(req.ID, result)
		}
	}
}

// shakeHands answers the handshake; it returns false for any other request.
func (l *fakeLink) shakeHands(req request) bool {
	switch req.Method {
	case "initialize":
		l.answer(req.ID, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"fake"}}`)
	case "notifications/initialized":
	case "ping":
		l.answer(req.ID, `{}`)
	default:
		return false
	}
	return true
}

// fakeUpstream returns an Upstream whose links are set up by open, which may fail.
func fakeUpstream(tb testing.TB, opt Options, open func(l *fakeLink) error) *Upstream {
	tb.Helper()
	opt.Settings.ID, opt.Settings.Builtin, opt.Local = "fake", "fake", handlerFunc(nil)
	u, err := New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	u.server.(*supervisor).open = func(_ context.Context, s *connection) (link, error) {
		l := &fakeLink{s: s, ended: make(chan struct{})}
		if err := open(l); err != nil {
			return nil, err
		}
		return l, nil
	}
	return u
}

// run runs the Upstream in a synctest bubble until the test ends.
func run(t *testing.T, u *Upstream) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := u.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	}()
	return sync.OnceFunc(func() {
		cancel()
		<-done
	})
}

var _ Handler = handlerFunc(func(context.Context, *wire.Message) []byte { return nil })
