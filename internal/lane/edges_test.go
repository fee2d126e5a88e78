package lane

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/lane/lanetest"
)

// Whoever looks for a client may find a byte of what comes next. It is not lost where the request before that has come already, in whole or in part.
func TestNoByteIsLostBehindARequestThatHasCome(t *testing.T) {
	third := callTo("/third", "3")
	unusual := "GET /second HTTP/1.1\r\nHost: x\r\n\r\n"
	const usual, other, both = "POST /second 2", "GET /second ", "POST /third 3"
	for rule, second := range map[string][3]string{
		"usual":                {callTo("/second", "2"), "", usual},
		"not usual":            {unusual, "", other},
		"half of one":          {third[:8], third[8:], both},
		"half of one, unusual": {unusual[:8], unusual[8:], other},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.WriteString(w, r.Method+" ")
					ok(w, r)
					time.Sleep(time.Second)
				})
				go func() {
					_, _ = io.WriteString(s.Conn, callTo("/first", "1")+second[0])
					time.Sleep(2 * patience)
					_, _ = io.WriteString(s.Conn, second[1]+third)
				}()
				var got []string
				for range 3 {
					_, body := s.answer(t)
					got = append(got, body)
				}
				if got[0] != "POST /first 1" || got[2] != "POST /third 3" || got[1] != second[2] {
					t.Errorf("answers %q", got)
				}
			})
		})
	}
}

// A body whose end has not come stays the connection's last, however often it is closed: what comes of it later is no request.
func TestABodyThatDoesNotEndIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var paths []string
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			paths = append(paths, r.URL.Path)
			control := http.NewResponseController(w)
			_ = errors.Join(control.EnableFullDuplex(), control.SetReadDeadline(time.Now().Add(time.Second)))
			if r.Body.Close() == nil {
				t.Error("there is no more of the body")
			}
		})
		head, rest, _ := strings.Cut(callTo("/first", "some"+callTo("/smuggled", "")), "some")
		_, _ = io.WriteString(s.Conn, head+"some")
		var sending sync.WaitGroup
		defer sending.Wait()
		sending.Go(func() {
			time.Sleep(time.Minute)
			_, _ = io.WriteString(s.Conn, rest)
		})
		_, _ = io.Copy(io.Discard, s.reader)
		if len(paths) != 1 {
			t.Errorf("requests to %v, want the first only", paths)
		}
	})
}

// The context of a request ends with its handler, not when the client has taken the answer.
func TestAContextEndsWithItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan (<-chan struct{}), 1)
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			over <- r.Context().Done()
			ok(w, r)
		})
		_, _ = io.WriteString(s.Conn, call("{}"))
		synctest.Wait() // nobody reads: the answer is being written
		select {
		case <-<-over:
		default:
			t.Error("the context goes on")
		}
	})
}

// What was sent before a handler gave up arrives, though there was more to read: a connection that is closed over that is reset.
func TestAHandlerThatGivesUpDoesNotTakeBackWhatWasSent(t *testing.T) {
	for range 20 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		web := newWeb(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			control := http.NewResponseController(w)
			_ = control.EnableFullDuplex()
			_, _ = io.WriteString(w, "begun")
			_ = control.Flush()
			panic(http.ErrAbortHandler)
		}), io.Discard)
		var running sync.WaitGroup
		running.Go(func() { _ = web.Serve(New(ln, web)) })
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, call(strings.Repeat("x", 60000)))
		got, err := io.ReadAll(conn)
		if err != nil || !strings.Contains(string(got), "begun") {
			t.Errorf("%q, %v, want what was sent and the connection's end", got, err)
		}
		_ = conn.Close()
		_ = web.Close()
		running.Wait()
	}
}

// A deadline that was for the body is not taken for the client's end.
func TestADeadlineOfTheBodyEndsWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
			ok(w, r)
			time.Sleep(time.Minute)
			if r.Context().Err() != nil {
				t.Error("the request has ended")
			}
		})
		for range 2 {
			s.ask(t, call("{}"))
		}
	})
}

// A goroutine that a handler has left behind does no harm by what it sets, wherever the connection is by then.
func TestWhatIsSetTooLateDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var left http.ResponseWriter
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if left == nil {
				left = w
			}
			ok(w, r)
		})
		s.ask(t, call("{}"))
		s.ask(t, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		control := http.NewResponseController(left)
		if err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})); err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(left, "late"); err == nil || control.Flush() == nil {
			t.Error("what is written too late is taken")
		}
	})
}

// wanting is a listener that has connections, and then no descriptors for more.
type wanting struct{ *lanetest.Pipes }

type errWanting struct{ error }

func (errWanting) Timeout() bool   { return false }
func (errWanting) Temporary() bool { return true }

func (w wanting) Accept() (net.Conn, error) {
	select {
	case c := <-w.Conns:
		return c, nil
	default:
		return nil, errWanting{errAccept}
	}
}

// While no connection can be accepted, those that there are go where they are to go at once.
func TestConnectionsAreHandedOverWhileNoneIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln, complaints := lanetest.NewPipes(), new(bytes.Buffer)
		ln.Conns = make(chan net.Conn, 20)
		var clients []net.Conn
		for range cap(ln.Conns) {
			ours, theirs := net.Pipe()
			clients = append(clients, ours)
			ln.Conns <- theirs
		}
		web := newWeb(http.HandlerFunc(ok), complaints)
		var running sync.WaitGroup
		running.Go(func() { _ = web.Serve(New(wanting{ln}, web)) })
		time.Sleep(9 * time.Second)
		for _, client := range clients {
			began := time.Now()
			go func() { _, _ = io.WriteString(client, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }()
			if _, err := client.Read(make([]byte, 1)); err != nil || time.Since(began) > 0 {
				t.Errorf("%v after %s, want an answer at once", err, time.Since(began))
			}
			_ = client.Close()
		}
		_ = web.Close()
		running.Wait()
		synctest.Wait()
		if n := strings.Count(complaints.String(), "http: Accept error: "+errAccept.Error()); n < 5 || n > 30 {
			t.Errorf("said %d times in nine seconds: %q", n, complaints)
		}
	})
}

// lastMoment is a listener to which a connection comes while it is being closed.
type lastMoment struct {
	*lanetest.Pipes
	late net.Conn
}

func (l lastMoment) Close() error {
	l.Conns <- l.late
	return l.Pipes.Close()
}

func TestShutdownWaitsForTheLastConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		web := newWeb(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Minute)
			ok(w, r)
		}), io.Discard)
		s := &served{Listener: New(lastMoment{lanetest.NewPipes(), theirs}, web), Conn: ours, web: web, reader: bufio.NewReader(ours)}
		var running sync.WaitGroup
		running.Go(func() { _ = web.Serve(s.Listener) })
		synctest.Wait()
		go func() { _, _ = io.WriteString(ours, call("{}")) }()
		began := time.Now()
		running.Go(func() {
			if err := shutDown(t.Context(), s); err != nil || time.Since(began) < time.Minute {
				t.Errorf("Shutdown = %v after %s, want nil once the request is answered", err, time.Since(began))
			}
		})
		if _, body := s.answer(t); body != "/mcp {}" {
			t.Errorf("answer %q", body)
		}
		running.Wait()
	})
}

func TestShutdownOfWhatNeverBegan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		web := newWeb(http.HandlerFunc(ok), io.Discard)
		if err := New(lanetest.NewPipes(), web).Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
