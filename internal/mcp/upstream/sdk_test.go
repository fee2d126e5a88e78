package upstream

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"secateur/internal/mcp/era"
)

// sdkServer is a real server of the SDK with one tool.
func sdkServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk-server", Version: "1.2.3"}, &mcp.ServerOptions{Instructions: "be kind"})
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, a in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}}, nil, nil
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

func TestRealServers(t *testing.T) {
	handler := func(opt *mcp.StreamableHTTPOptions) func(t *testing.T) Settings {
		return func(t *testing.T) Settings {
			t.Helper()
			s := sdkServer()
			h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, opt))
			t.Cleanup(func() {
				h.CloseClientConnections()
				h.Close()
			})
			return Settings{ID: "sdk", URL: h.URL, StartupTimeout: patience, ResponseTimeout: patience}
		}
	}
	stdio := func(t *testing.T) Settings {
		t.Helper()
		s := childSettings(t, "sdk")
		s.ID = "sdk"
		return s
	}
	for _, c := range []struct {
		rule     string
		settings func(t *testing.T) Settings
		protocol string
		era      era.Era
		version  string
	}{
		{"a child, legacy", stdio, ProtocolLegacy, era.Legacy, era.LatestLegacy},
		{"a child, auto", stdio, ProtocolAuto, era.Legacy, era.LatestLegacy},
		{"a child, modern", stdio, ProtocolModern, era.Modern, era.LatestModern},
		{"HTTP with streams, auto", handler(nil), ProtocolAuto, era.Legacy, era.LatestLegacy},
		{"HTTP with JSON, auto", handler(&mcp.StreamableHTTPOptions{JSONResponse: true}), ProtocolAuto, era.Legacy, era.LatestLegacy},
		{"HTTP without sessions, legacy", handler(&mcp.StreamableHTTPOptions{Stateless: true}), ProtocolLegacy, era.Legacy, era.LatestLegacy},
		{"HTTP without sessions, modern", handler(&mcp.StreamableHTTPOptions{Stateless: true}), ProtocolModern, era.Modern, era.LatestModern},
		{"HTTP without sessions, modern, JSON", handler(&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}), ProtocolModern, era.Modern, era.LatestModern},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			s := c.settings(t)
			s.Protocol = c.protocol
			u := start(t, Options{Settings: s, HealthInterval: 20 * time.Millisecond, HealthTimeout: patience})
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					text := fmt.Sprintf("é%d", i)
					wantText(t, u, toolCall(t, "1", "echo", `{"text":"`+text+`"}`), CallOptions{}, text)
				})
			}
			wg.Wait()
			reply, err := u.Call(t.Context(), message(t, `{"jsonrpc":"2.0","id":"l","method":"tools/list"}`))
			if err != nil || !strings.Contains(string(reply.Result), `"echo"`) {
				t.Errorf("tools/list: %v, %+v", err, reply)
			}
			reply, err = u.Call(t.Context(), message(t, `{"jsonrpc":"2.0","id":"l","method":"no/such"}`))
			if err == nil && !strings.Contains(string(reply.Error), `-32601`) {
				t.Errorf("no/such: %s", reply.Error)
			}
			p, err := u.Peer(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if p.Era != c.era || p.Protocol != c.version || p.ServerName != "sdk-server" {
				t.Errorf("Peer = %s %s %q", p.Era, p.Protocol, p.ServerName)
			}
			for _, want := range []string{`"version":"1.2.3"`, `"tools"`, `"be kind"`} {
				if !strings.Contains(string(p.InitializeResult()), want) || !strings.Contains(string(p.DiscoverResult()), want) {
					t.Errorf("lacks %s: %s %s", want, p.InitializeResult(), p.DiscoverResult())
				}
			}
			if st := u.Status(); st.State != Ready || st.Restarts != 0 || st.LastError != "" {
				t.Errorf("Status = %+v", st)
			}
		})
	}
}
