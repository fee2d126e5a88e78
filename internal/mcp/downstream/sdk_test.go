package downstream_test

import (
	"context"
	"io"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
)

// tools is a server with one tool, which reports progress when asked for the long way.
type tools struct{ *toolserver.Server }

func newTools(t *testing.T) tools {
	t.Helper()
	s, err := toolserver.New(toolserver.Options{Name: "tools", Version: "1", Tools: []toolserver.Tool{{
		Name: "echo", Description: "says it again", Schema: `{"type":"object","properties":{"text":{"type":"string"}}}`,
		Call: func(_ context.Context, arguments jsontext.Value) (toolserver.Result, *wire.Error) {
			return toolserver.Result{Text: toolserver.Read(arguments).Text("text")}, nil
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return tools{s}
}

func (s tools) Open(downstream.Opening) downstream.Session { return s }
func (s tools) Stateless() downstream.Session              { return s }
func (s tools) Handle(ctx context.Context, req *wire.Message, x downstream.Exchange) downstream.Answer {
	if token := req.ProgressToken(); token != nil {
		x.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(token) + `,"progress":1}}`))
	}
	return downstream.Answer{Body: s.Serve(ctx, req), Stream: req.Method == "tools/call"}
}
func (tools) Notify(context.Context, *wire.Message, downstream.Exchange) {}
func (tools) Respond(context.Context, *wire.Message)                     {}
func (tools) Close()                                                     {}

func TestClientsOfTheSDK(t *testing.T) {
	server := newTools(t)
	h := build(t, nil, func(o *downstream.HTTPOptions) {
		o.Server = func(string, string) (downstream.Server, error) { return server, nil }
	})
	var pipes sync.WaitGroup
	defer pipes.Wait()
	overPipes := func() mcp.Transport {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		pipes.Go(func() {
			if err := downstream.ServeStdio(t.Context(), inR, outW, downstream.StdioOptions{Server: server, MaxMessageBytes: 1 << 20}); err != nil {
				t.Errorf("ServeStdio: %v", err)
			}
			outW.Close()
		})
		return &mcp.IOTransport{Reader: outR, Writer: inW}
	}
	for _, c := range []struct {
		rule, version string
		over          mcp.Transport
	}{
		{"Streamable HTTP, whatever the newest is", "", &mcp.StreamableClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		{"Streamable HTTP, 2025-11-25", "2025-11-25", &mcp.StreamableClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		{"Streamable HTTP, 2025-03-26", "2025-03-26", &mcp.StreamableClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		{"HTTP+SSE", "2024-11-05", &mcp.SSEClientTransport{Endpoint: h.url, HTTPClient: h.client}},
		{"pipes, whatever the newest is", "", overPipes()},
		{"pipes, 2025-06-18", "2025-06-18", overPipes()},
	} {
		t.Run(c.rule, func(t *testing.T) {
			progress := make(chan struct{}, 10)
			client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { progress <- struct{}{} },
			})
			session, err := client.Connect(t.Context(), c.over, &mcp.ClientSessionOptions{ProtocolVersion: c.version})
			if err != nil {
				t.Fatal(err)
			}
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 1 {
				t.Fatalf("tools/list: %v, %v", list, err)
			}
			params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}}
			params.SetProgressToken("token")
			got, err := session.CallTool(t.Context(), params)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(got.Content, func(c mcp.Content) bool {
				text, ok := c.(*mcp.TextContent)
				return ok && text.Text == "hello"
			}) {
				t.Errorf("%+v", got.Content)
			}
			within(t, "progress", progress)
			if err := session.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}
