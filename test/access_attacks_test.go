package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// raw sends bytes unchanged and returns the answer until the connection ends.
func (p *program) raw(t *testing.T, request string) string {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(bufio.NewReader(conn))
	return string(got)
}

// Credentials count only in their place: not in trailers, not after a protocol switch, not in
// headers that proxies write.
func TestCredentialsCountInTheirPlaceOnly(t *testing.T) {
	p := start(t, "[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n[store]\nurl = \"memory:\"\n"+tokenRow("dev", "token-of-dev", ""))
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n", len(list), list)
	for _, path := range []string{"/api/mcp-gateway/demo/rpc", "/mcp", "/mcp/demo", "/rpc", "/v1/chat/completions", "/api/v1/status"} {
		method := "POST "
		if path == "/api/v1/status" {
			method = "GET "
		}
		head := method + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
		for name, request := range map[string]string{
			"trailers": head + "Transfer-Encoding: chunked\r\nTrailer: Authorization, X-Secateur-Token\r\n\r\n" + chunked +
				"Authorization: Bearer token-of-dev\r\nX-Secateur-Token: token-of-dev\r\n\r\n",
			"trailers without notice": head + "Transfer-Encoding: chunked\r\n\r\n" + chunked + "X-Secateur-Token: token-of-dev\r\n\r\n",
			"upgrade to h2c":          head + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\nContent-Length: 0\r\n\r\n",
			"two tokens":              head + "Authorization: Bearer token-of-dev\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n",
			"two tokens of ours":      head + "X-Secateur-Token: token-of-dev\r\nX-Secateur-Token: wrong\r\nContent-Length: 0\r\n\r\n",
			"a header of a proxy": head + "X-Forwarded-For: 127.0.0.1\r\nX-Real-Ip: 127.0.0.1\r\nForwarded: for=127.0.0.1;by=127.0.0.1\r\nX-Forwarded-User: admin\r\n" +
				"X-Remote-User: admin\r\nX-Forwarded-Client-Cert: URI=spiffe://corp/agents/one\r\nContent-Length: 0\r\n\r\n",
			"a header that folds": head + "X-Other: a\r\n Authorization: Bearer token-of-dev\r\nContent-Length: 0\r\n\r\n",
		} {
			got := p.raw(t, request)
			if status, _, _ := strings.Cut(got, "\r\n"); !strings.HasPrefix(status, "HTTP/1.1 401") {
				t.Errorf("%s at %s: %s", name, path, got)
			}
		}
	}
	if got := p.raw(t, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); strings.Contains(got, "\x00") || got != "" && !strings.HasPrefix(got, "HTTP/1.1 4") {
		t.Errorf("HTTP/2 without TLS: %q", got)
	}
}

// Headers that proxies write change neither the host nor the origin of a request, nor whose limit
// it counts against.
func TestForwardedHeadersChangeNoJudgement(t *testing.T) {
	p := start(t, "rate_limit_per_minute = 3\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n[store]\nurl = \"memory:\"\n"+tokenRow("dev", "token-of-dev", ""))
	say := func(host, origin string, headers ...string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/api/mcp-gateway/demo/rpc", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer token-of-dev")
		if host != "" {
			req.Host = host
		}
		if origin != "" {
			req.Header.Set("Origin", origin)
		}
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		return p.do(t, req).status
	}
	if got := say("evil.example", "", "X-Forwarded-Host", "127.0.0.1", "Forwarded", "host=127.0.0.1", "X-Original-Host", "127.0.0.1"); got != http.StatusForbidden {
		t.Errorf("a foreign host: %d", got)
	}
	if got := say("", "https://evil.example", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https", "Forwarded", "host=evil.example;proto=https"); got != http.StatusForbidden {
		t.Errorf("a foreign origin: %d", got)
	}
	for i := range 4 {
		want := http.StatusOK
		if i == 3 {
			want = http.StatusTooManyRequests
		}
		if got := say("", "", "X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i), "Forwarded", fmt.Sprintf("for=192.0.2.%d", i)); got != want {
			t.Errorf("call %d: %d, want %d", i+1, got, want)
		}
	}
}

