package lane

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/lane/lanetest"
)

// Whatever comes on a connection, and whatever a handler does, clients and handlers see the same as with net/http alone.

// told is what a client gets and what handlers see.
type told struct {
	answers []string
	seen    []string
}

// tell sends bytes over one connection, through the lane or not, until the server ends it. Between two parts somebody has time to look for the client.
func tell(t *testing.T, throughLane bool, parts [][]byte, h http.HandlerFunc) (got told) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := lanetest.NewPipes()
		web := newWeb(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got.seen = append(got.seen, describe(r))
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Minute)) // for a body that does not come
			h(w, r)
		}), io.Discard)
		var ln net.Listener = listener
		if throughLane {
			ln = New(listener, web)
		}
		var running sync.WaitGroup
		running.Go(func() { _ = web.Serve(ln) })
		ours, theirs := net.Pipe()
		listener.Conns <- theirs
		running.Go(func() {
			for _, part := range parts {
				_, _ = ours.Write(part)
				time.Sleep(2 * patience)
			}
		})
		all, _ := io.ReadAll(ours)
		_ = ours.Close()
		_ = web.Close()
		running.Wait()
		got.answers = parse(all)
	})
	return got
}

func describe(r *http.Request) string {
	return fmt.Sprintf("%s %q %q %s host %q header %q length %d encoding %q close %v from %q", r.Method, r.RequestURI, r.URL, r.Proto, r.Host,
		sorted(r.Header), r.ContentLength, r.TransferEncoding, r.Close, r.RemoteAddr)
}

func sorted(h http.Header) (lines []string) {
	for name, values := range h {
		for _, v := range values {
			lines = append(lines, name+": "+v)
		}
	}
	slices.Sort(lines)
	return lines
}

// parse reads answers off the wire. How a body is cut into chunks is nobody's business.
func parse(raw []byte) (answers []string) {
	r := bufio.NewReader(bytes.NewReader(raw))
	for {
		res, err := http.ReadResponse(r, &http.Request{Method: http.MethodPost})
		if err != nil {
			rest, _ := io.ReadAll(r)
			if len(rest) > 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
				answers = append(answers, fmt.Sprintf("%q", rest))
			}
			return answers
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			body = nil // how much of it came before its end was torn off is nobody's business either
		}
		answers = append(answers, fmt.Sprintf("%s %s %q length %d encoding %q close %v trailer %q body %q %v", res.Proto, res.Status, sorted(res.Header), res.ContentLength,
			res.TransferEncoding, res.Close, sorted(res.Trailer), body, err))
	}
}

// compare fails where the two differ.
func compare(t *testing.T, h func() http.HandlerFunc, raw ...[]byte) {
	t.Helper()
	want, got := tell(t, false, raw, h()), tell(t, true, raw, h())
	if !slices.Equal(got.seen, want.seen) {
		t.Errorf("%q: handlers saw\n%s\nwant\n%s", raw, strings.Join(got.seen, "\n"), strings.Join(want.seen, "\n"))
	}
	if !slices.Equal(got.answers, want.answers) {
		t.Errorf("%q: answers\n%s\nwant\n%s", raw, strings.Join(got.answers, "\n"), strings.Join(want.answers, "\n"))
	}
}

// FuzzRequests sends anything, in two parts; the handler says what it read, and lasts.
func FuzzRequests(f *testing.F) {
	for _, raw := range []string{
		call("{}"), call(""), call("{}") + call("[]"), call("{}") + "GET / HTTP/1.1\r\nHost: x\r\n\r\n" + call("{}"),
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{}",
		"POST /%zz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"POST /a%2Fb?x=%41;y#z HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}",
		"POST //a/../b HTTP/1.1\r\nHost: x:1:2]\r\nContent-Length: 02\r\nA: 1\r\na: 2\r\nPragma: no-cache\r\n\r\n{}\r\n\r\n" + call("{}"),
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + call("{}"),
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}" + call("{}"),
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nCookie: a=b\r\nReferer: /\r\nUser-Agent: z\r\nConnection: keep-alive\r\n\r\n{}" + call("{}"),
		"POST / HTTP/1.1\r\nHost: x\r\n Content-Length: 2\r\n\r\n{}",
		call(strings.Repeat("x", 5000)) + call("{}"),
		call("{}") + "\r\n" + call("{}") + "\n\r\r\n" + call("{}") + "\r\n\r\n\r\n" + call("{}"),
		call("{}") + "\r\n\r", "\r\n" + call("{}"),
	} {
		f.Add([]byte(raw), uint(0))
		f.Add([]byte(raw), uint(len(call("{}"))+3))
	}
	f.Add([]byte(call("{}")+call("{}")+call("[]")), uint(2*len(call("{}"))))
	f.Fuzz(func(t *testing.T, raw []byte, cut uint) {
		if len(raw) > 16<<10 || cut > uint(len(raw)) {
			return
		}
		compare(t, func() http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				time.Sleep(3 * patience)
				_, _ = fmt.Fprintf(w, "%q %v", body, err)
			}
		}, raw[:cut], raw[cut:])
	})
}

// FuzzAnswers has a handler do anything, twice on one connection.
func FuzzAnswers(f *testing.F) {
	for _, script := range []string{"", "w", "ww", "W", "WW", "fw", "wf", "wfwf", "4w", "3w", "2", "lw", "llw", "lW", "cw", "tw", "twf", "ftw", "ew", "r", "rw", "Rw", "xw", "dw", "dRw", "rrrrd", "a", "wa", "wfa", "iw", "nw", "hw", "5Ww", "Dw", "Tw", "zw"} {
		f.Add([]byte(script))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 64 {
			return
		}
		compare(t, func() http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { play(script, w, r) }
		}, []byte(call("hello, handler")+call("hello again")))
	})
}

// play does what a script says, one thing a letter.
func play(script []byte, w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	h := w.Header()
	for i, c := range script {
		switch c {
		case 'w':
			_, _ = fmt.Fprintf(w, "part %d ", i)
		case 'W':
			_, _ = io.WriteString(w, strings.Repeat("a large part ", 400))
		case 'f':
			_ = control.Flush()
		case '2', '3', '4', '5':
			w.WriteHeader(map[byte]int{'2': http.StatusNoContent, '3': http.StatusNotModified, '4': http.StatusNotFound, '5': 599}[c])
		case 'i':
			w.WriteHeader(http.StatusEarlyHints)
		case 'l':
			h.Set("Content-Length", "14")
		case 'c':
			h.Set("Connection", "close")
		case 't':
			h.Set(http.TrailerPrefix+"Sum", "1")
		case 'e':
			h.Set("Content-Encoding", "gzip")
		case 'T':
			h.Set("Content-Type", "text/event-stream")
		case 'h':
			h.Add("X", "a\r\nb: c")
			h["bad name"] = []string{"x"}
		case 'n':
			h["Content-Type"] = nil
		case 'z':
			h["Date"] = nil
		case 'r':
			_, _ = r.Body.Read(make([]byte, 3))
		case 'R':
			_, _ = io.Copy(io.Discard, r.Body)
		case 'x':
			_ = r.Body.Close()
		case 'd':
			_ = control.EnableFullDuplex()
			defer r.Body.Close() // left to net/http in full duplex, it has two read from the connection, and panics
		case 'a':
			panic(http.ErrAbortHandler)
		case 'D':
			h.Set("Date", "today")
		}
	}
}
