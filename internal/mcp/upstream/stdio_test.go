package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/front/budget"
	"secateur/internal/mcp/child"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

func TestChildAnswers(t *testing.T) {
	for _, c := range []struct {
		rule, fault, framing string
	}{
		{"a line each", "none", ""},
		{"counted messages", "content-length", FramingContentLength},
		{"noise on standard output is passed over", "noise", ""},
		{"megabytes on standard error do not block it", "stderr", ""},
		{"a flood of notifications is no obstacle", "flood", ""},
	} {
		t.Run(c.rule, func(t *testing.T) { // sequential: a flood leaves the others no time
			s := childSettings(t, c.fault)
			s.Framing = c.framing
			u := start(t, Options{Settings: s})
			for _, id := range []string{`1`, `"a\u0062"`, `12345678901234567890`, `1.50`} {
				mustCall(t, u, toolCall(t, id, "echo", `{"n":12345678901234567890,"s":"\u00e9"}`), `{"n":12345678901234567890,"s":"\u00e9"}`)
			}
			mustCall(t, u, message(t, "{\"jsonrpc\":\"2.0\",\n\r\t\"id\":1,\n\"method\":\"tools/call\",\"params\":{\n\"arguments\":[1]}}"), `[1]`)
			if got := u.ServerName(); got != "child" {
				t.Errorf("ServerName() = %q", got)
			}
			st := u.Status()
			if st.State != Ready || st.Era != era.Legacy || st.Protocol != "2025-06-18" || st.PID == 0 || st.Restarts != 0 {
				t.Errorf("Status() = %+v", st)
			}
		})
	}
}

