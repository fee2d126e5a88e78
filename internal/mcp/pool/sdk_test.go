package pool

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"secateur/internal/mcp/child"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/secret"
)

// sdkServer is a real server of the SDK. Its tool adds another tool and changes two resources.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	type in struct{}
	mcp.AddTool(s, &mcp.Tool{Name: "grow"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ in) (*mcp.CallToolResult, any, error) {
		mcp.AddTool(s, &mcp.Tool{Name: "more"}, func(context.Context, *mcp.CallToolRequest, in) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
		for _, uri := range []string{"file:///a", "file:///b", "file:///c"} {
			if err := s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				return nil, nil, err
			}
		}
		return &mcp.CallToolResult{}, nil, nil
	})
	s.AddResource(&mcp.Resource{URI: "file:///a", Name: "a"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{}, nil
	})
	return s
}

func playSDK() int {
	if err := sdkServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// sdk is a server and the state of its HTTP streams.
type sdk struct {
	settings upstream.Settings
	// closed once the standing stream is open: earlier notifications are lost; nil: none
	legacy <-chan struct{}
	modern *atomic.Int32 // open subscriptions/listen requests; nil: a child process
}

// sdkOverHTTP serves both eras, each in its own way.
func sdkOverHTTP(t *testing.T) sdk {
	t.Helper()
	streams := new(atomic.Int32)
	listening := make(chan struct{})
	listens := sync.OnceFunc(func() { close(listening) })
	server := sdkServer()
	find := func(*http.Request) *mcp.Server { return server }
	old := mcp.NewStreamableHTTPHandler(find, nil)
	stateless := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{Stateless: true})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026" {
			if r.Header.Get("Mcp-Method") == methodListen {
				streams.Add(1)
				defer streams.Add(-1)
			}
			stateless.ServeHTTP(w, r)
			return
		}
		if r.Method == http.MethodGet {
			w = &announced{w, listens}
		}
		old.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return sdk{upstream.Settings{ID: "sdk", URL: h.URL}, listening, streams}
}

// announced reports when a response begins.
type announced struct {
	http.ResponseWriter
	begins func()
}

func (a *announced) WriteHeader(status int) {
	a.ResponseWriter.WriteHeader(status)
	a.begins()
}

func (a *announced) Unwrap() http.ResponseWriter { return a.ResponseWriter }

func sdkChild(t *testing.T) sdk {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sdk{settings: upstream.Settings{
		ID: "sdk", Command: []string{self}, StartupTimeout: patience, ShutdownGrace: 500 * time.Millisecond,
		Env: map[string]secret.Text{childVariable: secret.New("sdk"), "GORACE": secret.New("atexit_sleep_ms=0")},
	}}
}

// connectForReal opens a connection like the program does.
func connectForReal(s upstream.Settings, o Connection) (*upstream.Upstream, error) {
	if o.Protocol != "" {
		s.Protocol = o.Protocol
	}
	return upstream.New(upstream.Options{
		Settings: s, BaseEnv: child.BaseEnv(os.Environ()), Capabilities: o.Capabilities, Incoming: o.Incoming, Announced: o.Announced, Opened: o.Opened,
	})
}

func TestRealServers(t *testing.T) {
	for _, c := range []struct {
		rule   string
		make   func(t *testing.T) sdk
		client Client
	}{
		{"a child and a legacy client", sdkChild, legacy(`{"roots":{}}`)},
		{"a child and a modern client", sdkChild, modernClient(`{"roots":{}}`)},
		{"HTTP and a legacy client", sdkOverHTTP, legacy(`{"roots":{}}`)},
		{"HTTP and a modern client", sdkOverHTTP, modernClient(`{"roots":{}}`)},
	} {
		t.Run(c.rule, func(t *testing.T) {
			server := c.make(t)
			f, err := New(Options{
				Servers: []upstream.Settings{server.settings}, Eager: true, FirstListWait: patience, New: connectForReal,
			})
			if err != nil {
				t.Fatal(err)
			}
			stop := run(t, f)
			defer stop()
			e := &ears{}
			m := f.Join(c.client, e)
			defer m.Leave()
			wantTools(t, m, "sdk::grow")
			conn, err := m.Conn(t.Context(), "sdk")
			if err != nil || conn.Era() != c.client.Era {
				t.Fatalf("Conn: era %s, %v; want %s", conn.Era(), err, c.client.Era)
			}
			for _, uri := range []string{"file:///a", "file:///c", "file:///b"} {
				if err := m.Subscribe(t.Context(), "sdk", uri); err != nil {
					t.Fatalf("Subscribe(%s): %v", uri, err)
				}
			}
			if err := m.Unsubscribe(t.Context(), "sdk", "file:///c"); err != nil {
				t.Fatal(err)
			}
			if c.client.Era == era.Legacy && server.legacy != nil {
				<-server.legacy
			}
			if c.client.Era == era.Modern { // a modern server confirms later
				wantSoon(t, "the third resource is not listened to", func() bool {
					now, _, _ := conn.listens.state()
					// the previous one has ended: two would notify twice
					isAlone := server.modern == nil || server.modern.Load() == 1
					return conn.listens.isHeard() && len(now.filter.uris) == 2 && isAlone
				})
			}
			req := wire.NewRequest(wire.StringID("1"), "tools/call", []byte(`{"name":"grow","arguments":{}}`))
			if reply, err := conn.Call(t.Context(), &req, upstream.CallOptions{}); err != nil || reply.Error != nil {
				t.Fatalf("call: %v %+v", err, reply)
			}
			heard := map[string]int{}
			wantSoon(t, "list changed and two resources are told", func() bool {
				for _, s := range e.all() {
					heard[s[:min(len(s), 14)]]++
				}
				return heard["changed tools"] == 1 && heard["sdk notificati"] >= 2
			})
			if heard["sdk notificati"] != 2 {
				t.Errorf("heard %v", heard)
			}
			all, _ := m.Catalog(t.Context())
			if got := names(t, all); !slices.Equal(got, []string{"sdk::grow", "sdk::more"}) {
				t.Errorf("tools %q", got)
			}
		})
	}
}

// patience is how long a test waits for something that should happen soon.
const patience = time.Minute

// wantSoon waits for a condition that another process brings about.
func wantSoon(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("still not: %s", what)
		}
	}
}
