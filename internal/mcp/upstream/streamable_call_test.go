package upstream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"secateur/internal/mcp/wire"
)

// While a call's POST has no response, other events still reach the call: another stream,
// cancellation, its timeout, the end of the connection.
func TestStreamableCallIsReached(t *testing.T) {
	type scene struct {
		f      *fakeHTTP
		stand  chan string   // messages for the standing stream
		came   chan request  // calls; none is answered automatically
		answer chan struct{} // releases one answer
		served chan string   // progress that the caller got
		only   func() *call  // the only open call
		cancel context.CancelFunc
		stop   func()
	}
	progress := func(req request, n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, req.Params.Meta.ProgressToken, n)
	}
	const answered = `{"n":1}`
	for _, c := range []struct {
		rule    string
		timeout time.Duration
		play    func(s *scene)
		want    string // "": an answer
	}{
		{"progress on another stream is passed on at once, in order", patience, func(s *scene) {
			req := <-s.came
			for n := range 50 {
				s.stand <- progress(req, n)
			}
			for n := range 50 {
				if got := <-s.served; !strings.Contains(got, fmt.Sprintf(`"progress":%d}`, n)) {
					t.Errorf("served %s as number %d", got, n)
				}
			}
			s.answer <- struct{}{}
		}, ""},
		{"it gives the server time", patience, func(s *scene) {
			req := <-s.came
			c := s.only()
			for n := range 3 {
				before := c.sign.Load()
				s.stand <- progress(req, n)
				<-s.served
				if c.sign.Load() <= before {
					t.Error("progress on another stream does not renew the time that the call may take")
				}
			}
			s.answer <- struct{}{}
		}, ""},
		{"an answer on another stream counts", patience, func(s *scene) {
			req := <-s.came
			s.stand <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, answered)
		}, ""},
		{"a silent server is given up", 5 * time.Second, func(s *scene) { <-s.came }, "within 5s"},
		{"a caller may go away", patience, func(s *scene) { <-s.came; s.cancel() }, "context canceled"},
		{"the connection may end", patience, func(s *scene) { <-s.came; s.stop() }, "stopped"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			s := &scene{
				f: newFakeHTTP(t), stand: make(chan string, 64), came: make(chan request, 1), answer: make(chan struct{}),
				served: make(chan string, 64),
			}
			s.f.get = func(w http.ResponseWriter, r *http.Request) {
				send := sse(w)
				send(": here\n\n")
				for {
					select {
					case text := <-s.stand:
						send("data: %s\n\n", text)
					case <-r.Context().Done():
						return
					}
				}
			}
			ended := make(chan struct{})
			s.f.call = func(w http.ResponseWriter, r *http.Request, req request) {
				defer close(ended)
				s.came <- req
				select {
				case <-s.answer:
					sendJSON(w, req.ID, answered)
				case <-r.Context().Done():
				}
			}
			settings := httpSettings(s.f.URL)
			settings.ResponseTimeout = c.timeout
			u, stop := startStoppable(t, Options{Settings: settings})
			t.Cleanup(stop)
			s.stop = stop
			s.only = func() *call { return u.server.(*supervisor).now.Load().conn.calls.only() }
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.cancel = cancel
			played := make(chan struct{})
			go func() {
				defer close(played)
				c.play(s)
			}()
			req := message(t, `{"jsonrpc":"2.0","id":"a long id of the caller's","method":"tools/call","params":{"name":"x","_meta":{"progressToken":"mine"}}}`)
			reply, err := u.CallWith(ctx, req, CallOptions{Related: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
				s.served <- string(m.Raw)
				return nil
			})})
			<-played
			<-ended
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("err = %v, want %q", err, c.want)
			case c.want == "" && string(reply.Raw) != `{"jsonrpc":"2.0","id":"a long id of the caller's","result":`+answered+`}`:
				t.Errorf("the answer is %s", reply.Raw)
			case c.rule == "a caller may go away" && !errors.Is(err, context.Canceled):
				t.Errorf("err = %v", err)
			}
			if reply != nil {
				reply.Release()
			}
			if c.want != "" && c.want != "stopped" {
				eventually(t, "the server is told", func() bool { return strings.Contains(s.f.got(), `"method":"notifications/cancelled"`) })
			}
		})
	}
}
