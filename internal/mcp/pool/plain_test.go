package pool

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

func TestPlainServersHaveOneConnectionForAll(t *testing.T) {
	for name, c := range map[string]struct {
		initialize string // the answer to initialize
		tools      []string
	}{
		"one that says what it has": {`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"p"}}`, []string{"p::x"}},
		"one that says nothing":     {`"error":{"code":-32601,"message":"what?"}`, []string{"p::x"}},
		"one that has no tools":     {`"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"p"}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var lists atomic.Int32
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				req, err := wire.ParseRequest(body, wire.MaxRequestDepth)
				if err != nil {
					return
				}
				answer := `"error":{"code":-32601,"message":"what?"}`
				switch req.Method {
				case "initialize":
					answer = c.initialize
				case "tools/list":
					lists.Add(1)
					answer = `"result":{"tools":[{"name":"x","inputSchema":{}}]}`
				}
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, req.ID, answer)
			}))
			defer h.Close()
			f, err := New(Options{
				Servers: []upstream.Settings{{ID: "p", URL: h.URL, Transport: upstream.TransportRPC}}, Eager: true, FirstListWait: patience,
				New: func(s upstream.Settings, o Connection) (*upstream.Upstream, error) {
					return upstream.New(upstream.Options{Settings: s, Capabilities: o.Capabilities, Incoming: o.Incoming, Announced: o.Announced, Opened: o.Opened})
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			stop := run(t, f)
			defer stop()
			for _, client := range []Client{legacy(`{"roots":{}}`), modernClient(`{}`), legacy(`{}`)} {
				m := f.Join(client, &ears{})
				defer m.Leave()
				wantTools(t, m, c.tools...)
			}
			if n := f.Status()[0].Connections; n != 1 || lists.Load() > 1 {
				t.Errorf("%d connections, %d lists", n, lists.Load())
			}
		})
	}
}

func TestAPlainServerGetsNothingThatNobodyAskedFor(t *testing.T) {
	var asked atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer h.Close()
	f, err := New(Options{
		Servers: []upstream.Settings{{ID: "p", URL: h.URL, Transport: upstream.TransportRPC}}, Eager: true,
		New: func(s upstream.Settings, o Connection) (*upstream.Upstream, error) {
			return upstream.New(upstream.Options{Settings: s, Capabilities: o.Capabilities, Incoming: o.Incoming, Announced: o.Announced, Opened: o.Opened})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, f)
	req, bad := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`), wire.MaxRequestDepth)
	if bad != nil {
		t.Fatal(bad)
	}
	up, release := f.Shared("p")
	defer release()
	if _, err := up.Call(t.Context(), &req); err != nil {
		t.Error(err)
	}
	stop()
	if n := asked.Load(); n != 1 {
		t.Errorf("it was sent %d requests, want the one", n)
	}
}
