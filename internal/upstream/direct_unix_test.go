//go:build unix

package upstream

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// startDirect starts an Upstream that knows of its server that it keeps connections.
func startDirect(t *testing.T, set Settings) (u *Upstream, conns *direct) {
	t.Helper()
	u = start(t, Options{Settings: set, MaxMessageBytes: 1 << 20})
	endpoint := u.server.(*plain).endpoint
	endpoint.conns.kept.Store(true)
	return u, endpoint.direct
}

func (d *direct) kept() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.idle)
}

// What goes wrong is told in the same words whichever way a request went.
func TestDirectFaults(t *testing.T) {
	for _, f := range faults("application/json") {
		t.Run(f.rule, func(t *testing.T) {
			t.Parallel()
			u, conns := startDirect(t, f.limited(plainSettings(rawServer(t, f.serve))))
			_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
			wantError(t, err, f.kind, f.status, f.parts...)
			if f.kind != Invalid && conns.kept() != 0 {
				t.Error("the connection is kept")
			}
		})
	}
}

// A server that is seen to answer twice on a connection is spoken to directly from then on, and on few connections.
func TestDirectOnceTheServerKeepsConnections(t *testing.T) {
	var conns sync.Map
	u := start(t, Options{Settings: plainSettings(rawServer(t, func(conn net.Conn, _ []byte) bool {
		conns.Store(conn, true)
		io.WriteString(conn, response(200, "application/json", okBody))
		return true
	}))})
	e := u.server.(*plain).endpoint
	for range 100 {
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
	}
	n := 0
	conns.Range(func(any, any) bool { n++; return true })
	if !e.conns.kept.Load() || e.direct.kept() != 1 || n > 10 {
		t.Errorf("%d connections, of those %d kept", n, e.direct.kept())
	}
}

// A kept connection that the server has closed, or said something on of its own accord, is not used again, and no call fails for it.
func TestDirectLeavesWhatIsOver(t *testing.T) {
	for rule, meanwhile := range map[string]func(net.Conn){
		"closed": func(c net.Conn) { _ = c.Close() },
		"reset":  func(c net.Conn) { reset(c); _ = c.Close() },
		"spoken on": func(c net.Conn) {
			io.WriteString(c, response(408, "text/plain", "you were too slow"))
		},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			served := make(chan net.Conn, 100)
			u, conns := startDirect(t, plainSettings(rawServer(t, func(c net.Conn, _ []byte) bool {
				io.WriteString(c, response(200, "application/json", okBody))
				served <- c
				return true
			})))
			for range 20 {
				mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
				meanwhile(<-served)
				conns.mu.Lock()
				kept := conns.idle[len(conns.idle)-1]
				conns.mu.Unlock()
				eventually(t, "it has come", func() bool { return kept.peek() != connOpen })
				u.server.(*plain).endpoint.conns.once.Store(false) // or it would not be tried again
			}
		})
	}
}

// Preliminary answers are passed over, but not for ever; a header has an end; of bytes behind an answer nothing is left for the next.
func TestDirectReadsTheAnswerAlone(t *testing.T) {
	const hint = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	ok := response(200, "application/json", okBody)
	for _, c := range []struct {
		rule, says string
		fails      bool
	}{
		{"preliminary answers", strings.Repeat(hint, 3) + ok, false},
		{"nothing but those", strings.Repeat(hint, 1000), true},
		{"a long header", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n" + ok, true},
		{"many headers", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxHeader/3) + "\r\n" + ok, true},
		{"an answer behind the answer", ok + response(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"ok":false}}`), false},
		{"another protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", true},
		{"a version without kept connections", "HTTP/1.0 200 OK\r\nContent-Length: 45\r\n\r\n" + okBody, false},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			u, conns := startDirect(t, plainSettings(rawServer(t, says(c.says, true))))
			for range 3 {
				if c.fails {
					_, err := u.Call(t.Context(), toolCall(t, "1", "echo", "1"))
					wantError(t, err, Invalid, map[bool]int{true: 101}[strings.Contains(c.says, " 101 ")])
				} else {
					mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
				}
			}
			if c.rule != "preliminary answers" && conns.kept() != 0 {
				t.Errorf("%d connections are kept", conns.kept())
			}
		})
	}
}

// A caller that goes away ends its request and the connection, before the answer and in the middle of it, and whoever closes an
// answer while it is read ends that.
func TestDirectEndsWithItsCaller(t *testing.T) {
	var open atomic.Int32
	began := make(chan struct{}, 10)
	u, conns := startDirect(t, plainSettings(rawServer(t, func(c net.Conn, body []byte) bool {
		open.Add(1)
		defer open.Add(-1)
		if strings.Contains(string(body), "half") {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
		}
		began <- struct{}{}
		hangUntilClosed(c)
		return false
	})))
	for _, name := range []string{"nothing", "half"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-began; cancel() }()
		if _, err := u.Call(ctx, toolCall(t, "1", name, "1")); err == nil || ctx.Err() == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	resp, err := conns.roundTrip(t.Context(), directPost{to: u.server.(*plain).endpoint.url, body: []byte("half")})
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-began; _ = resp.Body.Close() }()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("an answer that was closed came to its end")
	}
	eventually(t, "all connections end", func() bool { return open.Load() == 0 && conns.kept() == 0 })
}

// Many at once get each their own answer, in whatever pieces it comes, and all their connections end with the Upstream.
func TestDirectMixUp(t *testing.T) {
	u, conns := startDirect(t, plainSettings(rawServer(t, func(c net.Conn, body []byte) bool {
		text := response(200, "application/json", string(body))
		for len(text) > 0 {
			n := min(len(text), 1+len(body)%97)
			io.WriteString(c, text[:n])
			text = text[n:]
		}
		return true
	})))
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for j := range 20 {
				nonce := strings.Repeat("x", i*j%61) + string(rune('a'+i%26)) + strings.Repeat("y", j)
				msg := `{"n":"` + nonce + `"}`
				reply, err := conns.echo(t, u, msg)
				if err != nil || reply != msg {
					t.Errorf("%q was answered %q, %v", msg, reply, err)
				}
			}
		})
	}
	all.Wait()
	u.server.(*plain).endpoint.close()
	if n := conns.kept(); n != 0 {
		t.Errorf("%d connections are left", n)
	}
}

// echo posts a text and gives what came back.
func (d *direct) echo(t *testing.T, u *Upstream, text string) (string, error) {
	t.Helper()
	resp, err := d.roundTrip(t.Context(), directPost{to: u.server.(*plain).endpoint.url, body: []byte(text)})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	back, err := io.ReadAll(resp.Body)
	return string(back), err
}

// A connection that nobody uses is closed after its time.
func TestDirectKeepsNothingForLong(t *testing.T) {
	u, conns := startDirect(t, plainSettings(rawServer(t, says(response(200, "application/json", okBody), true))))
	conns.keep = 50 * time.Millisecond
	for range 2 {
		mustCall(t, u, toolCall(t, "1", "echo", "1"), `{"ok":true}`)
		eventually(t, "it is closed", func() bool {
			e := u.server.(*plain).endpoint
			e.conns.mu.Lock()
			defer e.conns.mu.Unlock()
			return conns.kept() == 0 && len(e.conns.open) == 0
		})
	}
}