// A caller cannot hear or replay the streams of another's session.
func TestStreamsOfOthersCannotBeHeardNorReplayed(t *testing.T) {
	p := start(t, "[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n[store]\nurl = \"memory:\"\n"+tokenRow("alice", "token-of-alice", "")+tokenRow("bob", "token-of-bob", ""))
	session := func(token string) string {
		a := p.as(t, token, "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		return a.header.Get("Mcp-Session-Id")
	}
	alices, bobs := session("token-of-alice"), session("token-of-bob")
	got := p.as(t, "token-of-alice", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo::read_log"}}`, "Mcp-Session-Id", alices, "Mcp-Protocol-Version", "2025-11-25")
	event := ""
	for line := range strings.Lines(got.body) {
		if id, ok := strings.CutPrefix(line, "id: "); ok && event == "" {
			event = strings.TrimSpace(id)
		}
	}
	if event == "" {
		t.Fatalf("an answer without an event to come back to: %s", got.body)
	}
	listen := func(token, session, event string) answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/mcp", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer " + token, "Accept": "text/event-stream", "Mcp-Session-Id": session, "Last-Event-Id": event} {
			if value != "" && value != "Bearer " {
				req.Header.Set(name, value)
			}
		}
		return p.do(t, req)
	}
	const none = "0000000000000000000000000000"
	for name, c := range map[string]struct{ token, session, event, unknown string }{
		"another's session":                     {"token-of-bob", alices, "", none},
		"another's session and event":           {"token-of-bob", alices, event, none},
		"another's session, without a token":    {"", alices, event, none},
		"another's session, with a wrong token": {"guess", alices, event, none},
	} {
		theft, unknown := listen(c.token, c.session, c.event), listen(c.token, c.unknown, c.event)
		if theft.status < 400 || theft.status != unknown.status || theft.body != unknown.body {
			t.Errorf("%s: %d %s, want what an unknown one gives: %d %s", name, theft.status, theft.body, unknown.status, unknown.body)
		}
	}
	if got := listen("token-of-bob", bobs, event); got.status < 400 && strings.Contains(got.body, "read_log") || strings.Contains(got.body, `"result"`) {
		t.Errorf("another's event in one's own session: %d %s", got.status, got.body)
	}
	if got := listen("token-of-alice", alices, event); got.status >= 400 {
		t.Errorf("one's own: %d %s", got.status, got.body)
	}
}

// dripping is a Streamable HTTP server that sends its events byte by byte, and one event in several
// data lines.
func dripping(t *testing.T, secret string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Meta struct {
					ProgressToken json.RawMessage `json:"progressToken"`
				} `json:"_meta"`
			} `json:"params"`
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answers := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"drip","version":"1"}}`,
			"tools/list": `{"tools":[{"name":"tell","inputSchema":{"type":"object"}}]}`,
		}
		switch {
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case m.Method == "server/discover":
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
			return
		case m.Method != "tools/call":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answers[m.Method])
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		escaped := strings.Replace(secret, "s", `\u0073`, 1)
		for _, event := range []string{
			"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"log " + secret + "\"}}\n\n",
			"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\n" +
				"data: \"params\":{\"progressToken\":" + string(m.Params.Meta.ProgressToken) + ",\"progress\":1,\"message\":\"" + escaped + "\"}}\r\n\r\n",
			": comment\ndata: {\"jsonrpc\":\"2.0\",\"id\":" + string(m.ID) + ",\ndata: \"result\":{\"content\":[{\"type\":\"text\",\"text\":\"it is " + secret + " and " + escaped + "\"},\n" +
				"data: {\"type\":\"text\",\"text\":\"{\\\"password\\\":\\\"open sesame\\\"}\"}]}}\n\n",
		} {
			for i := range len(event) {
				_, _ = io.WriteString(w, event[i:i+1])
				w.(http.Flusher).Flush()
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Redaction works in streams too, wherever their pieces begin and end.
func TestRedactionInStreams(t *testing.T) {
	const secret = "sk-abcdefgh12345"
	p := start(t, "[[servers]]\nid = \"drip\"\nurl = \""+dripping(t, secret)+"\"\nstartup_timeout = 60\n[store]\nurl = \"memory:\"\n[[acl]]\naction = \"redact\"\nfields = [\"password\"]\npatterns = [\"sk-[a-z0-9]{8,}\"]\n"+
		tokenRow("dev", "token-of-dev", ""))
	for _, d := range hidingDoors {
		prefix := strings.ReplaceAll(d.prefix, "%s", "drip")
		params := `"name":"` + prefix + `tell","arguments":{}`
		if !d.modern {
			params += `,"_meta":{"progressToken":7}`
		}
		got := d.say(t, p, "token-of-dev", "drip", d.open(t, p, "token-of-dev", "drip"), "tools/call", params)
		if strings.Contains(got, "abcdefgh12345") || strings.Contains(got, "sesame") || strings.Count(got, "[redacted]") < 3 || !strings.Contains(got, "it is [redacted] and [redacted]") {
			t.Errorf("%s: %s", d.name, got)
		}
		if d.legacy && !strings.Contains(got, "notifications/progress") {
			t.Errorf("%s: progress is not told: %s", d.name, got)
		}
	}
}
