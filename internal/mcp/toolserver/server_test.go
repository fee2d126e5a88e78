package toolserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"

	"github.com/go-json-experiment/json/jsontext"
)

const echoSchema = `{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer","minimum":1}},"required":["text"],"additionalProperties":false}`

// newEcho returns a server with the tools echo, its alias say, panic, fail and lenient, and the
// method status.
func newEcho(tb testing.TB) *toolserver.Server {
	tb.Helper()
	echo := toolserver.Tool{
		Name: "echo", Description: "Says it again.", Schema: echoSchema, ReadOnly: true,
		Call: func(_ context.Context, arguments jsontext.Value) (toolserver.Result, *wire.Error) {
			return toolserver.Result{Text: toolserver.Read(arguments).Text("text"), Structured: arguments}, nil
		},
	}
	say, lenient := echo, echo
	say.Name, say.Unlisted = "say", true
	lenient.Name, lenient.Unlisted = "lenient", true
	lenient.Judges = func(v toolserver.Violation) bool { return v.Keyword == "minimum" }
	s, err := toolserver.New(toolserver.Options{
		Name: "test", Version: "v1", Instructions: "Try echo.",
		Tools: []toolserver.Tool{
			echo, say, lenient,
			{Name: "panic", Description: "Breaks.", Schema: `{"type":"object"}`, Call: func(context.Context, jsontext.Value) (toolserver.Result, *wire.Error) {
				panic("broken")
			}},
			{Name: "fail", Description: "Fails.", Schema: `{"type":"object"}`, Call: func(context.Context, jsontext.Value) (toolserver.Result, *wire.Error) {
				return toolserver.Result{Text: "no", IsError: true}, nil
			}},
		},
		Methods: map[string]toolserver.Method{
			"status": func(context.Context, *wire.Message) ([]byte, *wire.Error) { return []byte(`"fine"`), nil },
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// ask sends a message and returns the answer, which must be JSON-RPC.
func ask(tb testing.TB, s *toolserver.Server, request string) string {
	tb.Helper()
	msg, bad := wire.ParseRequest([]byte(request), wire.MaxRequestDepth)
	if bad != nil {
		tb.Fatalf("request %s: %v", request, bad)
	}
	out := s.Serve(tb.Context(), &msg)
	if out == nil {
		return ""
	}
	if _, err := wire.ParseServer(out, 0); err != nil {
		tb.Fatalf("answer to %s is no JSON-RPC: %v\n%s", request, err, out)
	}
	return string(out)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestServe(t *testing.T) {
	const tools = `[{"name":"echo","description":"Says it again.","inputSchema":` + echoSchema + `,"annotations":{"readOnlyHint":true,"openWorldHint":false}},` +
		`{"name":"panic","description":"Breaks.","inputSchema":{"type":"object"}},{"name":"fail","description":"Fails.","inputSchema":{"type":"object"}}]`
	const info = `{"name":"test","version":"v1"}`
	const modern = `,"_meta":{"io.modelcontextprotocol/serverInfo":` + info + `}}`
	const cached = `,"resultType":"complete","ttlMs":3600000,"cacheScope":"public"` + modern
	for _, c := range []struct{ name, method, params, want string }{
		{"a known revision is spoken", "initialize", `{"protocolVersion":"2025-03-26","capabilities":{}}`, `{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":false}},"serverInfo":` + info + `,"instructions":"Try echo."}`},
		{"an unknown one gets our newest with a handshake", "initialize", `{"protocolVersion":"2099-01-01"}`, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false}},"serverInfo":` + info + `,"instructions":"Try echo."}`},
		{"nothing need be said of the client", "initialize", `{}`, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":false}},"serverInfo":` + info + `,"instructions":"Try echo."}`},
		{"discover names every revision", "server/discover", `{` + modernMeta + `}`, `{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{"listChanged":false}},"instructions":"Try echo."` + cached},
		{"ping", "ping", `{}`, `{}`},
		{"tools", "tools/list", `{}`, `{"tools":` + tools + `}`},
		{"tools, modern", "tools/list", `{` + modernMeta + `}`, `{"tools":` + tools + cached},
		{"an empty cursor is the start", "tools/list", `{"cursor":""}`, `{"tools":` + tools + `}`},
		{"a null cursor is the start", "tools/list", `{"cursor":null}`, `{"tools":` + tools + `}`},
		{"no resources", "resources/list", `{}`, `{"resources":[]}`},
		{"no templates", "resources/templates/list", `{}`, `{"resourceTemplates":[]}`},
		{"no prompts", "prompts/list", `{` + modernMeta + `}`, `{"prompts":[]` + cached},
		{"a call", "tools/call", `{"name":"echo","arguments":{"text":"a\nb"}}`, `{"content":[{"type":"text","text":"a\nb"}],"structuredContent":{"text":"a\nb"}}`},
		{"a call, modern", "tools/call", `{"name":"echo","arguments":{"text":"a"},` + modernMeta + `}`, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"text":"a"},"resultType":"complete"` + modern},
		{"an alias", "tools/call", `{"name":"say","arguments":{"text":"a"}}`, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"text":"a"}}`},
		{"a lone surrogate comes through", "tools/call", `{"name":"echo","arguments":{"text":"\ud800x"}}`, `{"content":[{"type":"text","text":"\ud800x"}],"structuredContent":{"text":"\ud800x"}}`},
		{"a tool's failure is an answer", "tools/call", `{"name":"fail"}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{"null arguments are none", "tools/call", `{"name":"fail","arguments":null}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{"a method of one's own", "status", `{}`, `"fine"`},
		{"a tool judges what it said it would", "tools/call", `{"name":"lenient","arguments":{"text":"a","times":0}}`, `{"content":[{"type":"text","text":"a"}],"structuredContent":{"text":"a","times":0}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, newEcho(t), `{"jsonrpc":"2.0","id":7,"method":"`+c.method+`","params":`+c.params+`}`)
			if want := `{"jsonrpc":"2.0","id":7,"result":` + c.want + `}`; got != want {
				t.Errorf("%s %s\n got %s\nwant %s", c.method, c.params, got, want)
			}
		})
	}
}

func TestServeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, method, params string
		code                 int
		path, message        string
	}{
		{"an unknown method", "tools/kill", `{}`, wire.CodeMethodNotFound, "", "method not found: tools/kill"},
		{"ping in the modern era", "ping", `{` + modernMeta + `}`, wire.CodeMethodNotFound, "", "ping"},
		{"a revision nobody speaks", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}`, era.CodeUnsupportedVersion, "", `"2031-01-01"`},
		{"a revision that is no text", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}`, wire.CodeInvalidParams, "/_meta/io.modelcontextprotocol~1protocolVersion", "string"},
		{"a modern request that hides its client", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, wire.CodeInvalidParams, "/_meta/io.modelcontextprotocol~1clientCapabilities", "object"},
		{"_meta that is no object", "tools/list", `{"_meta":[]}`, wire.CodeInvalidParams, "/_meta", "object"},
		{"params that are an array", "tools/list", `[]`, wire.CodeInvalidParams, "", "object"},
		{"a cursor of someone else", "tools/list", `{"cursor":"eyJv"}`, wire.CodeInvalidParams, "/cursor", "not known"},
		{"a cursor that is no text", "prompts/list", `{"cursor":3}`, wire.CodeInvalidParams, "/cursor", "string"},
		{"a version that is no text", "initialize", `{"protocolVersion":20250618}`, wire.CodeInvalidParams, "/protocolVersion", "string"},
		{"an unknown tool", "tools/call", `{"name":"eco"}`, wire.CodeInvalidParams, "/name", `unknown tool "eco"`},
		{"no tool", "tools/call", `{"arguments":{}}`, wire.CodeInvalidParams, "/name", "missing"},
		{"a tool that is no text", "tools/call", `{"name":{"echo":1}}`, wire.CodeInvalidParams, "/name", "string"},
		{"a missing argument", "tools/call", `{"name":"echo"}`, wire.CodeInvalidParams, "/text", "missing"},
		{"arguments that are no object", "tools/call", `{"name":"echo","arguments":["a"]}`, wire.CodeInvalidParams, "", "must be an object, not an array"},
		{"a tool's fault", "tools/call", `{"name":"panic"}`, wire.CodeInternal, "", "internal error"},
		{"what no tool judges", "tools/call", `{"name":"lenient","arguments":{"text":1,"times":0}}`, wire.CodeInvalidParams, "/text", "string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, newEcho(t), `{"jsonrpc":"2.0","id":"x","method":"`+c.method+`","params":`+c.params+`}`)
			var answer struct {
				ID    string `json:"id"`
				Error struct {
					Code    int    `json:"code"`
					Message string `json:"message"`
					Data    struct {
						Path string `json:"path"`
					} `json:"data"`
				} `json:"error"`
			}
			if err := json.Unmarshal([]byte(got), &answer); err != nil {
				t.Fatalf("%v: %s", err, got)
			}
			e := answer.Error
			if answer.ID != "x" || e.Code != c.code || e.Data.Path != c.path || !strings.Contains(e.Message, c.message) {
				t.Errorf("%s %s\n got %s\nwant code %d, path %q, message with %q", c.method, c.params, got, c.code, c.path, c.message)
			}
		})
	}
}

func TestUnsupportedVersionNamesTheOthers(t *testing.T) {
	got := ask(t, newEcho(t), `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}`)
	if !strings.Contains(got, `"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2031-01-01"`) {
		t.Errorf("answer %s", got)
	}
}

func TestNotificationsGetNoAnswer(t *testing.T) {
	for _, method := range []string{"notifications/initialized", "notifications/cancelled", "tools/list", "nonsense"} {
		if got := ask(t, newEcho(t), `{"jsonrpc":"2.0","method":"`+method+`"}`); got != "" {
			t.Errorf("answer to the notification %s: %s", method, got)
		}
	}
}

func TestNewRefusesWhatItCannotKeep(t *testing.T) {
	call := func(context.Context, jsontext.Value) (toolserver.Result, *wire.Error) {
		return toolserver.Result{}, nil
	}
	for name, tools := range map[string][]toolserver.Tool{
		"a schema with a keyword it does not check": {{Name: "a", Schema: `{"type":"object","minProperties":1}`, Call: call}},
		"a schema that is no JSON":                  {{Name: "a", Schema: `{`, Call: call}},
		"a tool without a function":                 {{Name: "a", Schema: `{"type":"object"}`}},
		"two tools of one name":                     {{Name: "a", Schema: `{"type":"object"}`, Call: call}, {Name: "a", Schema: `{"type":"object"}`, Call: call}},
	} {
		if _, err := toolserver.New(toolserver.Options{Tools: tools}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Answers stay short, however long a caller's texts are.
func TestAnswersStayShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"` + long + `"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + long + `"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"` + long + `":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"","times":-` + strings.Repeat("1", 1<<20) + `}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + long + `"}}}`,
	} {
		if got := ask(t, newEcho(t), request); len(got) > 4<<10 {
			t.Errorf("answer to %.60s… is %d bytes long", request, len(got))
		}
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","times":1e999}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{` + modernMeta + `}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"\ud800"}}`))
	s := newEcho(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		msg, bad := wire.ParseRequest(bytes.Clone(in), wire.MaxRequestDepth)
		if bad != nil || msg.Kind() != wire.Request {
			return
		}
		out := s.Serve(t.Context(), &msg)
		answer, err := wire.ParseServer(out, 0)
		if err != nil || !answer.ID.Same(msg.ID) {
			t.Errorf("answer to %s: %s (%v)", in, out, err)
		}
	})
}
