package lane

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/lane/lanetest"
)

// newWeb is a server as the program has it.
func newWeb(h http.Handler, complaints io.Writer) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(complaints, "", 0)}
}

// served is a server in a test's bubble, with a connection to it.
type served struct {
	*Listener
	net.Conn
	web        *http.Server
	pipes      *lanetest.Pipes
	complaints *bytes.Buffer
	reader     *bufio.Reader
}

// serve has a handler served through the lane until the test ends.
func serve(t *testing.T, h http.HandlerFunc) *served {
	t.Helper()
	s := &served{pipes: lanetest.NewPipes(), complaints: new(bytes.Buffer)}
	s.web = newWeb(h, s.complaints)
	s.Listener = New(s.pipes, s.web)
	var running sync.WaitGroup
	running.Go(func() { _ = s.web.Serve(s.Listener) })
	s.Conn = s.dial()
	s.reader = bufio.NewReader(s.Conn)
	t.Cleanup(func() {
		_ = s.Conn.Close()
		_ = s.web.Close()
		s.End()
		running.Wait()
	})
	return s
}

// dial is another connection.
func (s *served) dial() net.Conn { return s.pipes.Dial() }

// ask sends a request and returns its answer.
func (s *served) ask(t *testing.T, request string) (*http.Response, string) {
	t.Helper()
	go func() { _, _ = io.WriteString(s.Conn, request) }()
	return s.answer(t)
}

// answer is the next one.
func (s *served) answer(t *testing.T) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(s.reader, &http.Request{Method: http.MethodPost})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// isClosed reports whether the connection has ended, once everything has come to rest.
func isClosed(conn net.Conn) bool {
	synctest.Wait()
	_ = conn.SetReadDeadline(time.Now())
	defer func() { _ = conn.SetReadDeadline(time.Time{}) }()
	_, err := conn.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// call is a usual request with this body.
func call(body string) string { return callTo("/mcp", body) }

func callTo(path, body string) string {
	var b bytes.Buffer
	req, err := http.NewRequest(http.MethodPost, "http://x"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err)
	}
	if err := req.Write(&b); err != nil {
		panic(err)
	}
	return b.String()
}
