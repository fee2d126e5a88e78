package era_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"secateur/internal/mcp/era"
)

const peerSchema = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},"count":{"type":"integer","x-mcp-header":"my-Count"},
	"flag":{"type":"boolean","x-mcp-header":"Flag"},"plain":{"type":"string"},
	"deep":{"type":"object","properties":{"er":{"type":"string","x-mcp-header":"Deep-Er"}}}}}`

// TestHeadersOfAnotherImplementation records the requests between another implementation's client
// and server. Each request has the headers that we would send and passes our check. The server also
// accepts the requests with our headers.
func TestHeadersOfAnotherImplementation(t *testing.T) {
	headers, err := era.ReadToolHeaders([]byte(`{"name":"t","inputSchema":` + peerSchema + `}`))
	if err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "t", InputSchema: json.RawMessage(peerSchema)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "ok"}}}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	var mu sync.Mutex
	calls := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "tools/call" {
			mu.Lock()
			calls++
			mu.Unlock()
			if problem := passOn(r, headers); problem != "" {
				t.Error(problem)
			}
		}
		handler.ServeHTTP(w, r)
	}))
	defer front.Close()

	client := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: front.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	arguments := []string{
		`{"region":"us-west1","count":42,"flag":true,"deep":{"er":"x y"},"plain":"p"}`,
		`{"region":"Hello, 世界","count":-7,"flag":false}`,
		`{"region":" padded ","deep":{"er":"=?base64?literal?="}}`,
		`{"region":"line1\r\nline2","count":9007199254740991}`,
		`{"plain":"nothing to repeat"}`,
		`{}`,
	}
	for _, a := range arguments {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "t", Arguments: json.RawMessage(a)})
		if err != nil || result.IsError {
			t.Errorf("call with %s: %+v, %v", a, result, err)
		}
	}
	if calls != len(arguments) {
		t.Errorf("%d calls went by, want %d", calls, len(arguments))
	}
}

// passOn compares the headers of a call with ours and replaces them with ours.
func passOn(r *http.Request, headers *era.ToolHeaders) string {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var call struct {
		Params struct {
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		return err.Error()
	}
	get := func(name string) (string, bool) { v := r.Header.Values(name); return r.Header.Get(name), len(v) > 0 }
	if problem := headers.Check(call.Params.Arguments, get); problem != "" {
		return "Check of " + string(body) + ": " + problem
	}
	for _, h := range headers.Of(call.Params.Arguments) {
		if got := r.Header.Get(h.Name); got != era.EncodeHeader(h.Value) {
			return "the client sends " + h.Name + " " + got + ", we would " + era.EncodeHeader(h.Value)
		}
		r.Header.Del(h.Name)
		r.Header.Set(h.Name, era.EncodeParam(h.Value))
	}
	return ""
}
