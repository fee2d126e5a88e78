package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/mcp/wire"
	"secateur/internal/secret"
)

func plainSettings(url string) Settings {
	return Settings{ID: "files", URL: url, Transport: TransportRPC, ResponseTimeout: patience}
}

func TestPlainFaults(t *testing.T) {
	cases := append(faults("application/json"),
		fault{"the id of another call", says(response(200, "application/json", `{"jsonrpc":"2.0","id":2,"result":1}`), true), Invalid, 200, []string{"id of another call"}},
		fault{"an id of another type", says(response(200, "application/json", `{"jsonrpc":"2.0","id":"1","result":1}`), true), Invalid, 200, nil},
		fault{"an error without an id", says(response(200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`), true), Invalid, 200, []string{"without the call's id"}},
		fault{"a request of its own", says(response(200, "application/json", `{"jsonrpc":"2.0","id":1,"method":"x"}`), true), Invalid, 200, []string{"request"}},
		fault{"an event stream", says(response(200, "text/event-stream", "data: "+okBody+"\n\n"), true), Invalid, 200, []string{"event stream"}},
		fault{"cut short by the connection's end", says("HTTP/1.1 200 OK\r\n\r\n"+okBody[:30], false), Unavailable, 0, nil},
	)
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			u := start(t, Options{Settings: c.limited(plainSettings(rawServer(t, c.serve))), MaxMessageBytes: 1 << 20})
			_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
			wantError(t, err, c.kind, c.status, append(c.parts, `server "files"`)...)
		})
	}
}

func TestPlainAnswers(t *testing.T) {
	const failing = `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`
	for _, c := range []struct {
		rule, answer, want string
		keep               bool
		status             int
	}{
		{"a result", response(200, "application/json", okBody), okBody, true, 200},
		{"an error", response(200, "application/json", failing), failing, true, 200},
		{"an error status does not matter if the content is the answer", response(500, "application/json", failing), failing, true, 500},
		{"nor does 401", response(401, "application/json", failing), failing, true, 401},
		{"nor does the content's type", response(200, "text/plain", okBody), okBody, true, 200},
		{"white space around it is not part of it", response(200, "application/json", "\n "+okBody+"\n"), okBody, true, 200},
		{"an id that says the same", response(200, "application/json", `{"jsonrpc":"2.0","id":1.0,"result":1}`), `{"jsonrpc":"2.0","id":1.0,"result":1}`, true, 200},
		{"no length", "HTTP/1.1 200 OK\r\n\r\n" + okBody, okBody, false, 200},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n2c\r\n" + okBody[1:] + "\r\n0\r\n\r\n", okBody, true, 200},
		{"gzip that was not asked for", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + strconv.Itoa(len(gzipped([]byte(okBody)))) + "\r\n\r\n" + gzipped([]byte(okBody)), okBody, true, 200},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			u := start(t, Options{Settings: plainSettings(rawServer(t, says(c.answer, c.keep)))})
			for range 3 {
				reply, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
				if err != nil {
					t.Fatal(err)
				}
				if string(reply.Raw) != c.want || reply.HTTPStatus != c.status {
					t.Errorf("Call = %s (HTTP %d), want %s (HTTP %d)", reply.Raw, reply.HTTPStatus, c.want, c.status)
				}
				reply.Release()
			}
			if st := u.Status(); st.State != Ready {
				t.Errorf("Status = %+v", st)
			}
		})
	}
}

func TestPlainSendsTheBytesAsTheyAre(t *testing.T) {
	var path, auth, agent string
	var got []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		path, auth, agent = r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("User-Agent")
		io.WriteString(w, `{"jsonrpc":"2.0","id":"\u0061","result":1}`)
	}))
	defer s.Close()
	for address, want := range map[string]string{
		s.URL: "/rpc", s.URL + "/": "/rpc", s.URL + "/rpc": "/rpc", s.URL + "/api": "/api/rpc", s.URL + "/a/rpc?k=v": "/a/rpc?k=v",
	} {
		set := plainSettings(address)
		set.Headers = map[string]secret.Text{"authorization": secret.New("Bearer x")}
		u, stop := startStoppable(t, Options{Settings: set, ClientVersion: "9"})
		sent := "{ \"id\" : \"a\",\n \"jsonrpc\":\"2.0\",\"method\":\"x/y\",\"z\":1e400}"
		reply, err := u.Call(t.Context(), message(t, sent))
		if err != nil {
			t.Fatal(err)
		}
		reply.Release()
		stop()
		if string(got) != sent || path != want || auth != "Bearer x" || agent != "secateur/9" {
			t.Errorf("%s: POST %s, Authorization %q, User-Agent %q, %s", address, path, auth, agent, got)
		}
	}
}

func TestPlainRefused(t *testing.T) {
	u := start(t, Options{Settings: plainSettings("http://" + nobody + "/?token=hidden")})
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0, "refused", nobody)
	if strings.Contains(err.Error(), "hidden") {
		t.Errorf("the address is shown: %v", err)
	}
	if st := u.Status(); st.State != Down || st.LastError == "" {
		t.Errorf("Status = %+v", st)
	}
	u = start(t, Options{Settings: plainSettings("http://no-such-host.invalid")})
	_, err = u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0)
}

func TestPlainCallerThatLeaves(t *testing.T) {
	arrived := make(chan struct{})
	hang := make(chan struct{})
	u := start(t, Options{Settings: plainSettings(rawServer(t, func(net.Conn, []byte) bool {
		close(arrived)
		<-hang
		return false
	}))})
	t.Cleanup(func() { close(hang) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	if _, err := u.Call(ctx, toolCall(t, "1", "echo", "1")); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
}

func TestPlainNotify(t *testing.T) {
	got := make(chan string, 1)
	u := start(t, Options{Settings: plainSettings(rawServer(t, func(conn net.Conn, body []byte) bool {
		got <- string(body)
		io.WriteString(conn, response(500, "text/html", "<html>"))
		return true
	}))})
	const n = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	if err := u.Notify(t.Context(), message(t, n)); err != nil {
		t.Errorf("Notify: %v", err)
	}
	if s := <-got; s != n {
		t.Errorf("the server got %s", s)
	}
}

func TestPlainStopEndsCalls(t *testing.T) {
	arrived := make(chan struct{})
	hang := make(chan struct{})
	set := plainSettings(rawServer(t, func(net.Conn, []byte) bool {
		close(arrived)
		<-hang
		return false
	}))
	t.Cleanup(func() { close(hang) })
	set.ResponseTimeout = time.Minute
	u, stop := startStoppable(t, Options{Settings: set})
	done := make(chan error)
	go func() {
		_, err := u.Call(context.Background(), toolCall(t, "1", "echo", "1"))
		done <- err
	}()
	<-arrived
	stop()
	wantError(t, <-done, Unavailable, 0, "stopped")
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0, "stopped")
}

func TestPlainPeerIsAskedOnce(t *testing.T) {
	var asked atomic.Int32
	u := start(t, Options{Settings: plainSettings(rawServer(t, func(conn net.Conn, body []byte) bool {
		asked.Add(1)
		if !bytes.Contains(body, []byte(`"initialize"`)) {
			t.Errorf("it was asked %s", body)
		}
		io.WriteString(conn, response(200, "application/json", `{"jsonrpc":"2.0","id":"own","result":{"protocolVersion":"2024-11-05","serverInfo":{"name":"mcp-pruner"}}}`))
		return true
	}))})
	if got := u.ServerName(); got != "" {
		t.Errorf("ServerName() before = %q", got)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			p, err := u.Peer(t.Context())
			if err != nil || p.ServerName != "mcp-pruner" {
				t.Errorf("Peer() = %+v, %v", p, err)
			}
		})
	}
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
	if got := u.ServerName(); got != "mcp-pruner" {
		t.Errorf("ServerName() = %q", got)
	}
}

func TestPlainPeerThatIsNone(t *testing.T) {
	var asked atomic.Int32
	u := start(t, Options{Settings: plainSettings(rawServer(t, func(conn net.Conn, _ []byte) bool {
		asked.Add(1)
		io.WriteString(conn, response(404, "text/plain", "?"))
		return true
	}))})
	for range 3 {
		_, err := u.Peer(t.Context())
		wantError(t, err, Invalid, 404)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times, want the failure to be remembered", n)
	}
}

func TestPlainConnectionsAreUsedAgain(t *testing.T) {
	var conns sync.Map
	u := start(t, Options{Settings: plainSettings(rawServer(t, func(conn net.Conn, _ []byte) bool {
		conns.Store(conn, true)
		io.WriteString(conn, response(200, "application/json", okBody))
		return true
	}))})
	for range 20 {
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	// net/http drops a connection if it did not see the request's last byte written within 50 ms
	// after the answer.
	if n > 10 || u.server.(*plain).endpoint.conns.once.Load() {
		t.Errorf("%d connections for calls one after the other", n)
	}
}

func TestPlainServerThatClosesEveryConnection(t *testing.T) {
	// and sends no Connection: close
	set := plainSettings(rawServer(t, says(response(200, "application/json", okBody), false)))
	u := start(t, Options{Settings: set})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	eventually(t, "it is known", func() bool { return u.server.(*plain).endpoint.conns.once.Load() })
	for range 500 {
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	}
}

func TestPlainMixUp(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		m, _ := wire.ParseRequest(body, 100)
		w.Write(wire.AppendResult(nil, m.ID, m.Params))
	}))
	defer s.Close()
	set := plainSettings(s.URL)
	u := start(t, Options{Settings: set})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			for j := range 5 {
				nonce := `{"nonce":"` + strconv.Itoa(i) + "-" + strconv.Itoa(j) + strings.Repeat("x", i*j*7) + `"}`
				mustCall(t, u, message(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":`+nonce+`}`), nonce)
			}
		})
	}
	wg.Wait()
}

