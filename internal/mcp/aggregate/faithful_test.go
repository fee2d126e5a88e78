package aggregate_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/mcp/upstream"
)

const (
	goodTool = `{"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`
	badTool  = `{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}}`
	taskTool = `{"name":"task","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`
)

func listing(tools ...string) map[string]json.RawMessage {
	return map[string]json.RawMessage{"tools/list": json.RawMessage(`{"tools":[` + strings.Join(tools, ",") + `]}`)}
}

// A tool whose x-mcp-header is invalid is listed at neither door, and not called.
func TestToolsWithInvalidHeadersAreNotOffered(t *testing.T) {
	for _, only := range []string{"", "a"} {
		p := newPuppet(t, nature{ID: "a", Lists: listing(goodTool, badTool)})
		c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, only: only})
		prefix := "a::"
		if only != "" {
			prefix = ""
		}
		c.asks(t, "initialize", helloT)
		if listed := c.asks(t, "tools/list", `{}`); !strings.Contains(listed, prefix+"good") || strings.Contains(listed, "bad") {
			t.Errorf("door %q lists %s", only, listed)
		}
		if only != "" {
			continue // a call that comes before the list is known is passed on
		}
		if got := c.asks(t, "tools/call", `{"name":"`+prefix+`bad"}`); !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, "x-mcp-header") {
			t.Errorf("door %q: %s", only, got)
		}
		if strings.Contains(p.sent(), "tools/call") {
			t.Errorf("door %q: the server was called", only)
		}
	}
}

// Tools that can be called as tasks only are listed to clients of the revision that has tasks, which
// are told that tasks can be used.
func TestTaskToolsAreHiddenFromClientsWithoutTasks(t *testing.T) {
	for version, has := range map[string]bool{"2025-11-25": true, "2025-06-18": false} {
		c := newPipeClient(t, doorOptions{puppets: []*puppet{newPuppet(t, nature{ID: "a", Lists: listing(goodTool, taskTool)})}})
		said := c.asks(t, "initialize", `{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		if strings.Contains(said, `"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}`) != has {
			t.Errorf("%s: %s", version, said)
		}
		if listed := c.asks(t, "tools/list", `{}`); !strings.Contains(listed, "a::good") || strings.Contains(listed, "a::task") != has {
			t.Errorf("%s: %s", version, listed)
		}
	}
}

// The door of one server answers with that server's protocol version, if it is older.
func TestTheDoorOfAServerHasItsVersion(t *testing.T) {
	for server, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-11-25": "2025-06-18"} {
		c := newPipeClient(t, doorOptions{puppets: []*puppet{newPuppet(t, nature{ID: "a", Version: server})}, only: "a"})
		said := c.asks(t, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
		if !strings.Contains(said, `"protocolVersion":"`+want+`"`) {
			t.Errorf("a server of %s: %s", server, said)
		}
	}
}

// A legacy server's HTTP 400 in plain text to a method that it does not know is "method not found"
// for a modern client.
func TestPlainRefusalOfAnUnknownMethodIsMethodNotFound(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e envelope
		_ = json.Unmarshal(body, &e)
		switch e.Method {
		case "initialize":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, e.ID)
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
		default:
			http.Error(w, "Bad Request: unknown method", http.StatusBadRequest)
		}
	}))
	t.Cleanup(web.Close)
	c := newPipeClient(t, doorOptions{servers: []upstream.Settings{{ID: "s", URL: web.URL, Protocol: upstream.ProtocolLegacy}}, only: "s"})
	const meta = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}`
	if got := c.asks(t, "vendor/thing", meta); !strings.Contains(got, `"code":-32601`) {
		t.Errorf("an unknown method: %s", got)
	}
	if got := c.asks(t, "prompts/list", meta); strings.Contains(got, `"code":-32601`) {
		t.Errorf("a method of MCP: %s", got)
	}
}
