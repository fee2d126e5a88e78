package test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/config"
)

// With rules, look-alikes of denied names reach no server, and completions reveal nothing below a
// denied prefix. A server without anything for the caller is invisible.
func TestWhatRulesHideIsNotFoundBeside(t *testing.T) {
	const greeting = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{}},"serverInfo":{"name":"s","version":"1"}}`
	lenient := func() *httptest.Server { // it accepts any name
		return httptest.NewServer(&pulled{was: map[string]string{
			"initialize": greeting, "ping": `{}`, "tools/list": `{"tools":[{"name":"write","inputSchema":{"type":"object"}},{"name":"read","inputSchema":{"type":"object"}}]}`,
			"prompts/list": `{"prompts":[{"name":"review"}]}`, "resources/list": `{"resources":[]}`,
			"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"mem://a/{dir}/{name}","name":"t"}]}`,
			"tools/call":               `{"content":[{"type":"text","text":"CALLED"}]}`, "prompts/get": `{"messages":[{"role":"user","content":{"type":"text","text":"CALLED"}}]}`,
			"completion/complete": `{"completion":{"values":["secret","public"]}}`,
		}})
	}
	open, hidden := lenient(), lenient()
	defer open.Close()
	defer hidden.Close()
	cfg, mistakes := config.Load("unlisted.toml", []byte(`listen = "127.0.0.1:0"
auth.explain = []
[[servers]]
id = "open"
url = "`+open.URL+`"
startup_timeout = 60
[[servers]]
id = "hidden"
url = "`+hidden.URL+`"
startup_timeout = 60
[[acl]]
tool = "write"
action = "deny"
[[acl]]
resource = "mem://a/secret/"
action = "deny"
[[acl]]
server = "hidden"
tool = "*"
prompt = "*"
resource = "mem://"
action = "deny"
[store]
url = "memory:"
`), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	p := startIn(t, cfg, t.TempDir())
	client := httpClient(t, p, "/mcp", "2025-11-25")
	client.open()
	client.result("tools/list", "") // now both servers have been listed
	ask := func(door, method, params string) string {
		message := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
		return p.as(t, "", door, message, "Accept", "application/json, text/event-stream").body
	}
	const gateway = "/api/mcp-gateway/open/rpc"
	if got := ask(gateway, "tools/call", `{"name":"read","arguments":{}}`); !strings.Contains(got, "CALLED") {
		t.Errorf("a listed tool: %s", got)
	}
	for _, name := range []string{"write", "Write", "write ", "wrıte"} {
		for _, method := range []string{"tools/call", "prompts/get"} {
			for door, got := range map[string]string{
				"gateway": ask(gateway, method, `{"name":"`+name+`"}`), "/mcp": client.call(method, `{"name":"open::`+name+`"}`).raw,
			} {
				if strings.Contains(got, "CALLED") || !strings.Contains(got, "-32602") {
					t.Errorf("%s %s %q: %s", door, method, name, got)
				}
			}
		}
	}
	const complete = `{"ref":{"type":"ref/resource","uri":"mem://a/{dir}/{name}"},"argument":{"name":"dir","value":""}}`
	ours := strings.Replace(complete, "mem://", "proxy://t/open/mem://", 1)
	for door, got := range map[string]string{"gateway": ask(gateway, "completion/complete", complete), "/mcp": client.call("completion/complete", ours).raw} {
		if strings.Contains(got, "secret") || !strings.Contains(got, "public") {
			t.Errorf("%s: completion: %s", door, got)
		}
	}
	for _, method := range []string{"ping", "initialize", "tools/list"} {
		for _, door := range []string{"/api/mcp-gateway/%/rpc", "/mcp/%"} {
			const params = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`
			there := ask(strings.Replace(door, "%", "hidden", 1), method, params)
			none := ask(strings.Replace(door, "%", "nosuch", 1), method, params)
			if !strings.Contains(there, "-32013") || strings.ReplaceAll(there, "hidden", "nosuch") != none || strings.Contains(none, "hidden") {
				t.Errorf("%s %s: %s, and of none: %s", door, method, there, none)
			}
		}
	}
}
