package pruner_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"secateur/internal/prune/pruner"
	"secateur/internal/prune/rerank"
)

// dialogue sends a whole input through the pipe and returns the responses, sorted.
func dialogue(t *testing.T, s *pruner.Server, in string) []string {
	t.Helper()
	var out bytes.Buffer
	if err := s.ServeStdio(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatalf("ServeStdio: %v", err)
	}
	if out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
		t.Fatalf("the last answer has no line break: %q", out.String())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestStdio(t *testing.T) {
	ping := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id) }
	pong := func(id int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id) }
	broken := `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`
	for _, c := range []struct {
		name, in string
		want     []string // the beginnings of the responses
	}{
		{"one", ping(1) + "\n", []string{pong(1)}},
		{"the last line needs no break", ping(1) + "\n" + ping(2), []string{pong(1), pong(2)}},
		{"CRLF and blank lines", "\r\n\n" + ping(1) + "\r\n \n" + ping(2) + "\r\n", []string{pong(1), pong(2)}},
		{"broken JSON is said, and it goes on", "{\"a\n" + ping(2) + "\n", []string{pong(2), broken}},
		{"what is no JSON", "hello\n" + ping(2) + "\n", []string{pong(2), broken}},
		{"notifications get nothing", `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + ping(2) + "\n", []string{pong(2)}},
		{"an answer to no question is passed over", `{"jsonrpc":"2.0","id":5,"result":{}}` + "\n" + ping(2) + "\n", []string{pong(2)}},
		{"a batch is refused", "[" + ping(1) + "]\n" + ping(2) + "\n", []string{pong(2), `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`}},
		{"a message that is too long is refused with its id", `{"jsonrpc":"2.0","method":"ping","params":{"x":"` + strings.Repeat("x", 5000) + `"},"id":7}` + "\n" + ping(2) + "\n", []string{pong(2), `{"jsonrpc":"2.0","id":7,"error":{"code":-32600,`}},
		{"ids come back as they were", `{"jsonrpc":"2.0","id":"\u0061","method":"ping"}` + "\n", []string{`{"jsonrpc":"2.0","id":"\u0061","result":{}}`}},
		{"nothing", "", []string{""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := dialogue(t, newServer(t, func(o *pruner.Options) { o.MaxMessageBytes = 4096 }), c.in)
			if len(got) != len(c.want) {
				t.Fatalf("answers %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("answer %q, want %q", got[i], c.want[i])
				}
			}
		})
	}
}

// slow is a reranker that answers when released or cancelled.
type slow struct {
	begun chan struct{}
	let   chan struct{}
}

func newSlow() slow { return slow{make(chan struct{}, 100), make(chan struct{})} }

func (s slow) score(ctx context.Context, _, _ string, docs []string) (rerank.Result, error) {
	s.begun <- struct{}{}
	select {
	case <-s.let:
	case <-ctx.Done():
		return rerank.Result{}, ctx.Err()
	}
	return rerank.Result{Scores: make([]float64, len(docs)), Status: 200}, nil
}

func (s slow) options(o *pruner.Options) { o.Backend, o.Rerank = string(rerank.Rerank), s.score }

func slowCall(id int) string {
	a := asked{text: numbered(50), goal: "line", ratio: 0.5, timeout: 3600_000}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"prune_text","arguments":%s}}`, id, a.json()) + "\n"
}

// pipes is a running pipe.
type pipes struct {
	in   *io.PipeWriter
	out  *bufio.Scanner
	done chan error
}

func startStdio(t *testing.T, ctx context.Context, s *pruner.Server) *pipes { //nolint:revive // t comes first in tests
	t.Helper()
	inRead, in := io.Pipe()
	outRead, out := io.Pipe()
	p := &pipes{in: in, out: bufio.NewScanner(outRead), done: make(chan error, 1)}
	p.out.Buffer(nil, 1<<24)
	go func() {
		err := s.ServeStdio(ctx, inRead, out)
		out.Close()
		p.done <- err
	}()
	t.Cleanup(func() { in.Close(); outRead.Close() })
	return p
}

func (p *pipes) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line); err != nil {
		t.Fatal(err)
	}
}