func TestCallersWithTheSameIDNeverMix(t *testing.T) {
	u := start(t, Options{Settings: childSettings(t, "none")})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			for j := range 5 {
				nonce := fmt.Sprintf(`{"nonce":"%d-%d"}`, i, j)
				req := message(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"progress","arguments":`+nonce+`,"_meta":{"progressToken":1}}}`)
				got := ""
				reply, err := u.CallWith(t.Context(), req, CallOptions{Related: handlerFunc(func(_ context.Context, m *wire.Message) []byte {
					got += string(m.ProgressToken())
					return nil
				})})
				if err != nil {
					t.Error(err)
					return
				}
				if string(reply.Result) != nonce || reply.ID != wire.NumberID(1) || got != "1" {
					t.Errorf("Call(%s) = id %s, %s, progress %q", nonce, reply.ID, reply.Result, got)
				}
			}
		})
	}
	wg.Wait()
}

type handlerFunc func(ctx context.Context, msg *wire.Message) []byte

func (f handlerFunc) Serve(ctx context.Context, msg *wire.Message) []byte { return f(ctx, msg) }

func TestStartThatFails(t *testing.T) {
	for _, c := range []struct {
		rule   string
		change func(s *Settings)
		want   []string
	}{
		{"a child that exits says how and where to look", func(*Settings) {}, []string{
			`server "child": exited with status 1 before it answered initialize; what it wrote to its standard error is in the log, and 'secateur logs' shows it`,
		}},
		{
			"a command that is not there is named with PATH", func(s *Settings) { s.Command = []string{"no-such-program"} },
			[]string{`command "no-such-program" was not found in PATH (`, "/bin"},
		},
		{"a path that is not there is named", func(s *Settings) { s.Command = []string{"/no/such/program"} }, []string{`"/no/such/program"`, "is not there"}},
		{"a file that is no program is named", func(s *Settings) { s.Command = []string{"./doc.go"} }, []string{`"./doc.go"`, "may not be executed"}},
		{"a working directory that is not there is named", func(s *Settings) { s.Cwd = "/no/such/dir" }, []string{"/no/such/dir"}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			s := childSettings(t, "exit")
			c.change(&s)
			var log syncBuffer
			u := start(t, Options{Settings: s, Log: slog.New(slog.NewTextHandler(&log, nil))})
			_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
			wantError(t, err, Unavailable, 0, c.want...)
			_, err = u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
			wantError(t, err, Unavailable, 0, c.want...)
			if st := u.Status(); st.State != Down && st.State != Restarting || st.LastError == "" {
				t.Errorf("Status() = %+v", st)
			}
			if c.rule[:7] == "a child" && !strings.Contains(log.String(), "no such database") {
				t.Errorf("the log lacks the child's last words: %s", log.String())
			}
		})
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestStartThatHangs(t *testing.T) {
	s := childSettings(t, "hang")
	s.StartupTimeout = 300 * time.Millisecond
	u := start(t, Options{Settings: s})
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0, "no answer yet", "startup_timeout = 0.3")
}

func TestCallerThatLeavesWhileStarting(t *testing.T) {
	u := start(t, Options{Settings: childSettings(t, "hang")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := u.Call(ctx, toolCall(t, "1", "echo", "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
}

// isSent reports whether exactly one call is open and may have reached the child.
func isSent(t *testing.T, u *Upstream) bool {
	t.Helper()
	m, err := u.server.(*supervisor).live(t.Context())
	if err != nil {
		t.Error(err)
		return true
	}
	c := m.conn.calls.only()
	return c != nil && c.stage.Load() == sent
}

func TestCrash(t *testing.T) {
	u := start(t, Options{Settings: childSettings(t, "crash3")})
	for round := range 3 {
		mustCall(t, u, toolCall(t, "1", "echo", `1`), `1`)
		kept := make(chan error)
		go func() {
			_, err := u.Call(context.Background(), toolCall(t, "7", "keep", `1`))
			kept <- err
		}()
		eventually(t, "it is sent", func() bool { return isSent(t, u) })
		if round < 2 {
			_, err := u.Call(t.Context(), toolCall(t, "2", "crash", `2`))
			wantError(t, err, Unavailable, 0, "exited with status 3")
		} else {
			_, err := u.Call(t.Context(), toolCall(t, "2", "echo", `2`)) // the third call
			wantError(t, err, Unavailable, 0, "exited with status 3")
		}
		wantError(t, <-kept, Unavailable, 0, "exited with status 3")
	}
	mustCall(t, u, toolCall(t, "1", "echo", `1`), `1`)
	if st := u.Status(); st.Restarts != 3 || st.State != Ready || !strings.Contains(st.LastError, "status 3") {
		t.Errorf("Status() = %+v", st)
	}
}

func TestLastAnswerOfAChildThatExits(t *testing.T) {
	u := start(t, Options{Settings: childSettings(t, "none")})
	words := `"` + strings.Repeat("last words ", 50_000) + `"` // more than a pipe holds
	for i := range 5 {
		mustCall(t, u, toolCall(t, "1", "die-after", words), words)
		eventually(t, "the end is seen", func() bool { s := u.Status(); return s.State != Ready || s.Restarts > i })
	}
}

// A child's output from before its end is read, however late we read it.
func TestWordsOfADeadChild(t *testing.T) {
	set := Settings{ID: "dead", Command: []string{"sh", "-c", `echo '{"jsonrpc":"2.0","id":1,"result":"last"}'`}}
	u, err := New(Options{Settings: set, BaseEnv: child.BaseEnv(os.Environ())})
	if err != nil {
		t.Fatal(err)
	}
	s := newConnection(u, nil)
	l, err := openPipes(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	s.link = l
	<-l.(*pipes).proc.Exited()
	c := newCall(wire.StringID("mine"), wire.ID{}, nil)
	if err := s.calls.add(c); err != nil {
		t.Fatal(err)
	}
	why := l.run(t.Context())
	l.close()
	s.calls.close(why)
	if o := <-c.answer; o.err != nil || string(o.reply.Result) != `"last"` {
		t.Errorf("outcome %+v", o)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s := childSettings(t, "none")
	// enough for a call to be sent on a busy machine: only sent calls are cancelled
	s.ResponseTimeout = 3 * time.Second
	u := start(t, Options{Settings: s})
	patient := func(req *wire.Message, want string) string {
		reply, err := u.CallWith(t.Context(), req, CallOptions{Patient: true})
		if err != nil || want != "" && string(reply.Result) != want {
			t.Fatalf("Call(%s) = %+v, %v; want %s", req.Name, reply, err, want)
		}
		return string(reply.Result)
	}
	patient(toolCall(t, "1", "echo", `1`), `1`)
	_, err := u.Call(t.Context(), toolCall(t, "1", "keep", `1`))
	wantError(t, err, Timeout, 0, "no answer within 3s")

	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := u.CallWith(ctx, toolCall(t, "1", "keep", `1`), CallOptions{Patient: true})
		left <- err
	}()
	eventually(t, "it is sent", func() bool { return isSent(t, u) })
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want the caller's own", err)
	}
	_, err = u.Call(t.Context(), toolCall(t, "1", "wrong-id", `1`))
	wantError(t, err, Timeout, 0)
	patient(toolCall(t, "1", "release", `3`), `3`) // the late answers come first and are dropped

	got := patient(toolCall(t, "1", "kept", `0`), "")
	for _, want := range []string{`"requestId":3`, `"requestId":4`, `"requestId":5`} {
		if !strings.Contains(got, want) {
			t.Errorf("the server got %s, want a cancel with %s", got, want)
		}
	}
}

func TestAnswerThatIsNone(t *testing.T) {
	s := childSettings(t, "none")
	u := start(t, Options{Settings: s})
	_, err := u.Call(t.Context(), toolCall(t, "1", "broken", `1`))
	wantError(t, err, Invalid, 0, "not valid JSON-RPC")
	mustCall(t, u, toolCall(t, "1", "half", `1`), `{"half":true}`)
}

func TestTooLongAnswerFailsItsCallAlone(t *testing.T) {
	u := start(t, Options{Settings: childSettings(t, "none"), MaxMessageBytes: 1 << 20})
	mustCall(t, u, toolCall(t, "1", "echo", `1`), `1`)
	pid := u.Status().PID
	_, err := u.CallWith(t.Context(), toolCall(t, "1", "huge", `100000000`), CallOptions{Patient: true})
	wantError(t, err, Invalid, 0, "max_message_bytes")
	mustCall(t, u, toolCall(t, "1", "echo", `2`), `2`)
	if u.Status().PID != pid {
		t.Error("the child was restarted")
	}
}

// An answer counts against the budget while it arrives. Its call is known only at its end, but
// until then it uses memory.
func TestAnAnswerWithoutRoomFailsItsCallAlone(t *testing.T) {
	full := budget.New(1<<20, nil)
	u := start(t, Options{Settings: childSettings(t, "none"), Budget: full})
	mustCall(t, u, toolCall(t, "1", "echo", `1`), `1`)
	_, err := u.CallWith(t.Context(), toolCall(t, "1", "huge", `10000000`), CallOptions{Patient: true})
	wantError(t, err, Overloaded, 0, "no room")
	if reply, err := u.Call(t.Context(), toolCall(t, "1", "huge", `20000`)); err != nil || len(reply.Result) < 20000 {
		t.Errorf("an answer that there is room for: %v", err)
	}
	if n := full.InFlight(); n != 0 {
		t.Errorf("%d bytes are held with nothing in flight", n)
	}
}

func TestServerThatDoesNotReadStallsItsOwnCallers(t *testing.T) {
	s := childSettings(t, "deaf")
	s.ResponseTimeout = 300 * time.Millisecond
	u := start(t, Options{Settings: s})
	if _, err := u.CallWith(t.Context(), toolCall(t, "1", "echo", `1`), CallOptions{Patient: true}); err != nil {
		t.Fatal(err)
	}
	big := `"` + strings.Repeat("x", 3<<20) + `"`
	var wg sync.WaitGroup
	for range 9 { // more than the queue holds
		wg.Go(func() {
			_, err := u.Call(t.Context(), toolCall(t, "1", "echo", big))
			wantError(t, err, Timeout, 0)
		})
	}
	wg.Wait()
}

func TestServersOwnRequests(t *testing.T) {
	u := start(t, Options{Settings: childSettings(t, "none")})
	mustCall(t, u, toolCall(t, "1", "ask", `1`), `1`)
	eventually(t, "both requests are answered", func() bool {
		reply, err := u.Call(t.Context(), toolCall(t, "1", "kept", `0`))
		if err != nil {
			t.Fatal(err)
		}
		got := string(reply.Result)
		return strings.Contains(got, `"id":"s1"`) && strings.Contains(got, `-32601`) &&
			strings.Contains(got, `"id":"s2"`) && strings.Contains(got, `"result":{}`)
	})
}

func TestIncomingHandler(t *testing.T) {
	asked := make(chan string, 10)
	h := handlerFunc(func(_ context.Context, m *wire.Message) []byte {
		asked <- m.Method
		return wire.AppendResult(nil, m.ID, []byte(`{"sampled":1}`))
	})
	u := start(t, Options{Settings: childSettings(t, "none"), Incoming: h})
	if _, err := u.CallWith(t.Context(), toolCall(t, "1", "ask", `1`), CallOptions{Own: true}); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "sampling/createMessage" {
		t.Errorf("the handler got %q", got)
	}
	eventually(t, "the answer arrives", func() bool {
		reply, err := u.Call(t.Context(), toolCall(t, "1", "kept", `0`))
		return err == nil && strings.Contains(string(reply.Result), `"sampled":1`)
	})
}
