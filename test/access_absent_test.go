package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// newTerse is a server that lists a tool, a prompt and a resource, and accepts one unlisted tool.
// It refuses everything else in the words of some SDK.
func newTerse(t *testing.T) string {
	t.Helper()
	lists := map[string]string{
		"initialize":               `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{},"completions":{}},"serverInfo":{"name":"terse","version":"1"}}`,
		"tools/list":               `{"tools":[{"name":"known","inputSchema":{"type":"object"}},{"name":"secret_listed","inputSchema":{"type":"object"}}]}`,
		"prompts/list":             `{"prompts":[{"name":"known"}]}`,
		"resources/list":           `{"resources":[{"name":"known","uri":"file:///known"}]}`,
		"resources/templates/list": `{"resourceTemplates":[]}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name string `json:"name"`
				URI  string `json:"uri"`
				Ref  struct {
					Name string `json:"name"`
					URI  string `json:"uri"`
				} `json:"ref"`
			} `json:"params"`
		}
		_ = json.Unmarshal(body, &m)
		name := m.Params.Name + m.Params.URI + m.Params.Ref.Name + m.Params.Ref.URI
		answer := `"result":` + lists[m.Method]
		quoted := func(format string) string {
			text, _ := json.Marshal(fmt.Sprintf(format, name))
			return string(text)
		}
		failed := func(code int, format string) string {
			return fmt.Sprintf(`"error":{"code":%d,"message":%s}`, code, quoted(format))
		}
		switch {
		case lists[m.Method] != "":
		case strings.HasSuffix(name, "known"):
			answer = failed(-32602, "Invalid arguments for tool %s: secret is missing")
		case name == "unlisted":
			answer = `"result":{"content":[{"type":"text","text":"called unlisted"}]}`
		case m.Method == "tools/call" && strings.Contains(name, "typescript"):
			answer = `"result":{"content":[{"type":"text","text":` + quoted("MCP error -32602: Tool %s not found") + `}],"isError":true}`
		case m.Method == "tools/call" && strings.Contains(name, "python"):
			answer = `"result":{"content":[{"type":"text","text":` + quoted("Unknown tool: %s") + `}],"isError":true}`
		case m.Method == "tools/call" && strings.Contains(name, "other"):
			answer = failed(-32601, "no %s here")
		case m.Method == "tools/call":
			answer = failed(-32602, "unknown tool %q; have known, secret_plan")
		case m.Method == "resources/read" && strings.Contains(name, "empty"):
			answer = `"result":{"contents":[]}`
		case m.Method == "resources/read":
			answer = failed(-32002, "Resource not found: %s")
		case m.Method == "completion/complete":
			answer = `"result":{"completion":{"values":[]}}`
		case m.Method == "vendor/open":
			answer = failed(-32601, "Method not found %.0s")
		default:
			answer = failed(0, "Unknown prompt: %s")
		}
		if len(m.ID) == 0 {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// door is one way to send a request to one server.
type door struct {
	name, path, prefix string // the prefix is that of names
	legacy, modern     bool
}

var hidingDoors = []door{
	{name: "gateway", path: "/api/mcp-gateway/%s/rpc"},
	{name: "aggregate, modern", path: "/mcp", prefix: "%s::", modern: true},
	{name: "aggregate, legacy", path: "/mcp", prefix: "%s::", legacy: true},
	{name: "aggregate, other separator", path: "/mcp", prefix: "%s__", legacy: true},
	{name: "one server, modern", path: "/mcp/%s", modern: true},
	{name: "one server, legacy", path: "/mcp/%s", legacy: true},
}

// say sends a request through a door and returns the answer, with the telling headers.
func (d door) say(t *testing.T, p *program, token, server, session, method, params string) string {
	t.Helper()
	var headers []string
	meta := ""
	if d.modern {
		headers = []string{"Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
		meta = "," + modernMeta
		for _, key := range []string{`"name":"`, `"uri":"`} {
			if _, rest, ok := strings.Cut(params, key); ok && method != "completion/complete" {
				name, _, _ := strings.Cut(rest, `"`)
				headers = append(headers, "Mcp-Name", name)
				break
			}
		}
	} else if d.legacy {
		headers = []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25"}
	}
	a := p.as(t, token, strings.ReplaceAll(d.path, "%s", server), `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+params+meta+`}}`, headers...)
	return fmt.Sprint(a.status, " ", a.header.Get("Content-Type"), " ", a.header.Get("X-Ratelimit-Limit"), " ", a.body)
}

func (d door) open(t *testing.T, p *program, token, server string) (session string) {
	t.Helper()
	if !d.legacy {
		return ""
	}
	a := p.as(t, token, strings.ReplaceAll(d.path, "%s", server), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	return a.header.Get("Mcp-Session-Id")
}

// A denied name and one that the server lacks get the same answer, byte for byte, at every door.
// Unlisted names may still be called, and a caller who is told the refusing rule hears the server
// too.
func TestDeniedAndAbsentNamesOfOneServerAnswerAlike(t *testing.T) {
	servers := "[[servers]]\nid = \"terse\"\nurl = \"" + newTerse(t) + "\"\ntransport = \"rpc\"\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n[store]\nurl = \"memory:\"\n"
	tokens := tokenRow("dev", "token-of-dev", "") + tokenRow("lead", "token-of-lead", "") + "roles = [\"admin\"]\n"
	p := start(t, servers+`[[acl]]
