package datarate_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/front/datarate"
)

// pipes is an in-memory listener.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial serves a handler behind limits to one client.
func dial(t *testing.T, l datarate.Limits, h http.HandlerFunc) net.Conn {
	t.Helper()
	_, conn := serve(t, datarate.New(l), h)
	return conn
}

// serve runs a server behind a guard, and returns a client's connection to it.
func serve(t *testing.T, g *datarate.Guard, h http.HandlerFunc) (*http.Server, net.Conn) {
	t.Helper()
	ln := newPipes()
	srv := &http.Server{Handler: g.Handler(h)}
	var running sync.WaitGroup
	running.Go(func() { _ = srv.Serve(ln) })
	ours, theirs := net.Pipe()
	ln.conns <- theirs
	t.Cleanup(func() {
		_ = ours.Close()
		_ = srv.Close()
		running.Wait()
	})
	return srv, ours
}

func TestABodyThatComesTooSlowlyIsEnded(t *testing.T) {
	limits := datarate.Limits{Pause: 30 * time.Second, BytesPerSecond: 100}
	for _, c := range []struct {
		rule  string
		every time.Duration // between two bytes of a body of 1000
		slow  bool
		after time.Duration
	}{
		{"silent from its first byte", time.Hour, true, 30 * time.Second},
		{"silent for too long between two", 31 * time.Second, true, 31 * time.Second},
		{"a trickle without a pause", 20 * time.Second, true, 40 * time.Second},
		{"fast enough", 9 * time.Millisecond, false, 9 * time.Second},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				conn := dial(t, limits, func(_ http.ResponseWriter, r *http.Request) {
					_, err := io.ReadAll(r.Body)
					ended <- err
				})
				began := time.Now()
				var sending sync.WaitGroup
				sending.Go(func() {
					_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
					for range 1000 {
						time.Sleep(c.every)
						if _, err := io.WriteString(conn, "x"); err != nil {
							return
						}
					}
				})
				sending.Go(func() { _, _ = io.Copy(io.Discard, conn) })
				err := <-ended
				if took := time.Since(began); errors.Is(err, datarate.ErrTooSlow) != c.slow || took > c.after {
					t.Errorf("reading the body: %v after %s, want too slow: %v within %s", err, took, c.slow, c.after)
				}
				_ = conn.Close()
				sending.Wait()
			})
		})
	}
}

func TestAReaderThatDoesNotReadIsCutOff(t *testing.T) {
	answer := bytes.Repeat([]byte("x"), 1<<20)
	for _, c := range []struct {
		rule  string
		write func(w http.ResponseWriter) error
	}{
		{"one large write", func(w http.ResponseWriter) error { _, err := w.Write(answer); return err }},
		{"a flush", func(w http.ResponseWriter) error {
			_, _ = w.Write(answer[:100])
			return http.NewResponseController(w).Flush()
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				conn := dial(t, datarate.Limits{}, func(w http.ResponseWriter, _ *http.Request) { ended <- c.write(w) })
				_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
				began := time.Now()
				if err, took := <-ended, time.Since(began); err == nil || took != 30*time.Second {
					t.Errorf("writing ended with %v after %s, want an error after 30s", err, took)
				}
			})
		})
	}
}

// A refused client cannot keep its connection open with a body that never comes. net/http reads the
// rest of a body before it responds.
func TestABodyThatNobodyReadsIsNotWaitedFor(t *testing.T) {
	for _, length := range []string{"1000", "60000000"} {
		synctest.Test(t, func(t *testing.T) {
			conn := dial(t, datarate.Limits{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
			_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: "+length+"\r\n\r\n")
			began := time.Now()
			got, _ := io.ReadAll(conn)
			if took := time.Since(began); !bytes.HasPrefix(got, []byte("HTTP/1.1 401 ")) || took > time.Minute {
				t.Errorf("%s bytes that do not come: %q after %s, want 401 and the connection's end", length, got, took)
			}
		})
	}
}

// A slow network reads each piece in time. A stream may pause between two writes, and a connection
// between two requests.
func TestWhoReadsIsServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := strings.Repeat("x", 3<<20)
		ended := make(chan error, 1)
		conn := dial(t, datarate.Limits{}, func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.WriteString(w, "first")
			err = errors.Join(err, http.NewResponseController(w).Flush())
			time.Sleep(time.Hour)
			_, more := io.WriteString(w, answer)
			ended <- errors.Join(err, more)
		})
		got := make(chan int64, 1)
		go func() {
			n := int64(0)
			buf := make([]byte, 64<<10)
			for {
				m, err := conn.Read(buf)
				n += int64(m)
				if err != nil {
					break
				}
				time.Sleep(3 * time.Second)
			}
			got <- n
		}()
		for range 2 {
			_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
			if err := <-ended; err != nil {
				t.Errorf("a reader that reads slowly: %v", err)
			}
			time.Sleep(time.Minute)
		}
		_ = conn.Close()
		if n := <-got; n < 2*int64(len(answer)) {
			t.Errorf("the reader got %d bytes of two answers, want more than %d", n, 2*len(answer))
		}
	})
}

