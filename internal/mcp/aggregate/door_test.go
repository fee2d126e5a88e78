package aggregate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"secateur/internal/cut/mask"
)

// hears waits for what the client gets next.
func (c *pipeClient) hears(t *testing.T) string {
	t.Helper()
	select {
	case line := <-c.heard:
		return line
	case <-time.After(patience):
		t.Fatal("nothing is heard")
		return ""
	}
}

// asks sends a request and returns the answer.
func (c *pipeClient) asks(t *testing.T, method, params string) string {
	t.Helper()
	c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
	return c.hears(t)
}

func (p *puppet) hears(t *testing.T) envelope {
	t.Helper()
	select {
	case line := <-p.heard:
		var e envelope
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		return e
	case <-time.After(patience):
		t.Fatal("nothing is heard")
		return envelope{}
	}
}

const helloT = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`

func TestTokenInTheBody(t *testing.T) {
	p := newPuppet(t, nature{ID: "a"})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, token: "s3cret"})
	for _, params := range []string{`{}`, `{"proxy":{}}`, `{"proxy":{"authToken":"wrong"}}`, `{"proxy":{"authToken":7}}`, `{"proxy":"s3cret"}`} {
		if got := c.asks(t, "tools/list", params); !strings.Contains(got, `"code":-32015`) {
			t.Errorf("%s: %s", params, got)
		}
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/x","params":{"secret":1}}`) // goes nowhere
	if got := c.asks(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"proxy":{"authToken":"s3cret"}}`); !strings.Contains(got, `"result"`) {
		t.Errorf("initialize: %s", got)
	}
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a::t","proxy":{"authToken":"s3cret"},"arguments":{}}}`)
	call := p.hears(t)
	if want := `{"name":"t","arguments":{}}`; string(call.Params) != want {
		t.Errorf("the server gets %s, want %s", call.Params, want)
	}
	p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, call.ID))
	if got := c.hears(t); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("answer %s", got)
	}
	if strings.Contains(p.sent(), "s3cret") || strings.Contains(p.sent(), "notifications/x") {
		t.Errorf("the server was sent\n%s", p.sent())
	}
}

func TestLongTextsAreCut(t *testing.T) {
	set := mask.Default()
	set.MaxChars, set.HeadChars, set.TailChars, set.Marker = 20, 5, 5, "[cut id={id}]"
	masker, err := mask.New(set)
	if err != nil {
		t.Fatal(err)
	}
	p := newPuppet(t, nature{ID: "a"})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: masker})
	c.asks(t, "initialize", helloT)
	long := strings.Repeat("x", 30)
	for _, r := range []struct{ rule, method, params, result, want string }{
		{"text", "tools/call", `{"name":"a::t"}`, `{"content":[{"type":"text","text":"` + long + `"}]}`, `{"content":[{"type":"text","text":"xxxxx[cut id=prn_`},
		{
			"structured content, media and URIs stay", "tools/call", `{"name":"a::t"}`,
			`{"structuredContent":{"text":"` + long + `"},"content":[{"type":"image","data":"` + long + `"}],"_meta":{"text":"` + long + `"}}`, "",
		},
		{"a resource stays", "resources/read", `{"uri":"proxy://t/a/x"}`, `{"contents":[{"text":"` + long + `"}]}`, ""},
		{"a prompt stays", "prompts/get", `{"name":"a::p"}`, `{"messages":[{"role":"user","content":{"type":"text","text":"` + long + `"}}]}`, ""},
	} {
		c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, r.method, r.params))
		p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, p.hears(t).ID, r.result))
		want := r.want
		if want == "" {
			want = r.result
		}
		if got := c.hears(t); !strings.Contains(got, `"result":`+want) {
			t.Errorf("%s: %s, want %s", r.rule, got, want)
		}
	}
}

// A string of structured content whose form the tool's schema prescribes stays, also in a call that came before the server
// had listed its tools: the client may know them from an earlier time.
func TestPrescribedStringsStayBeforeTheListIsThere(t *testing.T) {
	set := mask.Default()
	set.MaxChars, set.HeadChars, set.TailChars, set.Marker = 20, 5, 5, "[cut id={id}]"
	masker, err := mask.New(set)
	if err != nil {
		t.Fatal(err)
	}
	const tools = `{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"free":{"type":"string"},"kept":{"type":"string","pattern":"^x+$"}}}}]}`
	long := strings.Repeat("x", 30)
	result := fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"structuredContent":{"free":%[1]q,"kept":%[1]q}}`, long)
	for _, c := range []struct{ rule, list, free string }{
		{"the list comes after the answer", `"result":` + tools, "xxxxx[cut id=prn_"},
		{"the list never comes", `"error":{"code":-32603,"message":"not today"}`, long},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := newPuppet(t, nature{ID: "a", Asks: true})
			client := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: masker, repeats: true})
			client.asks(t, "initialize", helloT)
			client.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a::t"}}`)
			asked := map[string]string{} // by method, under which id
			for len(asked) < 2 {
				e := p.hears(t)
				asked[e.Method] = string(e.ID)
			}
			p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked["tools/call"], result))
			p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, asked["tools/list"], c.list))
			got := ""
			for got == "" || strings.Contains(got, `"method":`) {
				select {
				case got = <-client.heard:
				case line := <-p.heard: // whoever asks again hears the same
					var e envelope
					if err := json.Unmarshal([]byte(line), &e); err == nil && e.Method == "tools/list" {
						p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, e.ID, c.list))
					}
				case <-time.After(patience):
					t.Fatal("nothing is heard")
				}
			}
			var answer struct {
				Result struct {
					Content []struct {
						Text string `json:"text"`
					} `json:"content"`
					StructuredContent struct {
						Free string `json:"free"`
						Kept string `json:"kept"`
					} `json:"structuredContent"`
				} `json:"result"`
			}
			if err := json.Unmarshal([]byte(got), &answer); err != nil {
				t.Fatalf("%v in %s", err, got)
			}
			r := answer.Result
			if !strings.HasPrefix(r.Content[0].Text, "xxxxx[cut") || !strings.HasPrefix(r.StructuredContent.Free, c.free) || r.StructuredContent.Kept != long {
				t.Errorf("the client gets %s", got)
			}
		})
	}
}

