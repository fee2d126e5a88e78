package pruner_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/prune/pruner"
)

// serveHTTP serves the pruner's two routes on a free port.
func serveHTTP(tb testing.TB, s *pruner.Server) string {
	tb.Helper()
	mux := http.NewServeMux()
	mux.Handle("/rpc", s)
	mux.HandleFunc("/health", s.ServeHealth)
	web := httptest.NewServer(mux)
	tb.Cleanup(web.Close)
	return web.URL
}

const (
	plainList   = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	modernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	modernList  = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`
	modernCheck = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"health",` + modernMeta + `}}`
)

func TestHTTP(t *testing.T) {
	url := serveHTTP(t, newServer(t, func(o *pruner.Options) { o.MaxMessageBytes = 4096 }))
	const v = "MCP-Protocol-Version: "
	for _, c := range []struct {
		name    string
		headers string // lines
		body    string
		status  int
		code    int // of the JSON-RPC error; 0: a result
	}{
		{"plain JSON-RPC", "", plainList, 200, 0},
		{"what curl sends of itself", "Content-Type: application/x-www-form-urlencoded", plainList, 200, 0},
		{"white space around", "", " \r\n" + plainList + "\n", 200, 0},
		{"an unknown method", "", `{"jsonrpc":"2.0","id":1,"method":"x"}`, 200, -32601},
		{"bad arguments", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prune_text"}}`, 200, -32602},
		{"an unknown id", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":"x","ranges":[{"start_line":1,"end_line":1}],"include_line_numbers":false}}}`, 200, -32004},
		{"broken JSON", "", `{"jsonrpc":`, 400, -32700},
		{"nothing at all", "", ``, 400, -32700},
		{"no JSON-RPC", "", `{"id":1,"method":"ping"}`, 400, -32600},
		{"a batch", "", `[` + plainList + `]`, 400, -32600},
		{"a name twice", "", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, 400, -32600},
		{"a response", "", `{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600},
		{"too large", "", plainList + strings.Repeat(" ", 5000), 413, -32600},
		{"compressed", "Content-Encoding: gzip", plainList, 415, -32600},

		{"a legacy revision", v + "2025-06-18", plainList, 200, 0},
		{"a revision nobody speaks", v + "2031-01-01", plainList, 400, -32022},
		{"a legacy revision that the body denies", v + "2025-06-18", modernList, 400, -32020},
		{"a modern body without headers is plain JSON-RPC", "", modernList, 200, 0},

		{"modern", v + "2026-07-28\nMcp-Method: tools/list", modernList, 200, 0},
		{"modern, no method", v + "2026-07-28", modernList, 400, -32020},
		{"modern, another method", v + "2026-07-28\nMcp-Method: tools/call", modernList, 400, -32020},
		{"modern, no version in the body", v + "2026-07-28\nMcp-Method: tools/list", plainList, 400, -32602},
		{"modern, another version in the body", v + "2026-07-28\nMcp-Method: tools/list", strings.Replace(modernList, "2026-07-28", "2025-11-25", 1), 400, -32020},
		{"modern, an unknown method", v + "2026-07-28\nMcp-Method: x", strings.Replace(modernList, "tools/list", "x", 1), 404, -32601},
		{"modern, no ping", v + "2026-07-28\nMcp-Method: ping", strings.Replace(modernList, "tools/list", "ping", 1), 404, -32601},
		{"modern, a call", v + "2026-07-28\nMcp-Method: tools/call\nMcp-Name: health", modernCheck, 200, 0},
		{"modern, a call with its name in base64", v + "2026-07-28\nMcp-Method: tools/call\nMcp-Name: =?base64?aGVhbHRo?=", modernCheck, 200, 0},
		{"modern, a call without a name", v + "2026-07-28\nMcp-Method: tools/call", modernCheck, 400, -32020},
		{"modern, a call of another name", v + "2026-07-28\nMcp-Method: tools/call\nMcp-Name: prune_text", modernCheck, 400, -32020},
		{"modern, a name in broken base64", v + "2026-07-28\nMcp-Method: tools/call\nMcp-Name: =?base64?%%?=", modernCheck, 400, -32020},
		{"modern, bad arguments", v + "2026-07-28\nMcp-Method: tools/call\nMcp-Name: prune_text", strings.Replace(modernCheck, "health", "prune_text", 1), 400, -32602},
		{"modern, no client", v + "2026-07-28\nMcp-Method: tools/list", strings.Replace(modernList, `,"io.modelcontextprotocol/clientCapabilities":{}`, "", 1), 400, -32602},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, body := post(t, url+"/rpc", c.headers, c.body)
			var answer struct {
				Error struct {
					Code int `json:"code"`
				} `json:"error"`
				Result json.RawMessage `json:"result"`
			}
			if err := json.Unmarshal(body, &answer); err != nil {
				t.Fatalf("%v: %s", err, body)
			}
			if resp.StatusCode != c.status || answer.Error.Code != c.code || (c.code == 0) != (answer.Result != nil) {
				t.Errorf("%d %s, want %d with code %d", resp.StatusCode, body, c.status, c.code)
			}
			if got := resp.Header.Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type %q", got)
			}
			if resp.Header.Get("Mcp-Session-Id") != "" {
				t.Error("a session was begun")
			}
		})
	}
}

func post(tb testing.TB, url, headers, body string) (*http.Response, []byte) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.SplitSeq(headers, "\n") {
		if name, value, ok := strings.Cut(line, ": "); ok {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp, out
}

func TestHTTPNotificationsAreAccepted(t *testing.T) {
	url := serveHTTP(t, newServer(t, nil))
	for _, headers := range []string{"", "MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: 2026-07-28\nMcp-Method: notifications/initialized"} {
		resp, body := post(t, url+"/rpc", headers, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		if resp.StatusCode != http.StatusAccepted || len(body) != 0 {
			t.Errorf("%q: %d %q", headers, resp.StatusCode, body)
		}
	}
}

func TestHTTPHasNoStreamAndNoSession(t *testing.T) {
	url := serveHTTP(t, newServer(t, nil))
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodOptions} {
		req, _ := http.NewRequestWithContext(t.Context(), method, url+"/rpc", nil)
		req.Header.Set("Accept", "text/event-stream")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
}

func TestHealth(t *testing.T) {
	s := newServer(t, func(o *pruner.Options) { o.Now = noon.UTC })
	url := serveHTTP(t, s)
	resp, err := http.Get(url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	const want = `{"status":"healthy","server":"mcp-pruner","version":"v9.9","capabilities":["prune_text","recover_text","annotations","markers"],"timestamp":"2026-02-26T12:00:00+00:00"}`
	if resp.StatusCode != http.StatusOK || string(body) != want {
		t.Errorf("%d %s\nwant %s", resp.StatusCode, body, want)
	}
	if got := string(ask(t, s, `{"jsonrpc":"2.0","id":1,"method":"health"}`).Result); got != want {
		t.Errorf("the method health answers %s", got)
	}
	var tool map[string]any
	result(t, call(t, s, "health", `{}`), &tool)
	if tool["status"] != "healthy" || tool["server"] != "mcp-pruner" {
		t.Errorf("the tool health answers %v", tool)
	}
	if resp, _ := post(t, url+"/health", "", "{}"); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /health: %d", resp.StatusCode)
	}
}

func TestHTTPClientThatStopsHalfway(t *testing.T) {
	s := newServer(t, nil)
	body := io.MultiReader(strings.NewReader(plainList[:20]), errReader{})
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/rpc", body))
	if rec.Code != 400 || !strings.Contains(rec.Body.String(), "-32600") {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
