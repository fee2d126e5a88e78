package test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a Go SDK server, reached over Streamable HTTP.
type remote struct {
	*httptest.Server
	handler atomic.Pointer[mcp.StreamableHTTPHandler]
	calls   atomic.Int64
	servers []*mcp.Server // of every life so far
}

func startRemote(t *testing.T) *remote {
	t.Helper()
	r := &remote{}
	r.forget()
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { r.handler.Load().ServeHTTP(w, req) }))
	t.Cleanup(func() {
		for _, server := range r.servers {
			for session := range server.Sessions() {
				_ = session.Close() // nothing else ends them
			}
		}
		r.CloseClientConnections() // standing streams
		r.Close()
	})
	return r
}

// forget recreates the server: existing sessions become unknown.
func (r *remote) forget() {
	server := mcp.NewServer(&mcp.Implementation{Name: "remote", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "count"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return said(fmt.Sprintf("call %d", r.calls.Add(1))), nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "hang-up"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
		time.Sleep(100 * time.Millisecond) // the client has to come back for the answer
		return said("worth coming back"), nil, nil
	})
	r.servers = append(r.servers, server)
	r.handler.Store(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)}))
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// A server may close the stream of a call and be asked again for the rest.
func TestAServerThatHangsUpIsAskedAgain(t *testing.T) {
	r := startRemote(t)
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"remote\"\nurl = %q\n", r.URL))
	for _, version := range []string{"2025-11-25", modern} {
		c := httpClient(t, p, "/mcp", version)
		c.open()
		if got := c.tool("remote::hang-up", `{}`); got != "worth coming back" {
			t.Errorf("%s: %q", version, got)
		}
	}
}

// A session that the server has forgotten is reopened, and the call that found out is made once.
func TestALostSessionIsOpenedAnew(t *testing.T) {
	r := startRemote(t)
	p := start(t, fmt.Sprintf("[[servers]]\nid = \"remote\"\nurl = %q\n", r.URL))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	for i := range 3 {
		if got, want := c.tool("remote::count", `{}`), fmt.Sprintf("call %d", i+1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		r.forget()
	}
}

// A server that is absent at first is used once it is there.
func TestAServerThatComesLater(t *testing.T) {
	r := startRemote(t)
	addr := freePort(t)
	p := start(t, "first_list_wait = 1\n"+fmt.Sprintf("[[servers]]\nid = \"remote\"\nurl = \"http://%s/\"\n", addr)+peerConfig(t, "good", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	if m := c.call("tools/call", `{"name":"remote::count","arguments":{}}`); m.Error == nil {
		t.Errorf("a call to a server that is not there: %.300s", m.raw)
	}
	late := &http.Server{Addr: addr, Handler: r.Config.Handler, ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() { defer close(served); _ = late.ListenAndServe() }() // ended below
	t.Cleanup(func() { _ = late.Close(); <-served })
	waitForListener(t, addr)
	eventually(t, time.Minute, "its tool works", func() bool {
		return c.call("tools/call", `{"name":"remote::count","arguments":{}}`).Error == nil
	})
}