func TestPages(t *testing.T) {
	tools := func(names ...string) json.RawMessage {
		var items []string
		for _, n := range names {
			items = append(items, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, n))
		}
		return json.RawMessage(`{"tools":[` + strings.Join(items, ",") + `]}`)
	}
	a := newPuppet(t, nature{ID: "a", Lists: map[string]json.RawMessage{"tools/list": tools("x", "y", "z")}})
	b := newPuppet(t, nature{ID: "b", Lists: map[string]json.RawMessage{"tools/list": tools("x")}})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{a, b}, pageSize: 2})
	c.asks(t, "initialize", helloT)
	var names []string
	cursor := ""
	for range 10 {
		params := `{}`
		if cursor != "" {
			params = fmt.Sprintf(`{"cursor":%q}`, cursor)
		}
		var page struct {
			Result struct {
				Tools []struct {
					Name string `json:"name"`
				} `json:"tools"`
				NextCursor string `json:"nextCursor"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(c.asks(t, "tools/list", params)), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Result.Tools) > 2 {
			t.Errorf("a page has %d tools", len(page.Result.Tools))
		}
		for _, tool := range page.Result.Tools {
			names = append(names, tool.Name)
		}
		if cursor = page.Result.NextCursor; cursor == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "a::x a::y a::z b::x" {
		t.Errorf("listed %s", got)
	}
	for _, bad := range []string{`{"cursor":"x"}`, `{"cursor":7}`, `{"limit":-1}`, `{"cursor":"eyJvZmZzZXQiOjEsImdlbmVyYXRpb24iOiJvbGQifQ=="}`} {
		if got := c.asks(t, "tools/list", bad); !strings.Contains(got, `"code":-32602`) {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

// A list that changes is told of, once, and only if it did.
func TestListChanged(t *testing.T) {
	p := newPuppet(t, nature{ID: "a", Lists: map[string]json.RawMessage{"tools/list": json.RawMessage(`{"tools":[]}`)}})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}})
	c.asks(t, "initialize", helloT)
	c.asks(t, "tools/list", `{}`)
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`) // nothing did
	p.setList("tools/list", `{"tools":[{"name":"new","inputSchema":{"type":"object"}}]}`)
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	if got := c.hears(t); got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("heard %s", got)
	}
	if got := c.asks(t, "tools/list", `{}`); !strings.Contains(got, `"a::new"`) {
		t.Errorf("list %s", got)
	}
}

// A client that hangs up is not waited for.
func TestHangingUp(t *testing.T) {
	p := newPuppet(t, nature{ID: "a"})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, grace: time.Minute})
	c.asks(t, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}}`)
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a::t"}}`)
	call := p.hears(t)
	p.say(t, `{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{"message":"m"}}`)
	c.hears(t)
	_ = c.in.Close()
	if got := p.hears(t); string(got.ID) != `"r"` {
		t.Errorf("the server hears %+v, want that its question has no answer", got)
	}
	p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, call.ID))
	if got := c.hears(t); !strings.Contains(got, `"id":2,"result"`) {
		t.Errorf("heard %s", got)
	}
}

// What a server sends while the client of a parked call is away waits for it.
func TestNewsOfAParkedCall(t *testing.T) {
	p := newPuppet(t, nature{ID: "l"})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"progressToken":%q}`
	c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"l::t",`+meta+`}}`, "first"))
	call := p.hears(t)
	p.say(t, `{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"who?"}}`)
	asked := c.hears(t)
	p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, call.ID))
	for try, end := 0, time.Now().Add(patience); time.Now().Before(end); try++ { // it is on its way through a process
		var wants struct {
			Result struct {
				State string `json:"requestState"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(asked), &wants); err != nil || wants.Result.State == "" {
			t.Fatalf("heard %s, %v", asked, err)
		}
		c.send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"l::t","inputResponses":{},"requestState":%q,`+meta+`}}`,
			try+2, wants.Result.State, "again"))
		if asked = c.hears(t); strings.Contains(asked, "notifications/progress") {
			break
		}
	}
	if want := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"again","progress":1}}`; asked != want {
		t.Errorf("heard %s, want %s", asked, want)
	}
}
