package lane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/lane/lanetest"
)

func ok(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s", r.URL.Path, body)
}

// readers counts who reads from a connection at a time.
type readers struct {
	net.Conn
	now atomic.Int32
}

func (r *readers) Read(p []byte) (int, error) {
	r.now.Add(1)
	defer r.now.Add(-1)
	return r.Conn.Read(p)
}

// What the package is for: nobody reads from a connection while a request is answered that does not last.
func TestNobodyReadsOnTheSide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		theirs := new(readers)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.ReadAll(r.Body)
			if r.Context().Err() != nil {
				t.Error("a request ends with the one before it")
			}
			for _, c := range []struct {
				after time.Duration
				want  int32
			}{{patience - time.Millisecond, 0}, {2 * time.Millisecond, 1}} {
				time.Sleep(c.after)
				synctest.Wait()
				if n := theirs.now.Load(); n != c.want {
					t.Errorf("%d read from the connection, want %d after another %s", n, c.want, c.after)
				}
			}
		})
		ours, other := net.Pipe()
		theirs.Conn = other
		s.pipes.Conns <- theirs
		_ = s.Conn.Close()
		s.Conn = ours
		s.reader.Reset(ours)
		for range 3 {
			if res, _ := s.ask(t, call("{}")); res.StatusCode != http.StatusOK {
				t.Errorf("status %d", res.StatusCode)
			}
			synctest.Wait() // who looked for the client has gone before the next request comes
		}
	})
}

func TestAClientThatHangsUpEndsItsRequest(t *testing.T) {
	for i, after := range []time.Duration{0, patience / 2, patience, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan time.Duration, 1)
			s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				began := time.Now()
				_, _ = io.ReadAll(r.Body)
				<-r.Context().Done()
				ended <- time.Since(began)
			})
			_, _ = io.WriteString(s.Conn, call(strings.Repeat("x", i%2))) // one without a body is read from its beginning
			time.Sleep(after)
			_ = s.Conn.Close()
			if took := <-ended; took > max(after, patience) {
				t.Errorf("hung up after %s, noticed after %s", after, took)
			}
		})
	}
}

// A client may send its next request early, also while somebody looks whether it is there.
func TestARequestThatComesEarlyIsAnsweredInItsTurn(t *testing.T) {
	for _, at := range []time.Duration{0, time.Millisecond, time.Second} {
		for _, next := range []string{callTo("/second", "2"), "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"} {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					ok(w, r)
					time.Sleep(2 * time.Second)
					if r.Context().Err() != nil {
						t.Error("the request ended")
					}
				})
				go func() {
					_, _ = io.WriteString(s.Conn, callTo("/first", "1"))
					time.Sleep(at)
					_, _ = io.WriteString(s.Conn, next)
				}()
				for _, want := range []string{"/first", "/second"} {
					if _, got := s.answer(t); !strings.HasPrefix(got, want) {
						t.Errorf("%q, want the answer of %s", got, want)
					}
				}
			})
		}
	}
}

func TestConnectionsThatNobodyUsesEnd(t *testing.T) {
	for _, c := range []struct {
		rule string
		ask  []string
		want time.Duration
	}{
		{"one that never said anything", nil, 10 * time.Second},
		{"one that was used", []string{call("{}")}, 2 * time.Minute},
		{"one that was handed over", []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}, 2 * time.Minute},
		{"one that was handed over later", []string{call("{}"), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"}, 2 * time.Minute},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, ok)
				for _, request := range c.ask {
					s.ask(t, request)
				}
				began := time.Now()
				_, err := s.Read(make([]byte, 1))
				if took := time.Since(began); !errors.Is(err, io.EOF) || took != c.want {
					t.Errorf("%v after %s, want its end after %s", err, took, c.want)
				}
			})
		})
	}
}

// A header that does not come ends a connection as with net/http.
func TestAHeaderThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, ok)
		s.ask(t, call("{}"))
		_, _ = io.WriteString(s.Conn, "POST /mcp HTTP/1.1\r\nHost: x\r\n")
		began := time.Now()
		_, _ = io.Copy(io.Discard, s.Conn)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("ended after %s, want 10s", took)
		}
	})
}

func TestShutdownFinishesWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Minute)
			ok(w, r)
		})
		resting := &served{Conn: s.dial()}
		began := time.Now()
		go func() { _, _ = io.WriteString(s.Conn, call("{}")) }()
		synctest.Wait()
		down := make(chan error, 1)
		go func() { down <- shutDown(t.Context(), s) }()
		time.Sleep(newMay - time.Millisecond)
		if isClosed(resting.Conn) {
			t.Error("a connection that was just made has no time for its first request")
		}
		time.Sleep(time.Second)
		if !isClosed(resting.Conn) {
			t.Error("a connection that nobody uses stays")
		}
		if res, body := s.answer(t); body != "/mcp {}" || !res.Close {
			t.Errorf("answer %q, the connection's last: %v, want it whole and the last", body, res.Close)
		}
		if err, took := <-down, time.Since(began); err != nil || took > time.Minute+longestLook {
			t.Errorf("Shutdown = %v after %s", err, took)
		}
		if !isClosed(s.Conn) {
			t.Error("the connection stays after its last answer")
		}
	})
}

