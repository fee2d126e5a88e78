package test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// modernMeta makes a message one of revision 2026-07-28.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// Denied things get the same words as absent ones, and nothing shows which servers have them.
func TestDeniedThingsAnswerAsThoseThatAreNotThere(t *testing.T) {
	l := newListener(t)
	p := start(t, `[[servers]]
id = "demo"
builtin = "demo"
[[servers]]
id = "twin"
builtin = "demo"
[[servers]]
id = "off"
builtin = "demo"
disabled = true
[[servers]]
id = "files"
url = "`+l.URL+`"
transport = "rpc"
[store]
url = "memory:"
[[acl]]
server = ["twin", "off"]
action = "deny"
[[acl]]
tool = "read_log"
prompt = "secret"
resource = "file:///srv/secret"
action = "deny"
`+tokenRow("dev", "token-of-dev", ""))
	say := func(method, params string) answer {
		name := ""
		if _, rest, ok := strings.Cut(params, `"name":"`); ok && method != "completion/complete" {
			name, _, _ = strings.Cut(rest, `"`)
		}
		headers := []string{"Accept", "application/json", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
		if _, rest, ok := strings.Cut(params, `"uri":"`); ok && name == "" && method != "completion/complete" {
			name, _, _ = strings.Cut(rest, `"`)
		}
		if name != "" {
			headers = append(headers, "Mcp-Name", name)
		}
		return p.as(t, "token-of-dev", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+`,`+modernMeta+`}}`, headers...)
	}
	for _, c := range []struct{ method, denied, name, none string }{
		{"tools/call", `"name":"demo::read_log","arguments":{}`, "demo::read_log", "nope::read_log"},
		{"tools/call", `"name":"demo__read_log","arguments":{}`, "demo__read_log", "dumb__read_log"},
		{"tools/call", `"name":"twin::read_source","arguments":{}`, "twin::read_source", "none::read_source"},
		{"tools/call", `"name":"off::read_source","arguments":{}`, "off::read_source", "nil::read_source"},
		// demo's and twin's.
		{"tools/call", `"name":"read_source","arguments":{}`, "read_source", "read_sauces"},
		{"prompts/get", `"name":"demo::secret"`, "demo::secret", "nope::secret"},
		{"resources/read", `"uri":"proxy://resource/eyJzZXJ2ZXIiOiJmaWxlcyIsInVyaSI6ImZpbGU6Ly8vc3J2L3NlY3JldC9hIn0="`, "proxy://resource/eyJzZXJ2ZXIiOiJmaWxlcyIsInVyaSI6ImZpbGU6Ly8vc3J2L3NlY3JldC9hIn0=", "proxy://resource/none"},
		{"completion/complete", `"ref":{"type":"ref/prompt","name":"demo::secret"},"argument":{"name":"a","value":""}`, "demo::secret", "nope::secret"},
		{"vendor/open", `"name":"demo::read_log"`, "demo::read_log", "nope::read_log"},
		{"vendor/open", `"name":"files::open","uri":"file:///srv/secret/a"`, "files::open", "nope::open"},
	} {
		denied, none := say(c.method, c.denied), say(c.method, strings.Replace(c.denied, c.name, c.none, 1))
		if want := strings.ReplaceAll(none.body, c.none, c.name); denied.status != none.status || denied.body != want || !strings.Contains(denied.body, `"error"`) {
			t.Errorf("%s of %s:\n%d %s, want what an unknown one gives:\n%d %s", c.method, c.name, denied.status, denied.body, none.status, want)
		}
	}
	if got := bytes.Join(l.take(), []byte("\n")); bytes.Contains(got, []byte("secret")) {
		t.Errorf("what is denied reached the server: %s", got)
	}
	if a := say("tools/call", `"name":"demo::read_source","arguments":{}`); a.status != http.StatusOK || !strings.Contains(a.body, `"result"`) {
		t.Errorf("what is allowed: %d %.300s", a.status, a.body)
	}
}

// A server that is hidden from a caller, enabled or not, answers like an absent one at each of its
// addresses. It is never named.
func TestHiddenServersAnswerAsThoseThatAreNotThere(t *testing.T) {
	p := start(t, `[[servers]]
id = "demo"
builtin = "demo"
[[servers]]
id = "twin"
builtin = "demo"
[[servers]]
id = "offs"
builtin = "demo"
disabled = true
[store]
url = "memory:"
[[acl]]
role = "dev"
server = ["twin", "offs"]
action = "deny"
`+tokenRow("dev", "token-of-dev", "")+"roles = [\"dev\"]\n"+tokenRow("lead", "token-of-lead", "")+"roles = [\"dev\", \"admin\"]\n")
	const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{%s"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	const inMessage = `"proxy":{"authToken":"token-of-dev"},`
	modern := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list"}
	for name, c := range map[string]struct {
		method, path, token, body string
		headers                   []string
	}{
		"gateway":             {"POST", "/api/mcp-gateway/%s/rpc", "token-of-dev", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil},
		"initialize":          {"POST", "/mcp/%s", "token-of-dev", strings.Replace(greeting, "%s", "", 1), nil},
		"initialize, message": {"POST", "/mcp/%s", "", strings.Replace(greeting, "%s", inMessage, 1), nil},
		"modern":              {"POST", "/mcp/%s", "token-of-dev", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`, modern},
		"modern, message":     {"POST", "/mcp/%s", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + inMessage + modernMeta + `}}`, modern},
		"modern, wrong token": {"POST", "/mcp/%s", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"proxy":{"authToken":"guess"},` + modernMeta + `}}`, modern},
		"without a session":   {"POST", "/mcp/%s", "token-of-dev", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil},
		"without anything":    {"POST", "/mcp/%s", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil},
		"stream":              {"GET", "/mcp/%s", "token-of-dev", "", nil},
		"stream of a session": {"GET", "/mcp/%s", "token-of-dev", "", []string{"Mcp-Session-Id", "0000000000000000000000000000"}},
		"stranger's stream":   {"GET", "/mcp/%s", "", "", nil},
		"end":                 {"DELETE", "/mcp/%s", "token-of-dev", "", nil},
	} {
		say := func(server string) string {
			req, err := http.NewRequestWithContext(t.Context(), c.method, p.url+strings.Replace(c.path, "%s", server, 1), strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			if c.token != "" {
				req.Header.Set("Authorization", "Bearer "+c.token)
			}
			for i := 0; i < len(c.headers); i += 2 {
				req.Header.Set(c.headers[i], c.headers[i+1])
			}
			a := p.do(t, req)
			if a.status < 400 || strings.Contains(strings.Replace(a.body, server, "", 1), "twin") || strings.Contains(strings.Replace(a.body, server, "", 1), "offs") {
				t.Errorf("%s at %s: %d %s", name, server, a.status, a.body)
			}
			return strings.ReplaceAll(fmt.Sprint(a.status, a.header.Get("Content-Type"), a.header.Get("Www-Authenticate"), a.body), server, "SERVER")
		}
		none := say("none")
		for _, hidden := range []string{"twin", "offs"} {
			if got := say(hidden); got != none {
				t.Errorf("%s at %s: %s\nat one that there is not: %s", name, hidden, got, none)
			}
		}
	}
	if a := p.as(t, "token-of-lead", "/mcp/twin", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`, modern...); a.status != http.StatusForbidden || !strings.Contains(a.body, `"rule":"acl-1"`) {
		t.Errorf("to who may know: %d %s", a.status, a.body)
	}
}