func TestTurns(t *testing.T) {
	hang, arrived := make(chan struct{}), make(chan struct{}, 10)
	set := plainSettings(rawServer(t, func(conn net.Conn, _ []byte) bool {
		arrived <- struct{}{}
		<-hang
		io.WriteString(conn, response(200, "application/json", okBody))
		return true
	}))
	u := start(t, Options{Settings: set, InFlight: 1, Waiting: 1})
	results := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := u.Call(context.Background(), toolCall(t, "1", "echo", "1"))
			results <- err
		}()
	}
	<-arrived
	eventually(t, "the other waits", func() bool { return u.admission.waiting.Load() == 1 })
	_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
	wantError(t, err, Unavailable, 0, "1 calls are at it and 1 more wait")
	close(hang)
	for range 2 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkPlain(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", strconv.Itoa(len(okBody)))
		io.WriteString(w, okBody)
	}))
	defer s.Close()
	req := toolCall(b, "1", "echo", "1")
	b.Run("upstream", func(b *testing.B) {
		u, stop := startStoppable(b, Options{Settings: plainSettings(s.URL), LongString: 4000})
		defer stop()
		b.ReportAllocs()
		for b.Loop() {
			reply, err := u.Call(b.Context(), req)
			if err != nil {
				b.Fatal(err)
			}
			reply.Release()
		}
	})
	b.Run("bare", func(b *testing.B) {
		client := &http.Client{Timeout: time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
		defer client.CloseIdleConnections()
		b.ReportAllocs()
		for b.Loop() {
			resp, err := client.Post(s.URL+"/rpc", "application/json", bytes.NewReader(req.Raw))
			if err != nil {
				b.Fatal(err)
			}
			io.ReadAll(resp.Body)
			resp.Body.Close()
		}
	})
}

