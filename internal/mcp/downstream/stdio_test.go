package downstream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/wire"
)

// terminal is a client at the other end of the pipes.
type terminal struct {
	*brain
	in     *io.PipeWriter
	out    *bufio.Reader
	hangUp func() // stops reading
	ended  chan error
}

// plug serves a brain over pipes.
func plug(ctx context.Context, t *testing.T, b *brain, change ...func(*downstream.StdioOptions)) *terminal {
	t.Helper()
	opt := downstream.StdioOptions{Server: b, Principal: &access.Principal{Subject: "me"}, MaxMessageBytes: 1000}
	for _, c := range change {
		c(&opt)
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &terminal{brain: b, in: inW, out: bufio.NewReader(outR), hangUp: func() { outR.Close() }, ended: make(chan error, 1)}
	go func() {
		p.ended <- downstream.ServeStdio(ctx, inR, outW, opt)
		outW.Close()
	}()
	return p
}

func (p *terminal) say(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(p.in, line+"\n")
	}
}

func (p *terminal) hear(t *testing.T) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func TestStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plug(t.Context(), t, &brain{})
		for _, c := range []struct{ rule, say, hear string }{
			{"initialize", initialize("2025-06-18"), `"protocolVersion":"2025-06-18"`},
			{"a request", call(1, "ping"), `{"jsonrpc":"2.0","id":1,"result":{"echo":"ping"}}`},
			{"an empty line before one", "\n \t\n" + call(2, "ping"), `"id":2,`},
			{"no JSON", `{"jsonrpc":`, `"id":null,"error":{"code":-32700`},
			{"no JSON-RPC", `{"id":3}`, `"id":3,"error":{"code":-32600`},
			{"a batch in a session without batches", `[` + call(4, "x") + `]`, `-32600`},
			{"a request that is too long", `{"jsonrpc":"2.0","id":5,"method":"x","params":{"x":"` + strings.Repeat("x", 1000) + `"}}`, `"id":5,"error":{"code":-32600`},
			{"something that is too long", strings.Repeat("x", 2000), `"id":null,"error"`},
			{"a request after all that", call(6, "ping"), `"id":6,"result"`},
		} {
			p.say(c.say)
			if got := p.hear(t); !strings.Contains(got, c.hear) {
				t.Errorf("%s: %s, want %s", c.rule, got, c.hear)
			}
		}
		p.say(note("one"), `{"jsonrpc":"2.0","id":"q","result":{}}`, note("two"),
			`{"jsonrpc":"2.0","method":"n","params":{"x":"`+strings.Repeat("x", 1000)+`"}}`,
			`{"jsonrpc":"2.0","id":"big","result":{"x":"`+strings.Repeat("x", 1000)+`"}}`)
		p.in.Close()
		if err := <-p.ended; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
		s := p.sessions()[0]
		if got := s.saw(); got != `one response "q" two response "big"` {
			t.Errorf("saw %s, want all in order, and of the long answer that it failed", got)
		}
		if !isClosed(s) || s.Opening.Principal.Subject != "me" {
			t.Errorf("closed %v, opened by %+v", isClosed(s), s.Opening.Principal)
		}
		if rest, _ := io.ReadAll(p.out); len(rest) > 0 {
			t.Errorf("%s", rest)
		}
	})
}

func TestStdioWithLengths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plug(t.Context(), t, &brain{})
		send := func(msg string) {
			_, _ = fmt.Fprintf(p.in, "content-length: %d\r\n\r\n%s", len(msg), msg)
		}
		go func() {
			send(initialize("2025-06-18"))
			send(call(1, "x"))
			p.in.Close()
		}()
		r := wire.NewReader(p.out, wire.ContentLength, 1000)
		for _, want := range []string{`"protocolVersion"`, `"id":1,`} {
			if got, err := r.Next(); err != nil || !strings.Contains(string(got), want) {
				t.Errorf("%s, %v, want %s", got, err, want)
			}
		}
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
	})
}

func TestFramingIsToldByTheFirstBytes(t *testing.T) {
	request := call(1, "x")
	for _, c := range []struct{ rule, in, want string }{
		{"lines", request + "\n", "{"},
		{"lines behind blank ones", "\r\n\n" + request + "\n", "{"},
		{"a line without an end", request, "{"},
		{"a length", fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(request), request), "Content-Length: "},
		{"a type, then a length", fmt.Sprintf("Content-Type: x\r\nCONTENT-LENGTH: %d\r\n\r\n%s", len(request), request), "Content-Length: "},
		{"a line that begins like a header", "Conte\n" + request + "\n", `{"jsonrpc":"2.0","id":null,"error"`},
		{"nothing", "", ""},
	} {
		for _, slow := range []bool{false, true} {
			var in io.Reader = strings.NewReader(c.in)
			if slow {
				in = iotest.OneByteReader(in)
			}
			var out strings.Builder
			err := downstream.ServeStdio(t.Context(), in, &out, downstream.StdioOptions{Server: &brain{}, MaxMessageBytes: 1000})
			if err != nil || !strings.HasPrefix(out.String(), c.want) || c.want == "" && out.Len() > 0 {
				t.Errorf("%s: %q, %v, want %q", c.rule, out.String(), err, c.want)
			}
		}
	}
}

func TestStdioRunsRequestsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cancels := make(chan struct{})
		b := &brain{
			handle: func(_ context.Context, _ *fakeSession, req *wire.Message, x downstream.Exchange) downstream.Answer {
				if req.Method == "slow" {
					x.Send([]byte(note("begun")))
					<-cancels
				}
				return result(req, "1")
			},
			notify: func(context.Context, *fakeSession, *wire.Message, downstream.Exchange) { close(cancels) },
		}
		p := plug(t.Context(), t, b)
		p.say(call(1, "slow"))
		if got := p.hear(t); got != note("begun") {
			t.Error(got)
		}
		p.say(call(2, "fast"))
		if got := p.hear(t); !strings.Contains(got, `"id":2`) {
			t.Errorf("%s, want the answer that does not wait for another", got)
		}
		p.say(note("notifications/cancelled"))
		if got := p.hear(t); !strings.Contains(got, `"id":1`) {
			t.Error(got)
		}
		p.in.Close()
		<-p.ended
	})
}

func TestStdioBoundsWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int64
		p := plug(t.Context(), t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			return result(req, "1")
		}}, func(o *downstream.StdioOptions) { o.MaxInFlight = 3 })
		go func() {
			for i := range 20 {
				p.say(call(i, "x"))
			}
			p.in.Close()
		}()
		for range 20 {
			p.hear(t)
		}
		if most.Load() != 3 {
			t.Errorf("%d ran at once", most.Load())
		}
		<-p.ended
	})
}

func TestNothingGoesBeforeInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowStart{}
		in := strings.NewReader(initialize("2025-06-18") + "\n" + note("notifications/initialized") + "\n" + call(1, "x") + "\n")
		var out strings.Builder
		if err := downstream.ServeStdio(t.Context(), in, &out, downstream.StdioOptions{Server: slow, MaxMessageBytes: 1000}); err != nil {
			t.Error(err)
		}
		if got := strings.Join(slow.seen, " "); got != "initialize notifications/initialized x" {
			t.Errorf("order: %s", got)
		}
	})
}

// slowStart is slow at initialize, and records the order in which it finishes.
type slowStart struct {
	idler
	mu   sync.Mutex
	seen []string
}

func (s *slowStart) Open(downstream.Opening) downstream.Session { return s }
func (s *slowStart) Handle(_ context.Context, req *wire.Message, _ downstream.Exchange) downstream.Answer {
	if req.Method == "initialize" {
		time.Sleep(time.Minute)
	}
	s.note(req.Method)
	return result(req, `{"protocolVersion":"2025-06-18"}`)
}

func (s *slowStart) Notify(_ context.Context, n *wire.Message, _ downstream.Exchange) {
	s.note(n.Method)
}

func (s *slowStart) note(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = append(s.seen, method)
}

func TestTheEndOfInput(t *testing.T) {
	for _, c := range []struct {
		rule        string
		takes, took time.Duration
		want        string
	}{
		{"what runs is answered", time.Second, time.Second, "done"},
		{"what runs too long is cut short, and answered", time.Hour, 2 * time.Second, "cancelled"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := plug(t.Context(), t, &brain{handle: func(ctx context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
					select {
					case <-time.After(c.takes):
						return result(req, `"done"`)
					case <-ctx.Done():
						return result(req, `"cancelled"`)
					}
				}})
				began := time.Now()
				p.say(call(1, "x"))
				p.in.Close()
				if got := p.hear(t); !strings.Contains(got, c.want) {
					t.Errorf("%s, want %s", got, c.want)
				}
				if err := <-p.ended; err != nil || time.Since(began) != c.took {
					t.Errorf("%v after %v, want after %v", err, time.Since(began), c.took)
				}
			})
		})
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	for _, begun := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			p := plug(ctx, t, &brain{handle: func(ctx context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
				<-ctx.Done()
				return result(req, "1")
			}})
			if begun {
				p.say(call(1, "x"))
			}
			synctest.Wait()
			go func() { _, _ = io.Copy(io.Discard, p.out) }()
			cancel()
			if err := <-p.ended; err != nil {
				t.Error(err)
			}
			if begun && !isClosed(p.sessions()[0]) {
				t.Error("the session is open")
			}
		})
	}
}

func TestADeadOutputEndsStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plug(t.Context(), t, &brain{})
		p.hangUp()
		p.say(call(1, "x"))
		if err := <-p.ended; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%v, want the error of the write", err)
		}
		if !isClosed(p.sessions()[0]) {
			t.Error("the session is open")
		}
	})
}

func TestABrokenInputIsTold(t *testing.T) {
	broken := errors.New("broken")
	var out strings.Builder
	err := downstream.ServeStdio(t.Context(), iotest.ErrReader(broken), &out, downstream.StdioOptions{Server: &brain{}, MaxMessageBytes: 1000})
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestStdioHoldsNoMoreThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plug(t.Context(), t, &brain{})
		p.say(note("n"))
		synctest.Wait()
		link := p.sessions()[0].Link
		taken := 0
		for range 5000 {
			if link.Send([]byte(note("n"))) {
				taken++
			}
		}
		if taken != 1024 {
			t.Errorf("%d messages were taken for a client that does not read", taken)
		}
		p.say(call(1, "x")) // its answer waits for space
		synctest.Wait()
		for range taken {
			if got := p.hear(t); got != note("n") {
				t.Fatal(got)
			}
		}
		if got := p.hear(t); !strings.Contains(got, `"id":1`) {
			t.Error(got)
		}
		p.in.Close()
		<-p.ended
	})
}

func TestStdioBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plug(t.Context(), t, &brain{})
		p.say(initialize("2025-03-26"))
		p.hear(t)
		p.say(`[` + call(1, "x") + `,` + note("n") + `,{"id":2},` + call(3, "x") + `]`)
		if got := ids(t, p.hear(t)); got != "!2 1 3" {
			t.Error(got)
		}
		p.say(`[` + note("n") + `]`)
		p.say(`[]`)
		if got := p.hear(t); !strings.Contains(got, "-32600") {
			t.Error(got)
		}
		p.in.Close()
		<-p.ended
	})
}

func TestAnAnswerOfNothingIsNotWritten(t *testing.T) {
	b := &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
		if req.Method == "cancelled" {
			return downstream.Answer{}
		}
		return result(req, "1")
	}}
	var out strings.Builder
	in := strings.NewReader(call(1, "cancelled") + "\n" + call(2, "x") + "\n")
	if err := downstream.ServeStdio(t.Context(), in, &out, downstream.StdioOptions{Server: b, MaxMessageBytes: 1000}); err != nil {
		t.Error(err)
	}
	if got := out.String(); got != `{"jsonrpc":"2.0","id":2,"result":1}`+"\n" {
		t.Errorf("%q", got)
	}
	h := build(t, b)
	if resp := h.ask(t, "POST", "", call(1, "cancelled"), modern); resp.StatusCode != http.StatusAccepted || text(t, resp) != "" {
		t.Errorf("%d", resp.StatusCode)
	}
}

func TestAClientThatDoesNotReadIsNotReadFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 3000
		var handled atomic.Int64
		p := plug(t.Context(), t, &brain{handle: func(_ context.Context, _ *fakeSession, req *wire.Message, _ downstream.Exchange) downstream.Answer {
			handled.Add(1)
			return result(req, "1")
		}})
		go func() {
			for i := range many {
				p.say(call(i, "x"))
			}
			p.in.Close()
		}()
		synctest.Wait()
		if n := handled.Load(); n > 1024+256+1 {
			t.Errorf("%d requests were answered for a client that does not read", n)
		}
		for range many {
			p.hear(t)
		}
		if err := <-p.ended; err != nil {
			t.Error(err)
		}
	})
}

func FuzzStdio(f *testing.F) {
	f.Add(initialize("2025-03-26")+"\n"+call(1, "x")+"\n"+note("n")+"\n[]\n", false)
	f.Add("Content-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n[", true)
	f.Add("Content-Length: 99999999999\r\n\r\n", true)
	f.Fuzz(func(t *testing.T, in string, slow bool) {
		var r io.Reader = strings.NewReader(in)
		if slow {
			r = iotest.OneByteReader(r)
		}
		var out strings.Builder
		_ = downstream.ServeStdio(t.Context(), r, &out, downstream.StdioOptions{Server: &brain{}, MaxMessageBytes: 300})
		if out.Len() == 0 || strings.HasPrefix(out.String(), "Content-Length: ") {
			return
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n") {
			if !json.Valid([]byte(line)) {
				t.Errorf("%q is no JSON", line)
			}
		}
	})
}
