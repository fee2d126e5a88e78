package app

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/config"
	"secateur/internal/front/datarate"
	"secateur/internal/llm/proxy"
	"secateur/internal/mcp/rpchttp"
)

// A load balancer sees that we are not ready while the listener is still open.
func TestNotReadyComesBeforeTheListenerCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, mistakes := config.Load("c.toml", []byte("listen = \"127.0.0.1:0\"\ndrain_delay = 3\n[store]\nurl = \"memory:\"\n"), config.Options{})
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		a, err := New(Options{Config: cfg, StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.live.Load().hang(&generation{}); err != nil {
			t.Fatal(err)
		}
		client, conn := net.Pipe()
		defer client.Close()
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		ln := &oneConn{conn: conn}
		go func() { ended <- a.serve(ctx, a, ln, a.closeMCP) }()
		synctest.Wait()
		stop()
		synctest.Wait()
		_, _ = io.WriteString(client, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatalf("nobody can see that the listener is about to close: %v", err)
		}
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), "stopping") {
			t.Errorf("about to stop: %d %s", res.StatusCode, body)
		}
		if !res.Close {
			t.Error("the connection is kept, for a request that would meet its end")
		}
		select {
		case <-ln.done:
			t.Error("the listener is closed already")
		default:
		}
		began := time.Now()
		if err, took := <-ended, time.Since(began); err != nil || took < 3*time.Second {
			t.Errorf("the listener closes after %s (%v), want 3s", took, err)
		}
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
}

// A client that does not read its response cannot delay the shutdown for as long as it could delay
// a request.
func TestAReaderThatDoesNotReadDoesNotHoldUpTheEnd(t *testing.T) {
	cfg, mistakes := config.Load("c.toml", []byte("listen = \"127.0.0.1:0\"\n[store]\nurl = \"memory:\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		a.rates = datarate.New(datarate.Limits{}) // belongs to this bubble
		large := a.live.Load().guard("127.0.0.1").open(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		client, conn := net.Pipe()
		defer client.Close()
		go func() { ended <- a.serve(ctx, large, &oneConn{conn: conn}, nil) }()
		_, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
		synctest.Wait()
		stop()
		began := time.Now()
		if err, took := <-ended, time.Since(began); err != nil || took > 10*time.Second {
			t.Errorf("the end took %s (%v), want 10s at most", took, err)
		}
	})
	if err := a.close(); err != nil {
		t.Error(err)
	}
}

func TestBadGuessesAreSlowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuesses()
		try := func(from string, v access.Verdict) time.Duration {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = from
			began := time.Now()
			g.slow(r, v)
			return time.Since(began)
		}
		wrong := access.Verdict{Kind: access.Unauthorized, Cause: access.CauseInvalid}
		for range guessesPerMinute {
			if took := try("192.0.2.1:1", wrong); took != 0 {
				t.Fatalf("the first guesses take %s", took)
			}
		}
		if took := try("192.0.2.1:2", wrong); took != guessDelay {
			t.Errorf("a guess too many takes %s, want %s", took, guessDelay)
		}
		if took := try("192.0.2.2:1", wrong); took != 0 {
			t.Errorf("a guess from elsewhere takes %s", took)
		}
		if took := try("192.0.2.1:3", access.Verdict{}); took != 0 {
			t.Errorf("who is known waits for %s", took)
		}
		if took := try("192.0.2.1:4", access.Verdict{Kind: access.Unauthorized, Cause: access.CauseMissing}); took != 0 {
			t.Errorf("who shows nothing waits for %s", took)
		}
		var waiting sync.WaitGroup
		for range maxWaiting {
			waiting.Go(func() { try("192.0.2.1:5", wrong) })
		}
		synctest.Wait()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.RemoteAddr = "192.0.2.1:6"
		for rule, refuse := range map[string]refusal{"JSON-RPC": rpchttp.Refuse, "the control plane": plainRefusal, "chat": proxy.Refuse} {
			w := httptest.NewRecorder()
			refuse(w, r, g.slow(r, wrong))
			if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: a guess beyond the waiting room is %d %v", rule, w.Code, w.Header())
			}
		}
		waiting.Wait()
	})
}

func TestConnectionsThatCannotBeAcceptedAreToldOnce(t *testing.T) {
	var out strings.Builder
	log := newErrorLog(slog.New(slog.NewTextHandler(&out, nil)))
	for range 1000 {
		log.Print("http: Accept error: accept tcp 127.0.0.1:8000: accept4: too many open files; retrying in 1s")
	}
	log.Print("http: TLS handshake error from 192.0.2.1:1: EOF")
	if lines := strings.Count(out.String(), "\n"); lines != 1 || !strings.Contains(out.String(), "level=WARN") || !strings.Contains(out.String(), "too many open files") {
		t.Errorf("%d lines: %s, want one warning", lines, out.String())
	}
}