func TestSentBody(t *testing.T) {
	b := &sentBody{data: []byte("abcd")}
	p := make([]byte, 3)
	if n, err := b.Read(p); n != 3 || err != nil {
		t.Errorf("Read = %d, %v", n, err)
	}
	again, err := b.again()
	if err != nil {
		t.Fatal(err)
	}
	if whole, err := io.ReadAll(again); string(whole) != "abcd" || err != nil {
		t.Errorf("again: %q, %v", whole, err)
	}
	b.detach()
	if n, err := b.Read(p); n != 0 || err == nil {
		t.Errorf("Read after detach = %d, %v", n, err)
	}
	if _, err := b.again(); err == nil {
		t.Error("again after detach is no error")
	}
}

// After a call the caller may reuse the request's memory, even if the server has not read all of
// it.
func TestPlainBytesAreTheCallersAgain(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() // connections wait in its backlog, unread
	set := plainSettings("http://" + ln.Addr().String())
	set.ResponseTimeout = 300 * time.Millisecond
	u := start(t, Options{Settings: set})
	req := toolCall(t, "1", "echo", `"`+strings.Repeat("x", 16<<20)+`"`)
	_, err = u.Call(t.Context(), req)
	wantError(t, err, Timeout, 0)
	for i := range req.Raw {
		req.Raw[i] = 'y' // the race detector reports any remaining reader
	}
}

func BenchmarkChild(b *testing.B) {
	u, stop := startStoppable(b, Options{Settings: childSettings(b, "none")})
	defer stop()
	req := toolCall(b, "1", "echo", "1")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := u.Call(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