func shutDown(ctx context.Context, s *served) error {
	var both sync.WaitGroup
	var web, lane error
	both.Go(func() { web = s.web.Shutdown(ctx) })
	both.Go(func() { lane = s.Shutdown(ctx) })
	both.Wait()
	return errors.Join(web, lane)
}

func TestShutdownEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		_, _ = io.WriteString(s.Conn, call("{}"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := shutDown(ctx, s); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown = %v, want the context's error", err)
		}
		_ = s.web.Close()
		s.End()
		if !isClosed(s.Conn) {
			t.Error("a connection stays after End")
		}
	})
}

func TestEndResting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			ok(w, r)
		})
		rested := s.dial()
		time.Sleep(newMay)
		justMade := s.dial()
		_, _ = io.WriteString(s.Conn, call("{}"))
		synctest.Wait()
		s.EndResting()
		if !isClosed(rested) {
			t.Error("a connection that nobody uses stays")
		}
		if isClosed(justMade) {
			t.Error("a connection that was just made has no time for its first request")
		}
		if _, body := s.answer(t); body != "/mcp {}" {
			t.Errorf("a request under way is answered %q", body)
		}
		if res, _ := s.ask(t, call("{}")); res.Close {
			t.Error("a connection that was used ends")
		}
	})
}

func TestPanics(t *testing.T) {
	for _, c := range []struct {
		what   any
		logged string
	}{{http.ErrAbortHandler, ""}, {"a mistake", "http: panic serving pipe: a mistake"}} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, func(http.ResponseWriter, *http.Request) {
				time.Sleep(time.Second) // somebody looks whether the client is there
				panic(c.what)
			})
			_, _ = io.WriteString(s.Conn, call("{}"))
			if rest, err := io.ReadAll(s.Conn); len(rest) > 0 || err != nil {
				t.Errorf("%v: %q, %v, want the connection's end", c.what, rest, err)
			}
			synctest.Wait()
			if got := s.complaints.String(); !strings.HasPrefix(got, c.logged) || (got == "") != (c.logged == "") {
				t.Errorf("%v: logged %q, want %q", c.what, got, c.logged)
			}
		})
	}
}

// A length that is none is not said.
func TestAnInvalidLengthIsNotSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "few")
			ok(w, r)
		})
		if res, body := s.ask(t, call("{}")); body != "/mcp {}" || res.ContentLength != int64(len(body)) {
			t.Errorf("%q, length %d", body, res.ContentLength)
		}
	})
}

// An answer that nobody takes ends its request, and the deadline of writes ends with the answer.
func TestDeadlinesOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := make(chan error, 1)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/limited") {
				_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second))
			}
			if r.URL.Path == "/limited/large" {
				_, err := w.Write(make([]byte, 1<<20))
				failed <- errors.Join(err, r.Context().Err())
				return
			}
			ok(w, r)
		})
		s.ask(t, callTo("/limited", ""))
		time.Sleep(time.Minute)
		s.ask(t, call("{}"))
		_, _ = io.WriteString(s.Conn, callTo("/limited/large", ""))
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("an answer that nobody takes: %v, want the request's end", err)
		}
		began := time.Now()
		if _, err := io.ReadAll(s.Conn); err != nil || time.Since(began) > 0 {
			t.Errorf("the connection ends with %v after %s, want at once", err, time.Since(began))
		}
	})
}

// The server is told what becomes of connections, of those that it is handed too.
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		s := serve(t, ok)
		s.web.ConnState = func(conn net.Conn, state http.ConnState) {
			if over, is := conn.(interface{ NetConn() net.Conn }); is {
				conn = over.NetConn()
			}
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%T %s", conn, state))
		}
		s.ask(t, call("{}"))
		synctest.Wait()
		s.ask(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		_ = s.Conn.Close()
		synctest.Wait()
		_ = s.dial().Close()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		want := "*net.pipe active, *net.pipe idle, *net.pipe new, *net.pipe active, *net.pipe idle, *net.pipe closed, *net.pipe closed"
		if got := strings.Join(told, ", "); got != want {
			t.Errorf("told %s, want %s", got, want)
		}
	})
}

// A handler that keeps the body gets nothing of the next request from it.
func TestABodyEndsWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept io.Reader
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if kept == nil {
				kept = r.Body
				return
			}
			if n, err := kept.Read(make([]byte, 10)); n > 0 || !errors.Is(err, http.ErrBodyReadAfterClose) {
				t.Errorf("the body of the request before: %d bytes, %v", n, err)
			}
			ok(w, r)
		})
		s.ask(t, call("first"))
		if _, body := s.ask(t, call("second")); body != "/mcp second" {
			t.Errorf("answer %q", body)
		}
	})
}