// While the program stops, the shorter pause also applies to clients that do not read or send.
func TestDrainShortensThePauseOfThoseInOne(t *testing.T) {
	answer := bytes.Repeat([]byte("x"), 1<<20)
	for _, c := range []struct {
		rule    string
		request string
		handle  func(w http.ResponseWriter, r *http.Request)
	}{
		{"in a write", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) }},
		{"in what net/http writes after the handler", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3000")
			_, _ = w.Write(answer[:3000])
		}},
		{"in a body", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) }},
		{"in a body that nobody reads", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3000")
			_, _ = w.Write(answer[:3000])
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := datarate.New(datarate.Limits{})
				srv, conn := serve(t, g, c.handle)
				_, _ = io.WriteString(conn, c.request)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				began := time.Now()
				g.Drain()
				if err, took := srv.Shutdown(t.Context()), time.Since(began); err != nil || took > 11*time.Second {
					t.Errorf("the server ended with %v after %s, want within two pauses of 5s", err, took)
				}
			})
		})
	}
}

// A client whose body came too slowly gets a response, and its connection ends.
func TestABodyThatCameTooSlowlyIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := dial(t, datarate.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); errors.Is(err, datarate.ErrTooSlow) {
				w.WriteHeader(http.StatusRequestTimeout)
			}
		})
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
		began := time.Now()
		got, _ := io.ReadAll(conn)
		if took := time.Since(began); !bytes.HasPrefix(got, []byte("HTTP/1.1 408 ")) || took > 31*time.Second {
			t.Errorf("a body that does not come: %q after %s, want 408 and the connection's end within 31s", got, took)
		}
	})
}

// An idle stream is not affected by Drain, and one that is read continues to its end.
func TestDrainLeavesThoseWhoRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := datarate.New(datarate.Limits{})
		ended := make(chan error, 1)
		srv, conn := serve(t, g, func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.WriteString(w, "first")
			err = errors.Join(err, http.NewResponseController(w).Flush())
			time.Sleep(20 * time.Second)
			_, more := io.WriteString(w, "last")
			ended <- errors.Join(err, more, http.NewResponseController(w).Flush())
		})
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		time.Sleep(time.Second)
		g.Drain()
		if err := srv.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("a stream that was read to its end: %v", err)
		}
	})
}

// The late rest of a body is never read as a request, even if the response came before it.
func TestTheRestOfABodyIsNoRequest(t *testing.T) {
	const smuggled = "POST /smuggled HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	bodies := map[string][2]string{
		"of a known length": {fmt.Sprintf("Content-Length: %d\r\n\r\nsome", len("some"+smuggled)), smuggled},
		"in chunks":         {"Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n", smuggled},
	}
	answers := map[string]func(w http.ResponseWriter){
		"a status": func(w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) },
		"a text":   func(w http.ResponseWriter) { _, _ = io.WriteString(w, "early") },
		"a stream": func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"nothing":  func(http.ResponseWriter) {},
	}
	for body, sent := range bodies {
		for rule, answer := range answers {
			t.Run(body+", "+rule, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var paths []string
					conn := dial(t, datarate.Limits{}, func(w http.ResponseWriter, r *http.Request) {
						paths = append(paths, r.URL.Path)
						_ = http.NewResponseController(w).EnableFullDuplex()
						_, _ = r.Body.Read(make([]byte, 4))
						answer(w)
						_, _ = io.Copy(io.Discard, r.Body)
						_ = r.Body.Close()
					})
					var both sync.WaitGroup
					defer both.Wait()
					both.Go(func() {
						_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+sent[0])
						time.Sleep(time.Minute)
						_, _ = io.WriteString(conn, sent[1])
					})
					got, _ := io.ReadAll(conn)
					if len(paths) != 1 || strings.Count(string(got), "HTTP/1.1 ") != 1 {
						t.Errorf("requests to %v, answers %q, want one", paths, got)
					}
				})
			})
		}
	}
}

// A response after the whole body keeps the connection open.
func TestFullDuplexKeepsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := dial(t, datarate.Limits{}, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			_, _ = io.Copy(w, r.Body)
		})
		r := bufio.NewReader(conn)
		for range 2 {
			_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
			res, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, _ := io.ReadAll(res.Body); res.Close || string(body) != "{}" {
				t.Errorf("%q, the connection's last: %v", body, res.Close)
			}
		}
	})
}
