package upstream

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// rawServer calls serve for each HTTP request on its connections. It closes the connection if serve
// returns false.
func rawServer(tb testing.TB, serve func(conn net.Conn, body []byte) (keep bool)) string {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	conns := map[net.Conn]bool{}
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns[conn] = true
			mu.Unlock()
			wg.Go(func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					body, err := io.ReadAll(req.Body)
					if err != nil || !serve(conn, body) {
						return
					}
				}
			})
		}
	})
	tb.Cleanup(func() {
		ln.Close()
		mu.Lock()
		for c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return "http://" + ln.Addr().String()
}

// nobody is an address without a listener.
const nobody = "127.0.0.1:1"

// response returns a complete HTTP response.
func response(status int, contentType, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		status, http.StatusText(status), contentType, len(body), body)
}

// says returns a server that always sends the same text and then keeps or closes the connection.
func says(text string, keep bool) func(net.Conn, []byte) bool {
	return func(conn net.Conn, _ []byte) bool {
		io.WriteString(conn, text)
		return keep
	}
}

// reset makes the connection end with a TCP reset.
func reset(conn net.Conn) { _ = conn.(*net.TCPConn).SetLinger(0) }

// hangUntilClosed sends nothing until the peer closes the connection.
func hangUntilClosed(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func gzipped(b []byte) string {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.String()
}

const okBody = `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`

// fault is a faulty HTTP response and the error that a caller gets.
type fault struct {
	rule   string
	serve  func(conn net.Conn, body []byte) bool
	kind   Kind
	status int
	parts  []string
}

// limited returns settings with the timeout for this fault. It is short only if the fault is a
// timeout.
func (f fault) limited(s Settings) Settings {
	s.ResponseTimeout = patience
	if f.kind == Timeout {
		s.ResponseTimeout = 300 * time.Millisecond
	}
	return s
}

func endless(conn net.Conn, head, unit string) {
	io.WriteString(conn, head)
	chunk := []byte(strings.Repeat(unit, 1<<16/len(unit)))
	for range 1 << 14 { // 1 GB
		if _, err := conn.Write(chunk); err != nil {
			return
		}
	}
}

// faults are those that all HTTP transports share. The limit is 1 MB, the timeout that of limited.
func faults(jsonType string) []fault {
	head := "HTTP/1.1 200 OK\r\nContent-Type: " + jsonType + "\r\n"
	bomb := gzipped(bytes.Repeat([]byte(" "), 8<<20))
	return []fault{
		{"closed without an answer", says("", false), Unavailable, 0, nil},
		{"reset without an answer", func(c net.Conn, _ []byte) bool { reset(c); return false }, Unavailable, 0, nil},
		{"closed within the headers", says("HTTP/1.1 200 OK\r\nContent-Ty", false), Unavailable, 0, nil},
		{"closed within the content", says(head+"Content-Length: 100\r\n\r\n"+okBody, false), Unavailable, 0, []string{"before its answer was whole"}},
		{"reset within the content", func(c net.Conn, _ []byte) bool {
			io.WriteString(c, head+"Content-Length: 100\r\n\r\n"+okBody)
			reset(c)
			return false
		}, Unavailable, 0, nil},
		{"closed within a chunk", says(head+"Transfer-Encoding: chunked\r\n\r\nff\r\n{", false), Unavailable, 0, nil},
		{"headers that do not come", func(c net.Conn, _ []byte) bool { hangUntilClosed(c); return false }, Timeout, 0, []string{"300ms"}},
		{"content that does not come", func(c net.Conn, _ []byte) bool {
			io.WriteString(c, head+"Content-Length: 100\r\n\r\n{")
			hangUntilClosed(c)
			return false
		}, Timeout, 0, nil},
		{"a gigabyte that is announced", func(c net.Conn, _ []byte) bool {
			endless(c, head+"Content-Length: 1073741824\r\n\r\n", " ")
			return false
		}, Invalid, 200, []string{"max_message_bytes"}},
		{"a gigabyte that is not announced", func(c net.Conn, _ []byte) bool {
			endless(c, head+"\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"", "x")
			return false
		}, Invalid, 200, []string{"max_message_bytes"}},
		{"a gzip bomb", says(head+"Content-Encoding: gzip\r\nContent-Length: "+strconv.Itoa(len(bomb))+"\r\n\r\n"+bomb, true), Invalid, 200, []string{"max_message_bytes"}},
		{"gzip that is none", says(head+"Content-Encoding: gzip\r\nContent-Length: 45\r\n\r\n"+okBody, true), Invalid, 200, []string{"gzip"}},
		{"another compression", says(head+"Content-Encoding: br\r\nContent-Length: 2\r\n\r\nxx", true), Invalid, 200, []string{"compressed"}},
		{"an HTML page", says(response(200, "text/html; charset=utf-8", "<!DOCTYPE html><p>hi"), true), Invalid, 200, []string{"HTML"}},
		{"an HTML page with an error status", says(response(502, "text/html", "<html>"), true), Invalid, 502, []string{"502", "HTML"}},
		{"plain text", says(response(200, "text/plain", "hello"), true), Invalid, 200, []string{"text/plain"}},
		{"no content", says(response(200, jsonType, ""), true), Invalid, 200, []string{"no content"}},
		{"202", says("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", true), Invalid, 202, []string{"no content"}},
		{"204", says("HTTP/1.1 204 No Content\r\n\r\n", true), Invalid, 204, []string{"no content"}},
		{"JSON that is cut short", says(response(200, jsonType, okBody[:30]), true), Invalid, 200, nil},
		{"JSON that is no JSON-RPC", says(response(200, jsonType, `{"ok":true}`), true), Invalid, 200, []string{"not a JSON-RPC response"}},
		{"an array", says(response(200, jsonType, `[`+okBody+`]`), true), Invalid, 200, nil},
		{"an error status with JSON that is no JSON-RPC", says(response(404, jsonType, `{"detail":"Not Found"}`), true), Invalid, 404, []string{"404"}},
		{"a redirect", says("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n", true), Invalid, 307, []string{"redirect"}},
		{"unauthorized", says(response(401, "text/plain", "no"), true), Invalid, 401, []string{"headers"}},
		{"forbidden", says(response(403, "text/plain", "no"), true), Invalid, 403, []string{"headers"}},
		{"something that is no HTTP", says("220 smtp.example ESMTP\r\n", false), Invalid, 0, []string{"not HTTP"}},
	}
}