// Nobody looks for the client of a request that is over: that would take a byte of the next one.
func TestNobodyLooksAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last *exchange
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if w, is := w.(*response); is {
				last = w.of
			}
			ok(w, r)
		})
		for range 3 {
			if _, body := s.ask(t, call("{}")); body != "/mcp {}" {
				t.Errorf("answer %q", body)
			}
			synctest.Wait()
			if last.watch(); last.watching != nil {
				t.Error("somebody looks")
			}
		}
	})
}

// A connection leaves nothing behind, however it ends.
func TestAConnectionEnds(t *testing.T) {
	for rule, end := range map[string]func(s *served){
		"closed by the client": func(s *served) { _ = s.Conn.Close() },
		"handed over":          func(s *served) { go func() { _, _ = io.WriteString(s.Conn, "GET / HTTP/1.1\r\n") }() },
		"at the end of all":    func(s *served) { s.End() },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := serve(t, ok)
			s.ask(t, call("{}"))
			synctest.Wait()
			s.mu.Lock()
			if len(s.open) != 1 {
				t.Errorf("%s: %d connections before", rule, len(s.open))
			}
			var only *conn
			for only = range s.open {
			}
			s.mu.Unlock()
			end(s)
			synctest.Wait()
			if len(s.open) != 0 || only.ctx.Err() == nil {
				t.Errorf("%s: %d connections are left, the context of one: %v", rule, len(s.open), only.ctx.Err())
			}
		})
	}
}

func TestNoneComesAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, ok)
		s.End()
		if late := s.dial(); !isClosed(late) {
			t.Error("a connection that comes after the end stays")
		}
	})
}

// failing is a listener that fails.
type failing struct{ *lanetest.Pipes }

var errAccept = errors.New("no more descriptors")

func (*failing) Accept() (net.Conn, error) { return nil, errAccept }

func TestTheServerHearsWhatGoesWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := newWeb(http.HandlerFunc(ok), io.Discard)
		if err := web.Serve(New(&failing{lanetest.NewPipes()}, web)); !errors.Is(err, errAccept) {
			t.Errorf("Serve = %v, want %v", err, errAccept)
		}
	})
}

// Time-outs of waiting do not hold for a body.
func TestABodyMayTakeItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, ok)
		for range 2 {
			head, body, _ := strings.Cut(call("{}"), "{")
			_, _ = io.WriteString(s.Conn, head)
			time.Sleep(10 * time.Minute)
			if _, got := s.ask(t, "{"+body); got != "/mcp {}" {
				t.Errorf("answer %q", got)
			}
		}
	})
}

// In full duplex the answer begins before the body has come.
func TestFullDuplex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			if err := errors.Join(control.EnableFullDuplex(), control.Flush()); err != nil {
				t.Error(err)
			}
			if r.URL.Path != "/unread" {
				ok(w, r)
			}
		})
		for _, path := range []string{"/read", "/unread", "/read"} {
			head, body, _ := strings.Cut(callTo(path, "{}"), "{")
			_, _ = io.WriteString(s.Conn, head)
			res, err := http.ReadResponse(s.reader, &http.Request{Method: http.MethodPost})
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = io.WriteString(s.Conn, "{"+body) }()
			if got, err := io.ReadAll(res.Body); err != nil || path == "/read" && string(got) != "/read {}" {
				t.Errorf("%s: %q, %v", path, got, err)
			}
		}
	})
}

// What a handler that panicked has written is in nobody else's answer.
func TestNothingStaysOfAnAnswerThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			ok(w, r)
			if r.URL.Path == "/panic" {
				panic(http.ErrAbortHandler)
			}
		})
		for range 20 {
			_, _ = io.WriteString(s.Conn, callTo("/panic", "stale"))
			_, _ = io.ReadAll(s.Conn)
			s.Conn = s.dial()
			s.reader.Reset(s.Conn)
			if _, body := s.ask(t, call("{}")); body != "/mcp {}" {
				t.Fatalf("answer %q", body)
			}
		}
	})
}

// The end of a connection is said once.
func TestTheEndIsSaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			ok(w, r)
		})
		go func() { _, _ = io.WriteString(s.Conn, call("{}")) }()
		raw, _ := io.ReadAll(s.Conn)
		if n := strings.Count(string(raw), "Connection: close\r\n"); n != 1 {
			t.Errorf("said %d times: %q", n, raw)
		}
	})
}

// Over TLS there is nothing to read here: net/http makes the handshake.
func TestTLSIsNotOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := lanetest.NewPipes()
		l := New(listener, newWeb(http.HandlerFunc(ok), io.Discard))
		ours, theirs := net.Pipe()
		defer ours.Close()
		secured := tls.Server(theirs, &tls.Config{MinVersion: tls.VersionTLS12})
		go func() { listener.Conns <- secured }()
		if got, err := l.Accept(); got != net.Conn(secured) || err != nil {
			t.Errorf("Accept = %T, %v, want the connection as it came", got, err)
		}
		_ = l.Close()
	})
}