// id returns the id of the next response.
func (p *pipes) id(t *testing.T) int {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("no answer: %v", p.out.Err())
	}
	var a struct {
		ID int `json:"id"`
	}
	if err := json.Unmarshal(p.out.Bytes(), &a); err != nil {
		t.Fatal(err)
	}
	return a.ID
}

func TestStdioAnswersWhatIsReadyFirst(t *testing.T) {
	sl := newSlow()
	p := startStdio(t, t.Context(), newServer(t, sl.options))
	p.send(t, slowCall(1))
	<-sl.begun
	p.send(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	if got := p.id(t); got != 2 {
		t.Errorf("first answer is to %d, want the ping", got)
	}
	close(sl.let)
	if got := p.id(t); got != 1 {
		t.Errorf("second answer is to %d", got)
	}
}

func TestStdioAnswersWhatIsInFlightBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sl := newSlow()
		p := startStdio(t, t.Context(), newServer(t, sl.options))
		p.send(t, slowCall(1))
		p.in.Close()
		synctest.Wait()
		if len(p.done) > 0 {
			t.Fatalf("ended with a call in flight: %v", <-p.done)
		}
		close(sl.let)
		if got := p.id(t); got != 1 {
			t.Errorf("answer to %d", got)
		}
		if err := <-p.done; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
}

func TestStdioBoundsWhatRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sl := newSlow()
		p := startStdio(t, t.Context(), newServer(t, sl.options))
		go func() {
			defer p.in.Close()
			for i := range 20 {
				if _, err := io.WriteString(p.in, slowCall(i)); err != nil {
					return
				}
			}
		}()
		synctest.Wait()
		if got := len(sl.begun); got != 8 {
			t.Errorf("%d requests run at once, want 8", got)
		}
		close(sl.let)
		seen := map[int]bool{}
		for range 20 {
			seen[p.id(t)] = true
		}
		if len(seen) != 20 {
			t.Errorf("%d of 20 answered", len(seen))
		}
		if err := <-p.done; err != nil {
			t.Errorf("ServeStdio: %v", err)
		}
	})
}

func TestStdioCallsOff(t *testing.T) {
	sl := newSlow()
	p := startStdio(t, t.Context(), newServer(t, sl.options))
	p.send(t, slowCall(1))
	<-sl.begun
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`+"\n")
	p.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.0}}`+"\n")
	p.send(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
	if got := p.id(t); got != 2 {
		t.Errorf("answer to %d, want only the ping's", got)
	}
	p.in.Close()
	if p.out.Scan() {
		t.Errorf("a call that was called off got %s", p.out.Text())
	}
	if err := <-p.done; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

func TestStdioEndsWithItsContext(t *testing.T) {
	sl := newSlow()
	ctx, cancel := context.WithCancel(t.Context())
	p := startStdio(t, ctx, newServer(t, sl.options))
	p.send(t, slowCall(1))
	<-sl.begun
	cancel()
	if err := <-p.done; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
	if p.out.Scan() {
		t.Errorf("answer after the end: %s", p.out.Text())
	}
}

func TestStdioEndsWhenNobodyReads(t *testing.T) {
	inRead, in := io.Pipe()
	defer in.Close()
	done := make(chan error, 1)
	go func() { done <- newServer(t, nil).ServeStdio(t.Context(), inRead, failingWriter{}) }()
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, errGone) {
		t.Errorf("ServeStdio: %v, want that nobody reads", err)
	}
}

var errGone = errors.New("gone")

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errGone }

func TestStdioReadError(t *testing.T) {
	err := newServer(t, nil).ServeStdio(t.Context(), io.MultiReader(strings.NewReader("{}\n"), errReader{}), io.Discard)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("ServeStdio: %v, want what the reader said", err)
	}
}
