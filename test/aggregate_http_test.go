package test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Answers to invalid requests.
func TestHTTPRules(t *testing.T) {
	p := start(t, peerConfig(t, "a", "plain"))
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	const modernList = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`
	session := func(version string) string {
		c := httpClient(t, p, "/mcp", version)
		c.open()
		return c.sessionID()
	}
	ended := httpClient(t, p, "/mcp", "2025-11-25")
	ended.open()
	gone := ended.sessionID()
	ended.close()
	modernHeaders := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/list"}
	for _, tc := range []struct {
		rule, verb, path string
		headers          []string
		body             string
		status           int
		want             string // in the body
	}{
		{"a request without a session", "POST", "/mcp", nil, list, 400, ""},
		{"a request of an unknown session", "POST", "/mcp", []string{"Mcp-Session-Id: nobodys"}, list, 404, ""},
		{"a request of a session that has ended", "POST", "/mcp", []string{"Mcp-Session-Id: " + gone}, list, 404, ""},
		{"a stream of a session that has ended", "GET", "/mcp", []string{"Mcp-Session-Id: " + gone}, "", 404, ""},
		{"the end of a session that has ended", "DELETE", "/mcp", []string{"Mcp-Session-Id: " + gone}, "", 404, ""},
		{"a revision that does not exist", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-11-25"), "MCP-Protocol-Version: 1999-01-01"}, list, 400, ""},
		{"a session's request", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-11-25"), "MCP-Protocol-Version: 2025-11-25"}, list, 200, "a::echo"},
		{"a client that takes JSON only", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-11-25"), "Accept: application/json"}, call(1, "a::echo", `{"nonce":"plain"}`), 200, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"plain"}]}}`},
		{"a notification", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-11-25")}, `{"jsonrpc":"2.0","method":"notifications/x"}`, 202, ""},
		{"an answer to nothing", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-11-25")}, `{"jsonrpc":"2.0","id":77,"result":{}}`, 202, ""},
		{"broken JSON", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-11-25")}, `{"jsonrpc":`, 400, "-32700"},
		{"a batch in 2025-03-26", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-03-26")}, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},` + strings.Replace(list, `"id":1`, `"id":2`, 1) + `]`, 200, `"id":2`},
		{"a batch in 2025-11-25", "POST", "/mcp", []string{"Mcp-Session-Id: " + session("2025-11-25")}, `[` + list + `]`, 400, "-32600"},
		{"no such server", "POST", "/mcp/nobody", nil, list, 404, "unknown_server"},
		{"a modern request", "POST", "/mcp", modernHeaders, modernList, 200, "a::echo"},
		{"a modern request to one server", "POST", "/mcp/a", modernHeaders, modernList, 200, `"name":"echo"`},
		{"a modern request with an old session's id", "POST", "/mcp", append([]string{"Mcp-Session-Id: " + gone}, modernHeaders...), modernList, 200, "a::echo"},
		{"a modern request whose header names another method", "POST", "/mcp", []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: prompts/list"}, modernList, 400, "-32020"},
		{"a modern request without headers", "POST", "/mcp", nil, modernList, 400, "-32020"},
		{"a modern call whose header names another tool", "POST", "/mcp", []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: a::raw"}, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a::echo","arguments":{},` + meta + `}}`, 400, "-32020"},
		{"a modern request without capabilities", "POST", "/mcp", modernHeaders, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`, 400, "-32602"},
		{"a modern version that does not exist", "POST", "/mcp", []string{"MCP-Protocol-Version: 2099-01-01", "Mcp-Method: tools/list"}, strings.ReplaceAll(modernList, "2026-07-28", "2099-01-01"), 400, "-32022"},
		{"a modern method that does not exist", "POST", "/mcp", []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: no/such"}, strings.Replace(modernList, "tools/list", "no/such", 1), 404, "-32601"},
		{"a modern stream", "GET", "/mcp", []string{"MCP-Protocol-Version: 2026-07-28"}, "", 405, ""},
		{"the end of a modern session", "DELETE", "/mcp", []string{"MCP-Protocol-Version: 2026-07-28"}, "", 405, ""},
		{"another verb", "PUT", "/mcp", nil, list, 405, ""},
		{"a foreign page", "POST", "/mcp", append([]string{"Origin: http://evil.example"}, modernHeaders...), modernList, 403, ""},
		{"a page of this machine", "POST", "/mcp", append([]string{"Origin: " + p.url}, modernHeaders...), modernList, 200, "a::echo"},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tc.verb, p.url+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			for _, h := range tc.headers {
				name, value, _ := strings.Cut(h, ": ")
				req.Header.Set(name, value)
			}
			a := p.do(t, req)
			if a.status != tc.status || !strings.Contains(a.body, tc.want) {
				t.Errorf("%d %.400s, want %d and %s", a.status, a.body, tc.status, tc.want)
			}
			if kind := a.header.Get("Content-Type"); a.status >= 400 && a.body != "" && strings.HasPrefix(a.body, "{") && kind != "application/json" {
				t.Errorf("a refusal of the type %q", kind)
			}
		})
	}
}

// An answer bigger than any buffer on its way arrives whole, on every transport.
func TestBigAnswers(t *testing.T) {
	config := "[observation_masking.mcp]\nenabled = false\n" + peerConfig(t, "a", "plain")
	p := start(t, config)
	file := configFile(t, patient(config))
	const size = 5_000_000
	check := func(t *testing.T, c *client) {
		t.Helper()
		c.open()
		if got := c.tool("a::big", fmt.Sprintf(`{"bytes":%d}`, size)); len(got) != size {
			t.Errorf("%d bytes, want %d", len(got), size)
		}
	}
	for _, version := range []string{"2025-11-25", modern} {
		t.Run(version+" HTTP", func(t *testing.T) { check(t, httpClient(t, p, "/mcp", version)) })
		t.Run(version+" stdio", func(t *testing.T) {
			c, _ := stdioClient(t, version, file)
			check(t, c)
		})
	}
	t.Run("HTTP+SSE", func(t *testing.T) { check(t, sseClient(t, p, "/mcp")) })
}