subject = "dev"
tool = "secret_*"
prompt = "secret_*"
resource = "file:///secret_"
action = "deny"
[[limits]]
name = "specific"
server = "*"
rate = "1/d"
burst = 100000
`+tokens)
	plain := start(t, servers+tokens)
	for _, d := range hidingDoors {
		t.Run(d.name, func(t *testing.T) {
			for _, server := range []string{"terse", "demo"} {
				session := d.open(t, p, "token-of-dev", server)
				prefix := strings.ReplaceAll(d.prefix, "%s", server)
				uri := func(own string) string {
					if d.prefix == "" {
						return own
					}
					return proxied(server, own)
				}
				for _, c := range []struct{ method, params, denied, absent string }{
					{"tools/call", `"name":"%s","arguments":{}`, prefix + "secret_typescript", prefix + "absent_typescript"},
					{"tools/call", `"name":"%s","arguments":{}`, prefix + "secret_python", prefix + "absent_python"},
					{"tools/call", `"name":"%s","arguments":{}`, prefix + "secret_other", prefix + "absent_other"},
					{"tools/call", `"name":"%s","arguments":{}`, prefix + "secret_go", prefix + "absent_go"},
					{"tools/call", `"name":"%s"`, prefix + "secret_" + strings.Repeat("long", 3000) + "python", prefix + "absent_" + strings.Repeat("long", 3000) + "python"},
					{"tools/call", `"name":"%s"`, "secret_listed", "absent_listed"},
					{"vendor/open", `"name":"%s"`, "secret_listed", "absent_listed"},
					{"prompts/get", `"name":"%s"`, prefix + "secret_a", prefix + "absent_a"},
					{"resources/read", `"uri":"%s"`, uri("file:///secret_a"), uri("file:///absent_a")},
					{"resources/read", `"uri":"%s"`, uri("file:///secret_empty"), uri("file:///absent_empty")},
					{"completion/complete", `"ref":{"type":"ref/prompt","name":"%s"},"argument":{"name":"a","value":""}`, prefix + "secret_a", prefix + "absent_a"},
					{"completion/complete", `"ref":{"type":"ref/resource","uri":"%s"},"argument":{"name":"a","value":""}`, uri("file:///secret_a"), uri("file:///absent_a")},
					{"vendor/open", `"name":"%s"`, prefix + "secret_a", prefix + "absent_a"},
					{"vendor/open", `"uri":"%s"`, uri("file:///secret_a"), uri("file:///absent_a")},
				} {
					before := left(t, p)
					denied := d.say(t, p, "token-of-dev", server, session, c.method, strings.ReplaceAll(c.params, "%s", c.denied))
					between := left(t, p)
					absent := d.say(t, p, "token-of-dev", server, session, c.method, strings.ReplaceAll(c.params, "%s", c.absent))
					if after := left(t, p); before-between != between-after {
						t.Errorf("%s %.60s: the one takes %d of a limit, the other %d", c.method, c.denied, before-between, between-after)
					}
					// Messages repeat at most the first 200 characters of a name.
					if want := strings.ReplaceAll(strings.ReplaceAll(absent, c.absent[:min(len(c.absent), 200)], c.denied[:min(len(c.denied), 200)]), c.absent, c.denied); denied != want || !strings.Contains(denied, `"error"`) {
						t.Errorf("%s %.60s:\ndenied: %.600s\nabsent: %.600s", c.method, c.denied, denied, absent)
					}
				}
			}
			session := d.open(t, p, "token-of-dev", "terse")
			prefix := strings.ReplaceAll(d.prefix, "%s", "terse")
			say := func(p *program, token, session, name string) string {
				return d.say(t, p, token, "terse", session, "tools/call", `"name":"`+prefix+name+`","arguments":{}`)
			}
			if got := say(p, "token-of-dev", session, "unlisted"); !strings.Contains(got, "unknown tool: "+prefix+"unlisted") {
				t.Errorf("with rules, a tool that is not listed: %s", got)
			}
			if got := say(p, "token-of-dev", session, "known"); !strings.Contains(got, "Invalid arguments for tool known: secret is missing") {
				t.Errorf("what is wrong about a call of a listed tool: %s", got)
			}
			if got := say(p, "token-of-lead", d.open(t, p, "token-of-lead", "terse"), "absent_go"); !strings.Contains(got, "unknown tool: "+prefix+"absent_go") {
				t.Errorf("to who may know: %s", got)
			}
			if got := say(plain, "token-of-dev", d.open(t, plain, "token-of-dev", "terse"), "absent_go"); !strings.Contains(got, "have known, secret_plan") {
				t.Errorf("without rules: %s", got)
			}
		})
	}
}

// left returns the remaining quota of the limit on the servers.
func left(t *testing.T, p *program) int {
	t.Helper()
	a := p.as(t, "token-of-dev", "/api/mcp-gateway/terse/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	n, err := strconv.Atoi(a.header.Get("X-Ratelimit-Remaining"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The pruner's own door, which knows its tools itself.
func TestDeniedAndAbsentToolsOfThePrunerAnswerAlike(t *testing.T) {
	p := start(t, "[store]\nurl = \"memory:\"\n[[acl]]\ntool = \"search_text\"\naction = \"deny\"\n[[limits]]\nserver = \"*\"\nrate = \"100000/h\"\n"+tokenRow("dev", "token-of-dev", ""))
	d := door{path: "/rpc"}
	for _, params := range []string{`"name":"%s","arguments":{}`, `"name":"%s"`} {
		denied := d.say(t, p, "token-of-dev", "", "", "tools/call", strings.ReplaceAll(params, "%s", "search_text"))
		absent := d.say(t, p, "token-of-dev", "", "", "tools/call", strings.ReplaceAll(params, "%s", "search_nope"))
		if denied != strings.ReplaceAll(absent, "search_nope", "search_text") || !strings.Contains(denied, `"error"`) {
			t.Errorf("denied: %s\nabsent: %s", denied, absent)
		}
	}
	if got := d.say(t, p, "token-of-dev", "", "", "tools/call", `"arguments":{}`); strings.Contains(got, "search_text") {
		t.Errorf("without a name: %s", got)
	}
	if got := d.say(t, p, "token-of-dev", "", "", "tools/call", `"name":"recover_text","arguments":{}`); !strings.Contains(got, "prune_id") {
		t.Errorf("what is wrong about a call of a tool that may be called: %s", got)
	}
}
