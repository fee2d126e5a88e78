package catalog_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"

	"secateur/internal/mcp/catalog"
	"secateur/internal/rawjson"
)

// short replaces clients' URIs with a short notation.
func short(s string) string {
	for _, uri := range []string{"a:1", "a:2", "b:3", "x:y"} {
		s = strings.ReplaceAll(s, catalog.EncodeURI("s", uri), "<"+uri+">")
	}
	return s
}

func TestResults(t *testing.T) {
	for _, c := range []struct{ rule, method, in, want string }{
		{
			"a link in a tool's result", "tools/call",
			`{"content":[{"type":"resource_link","uri":"a:1","name":"x"}]}`,
			`{"content":[{"type":"resource_link","uri":"<a:1>","name":"x"}]}`,
		},
		{
			"an embedded resource", "tools/call",
			`{"content":[{"type":"text","text":"t"},{"type":"resource","resource":{"uri":"a:1","text":"a:1"}}],"isError":false}`,
			`{"content":[{"type":"text","text":"t"},{"type":"resource","resource":{"uri":"<a:1>","text":"a:1"}}],"isError":false}`,
		},
		{
			"the type may come last", "tools/call",
			`{"content":[{"uri":"a:1","type":"resource_link"},{"resource":{"uri":"a:2"},"type":"resource"}]}`,
			`{"content":[{"uri":"<a:1>","type":"resource_link"},{"resource":{"uri":"<a:2>"},"type":"resource"}]}`,
		},
		{
			"names may be escaped", "tools/call",
			`{"\u0063ontent":[{"t\u0079pe":"resource\u005flink","ur\u0069":"a\u003a1"}]}`,
			`{"\u0063ontent":[{"t\u0079pe":"resource\u005flink","ur\u0069":"<a:1>"}]}`,
		},
		{
			"names that come twice are both rewritten", "tools/call",
			`{"content":[{"type":"resource_link","uri":"a:1","uri":"a:2"}]}`,
			`{"content":[{"type":"resource_link","uri":"<a:1>","uri":"<a:2>"}]}`,
		},
		{
			"white space stays", "tools/call",
			"{ \"content\" :\n[ { \"type\" : \"resource_link\" , \"uri\" :\t\"a:1\" } ] }",
			"{ \"content\" :\n[ { \"type\" : \"resource_link\" , \"uri\" :\t\"<a:1>\" } ] }",
		},
		{
			"an app's view", "tools/call",
			`{"content":[],"_meta":{"ui":{"resourceUri":"ui://v/1"},"ui/resourceUri":"ui://v/2","x":"ui://v/3"}}`,
			`{"content":[],"_meta":{"ui":{"resourceUri":"ui://s/v/1"},"ui/resourceUri":"ui://s/v/2","x":"ui://v/3"}}`,
		},
		{
			"a prompt's messages, one block or many", "prompts/get",
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"a:1"}}},{"role":"user","content":[{"type":"resource_link","uri":"a:2"}]}]}`,
			`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"<a:1>"}}},{"role":"user","content":[{"type":"resource_link","uri":"<a:2>"}]}]}`,
		},
		{
			"what was read", "resources/read",
			`{"contents":[{"uri":"a:1","text":"{\"uri\":\"a:2\"}","n":12345678901234567890},{"uri":"ui://v/1","blob":"AA=="}]}`,
			`{"contents":[{"uri":"<a:1>","text":"{\"uri\":\"a:2\"}","n":12345678901234567890},{"uri":"ui://s/v/1","blob":"AA=="}]}`,
		},
		{
			"a list of resources", "resources/list",
			`{"resources":[{"uri":"a:1","name":"uri"}],"nextCursor":"a:2"}`,
			`{"resources":[{"uri":"<a:1>","name":"uri"}],"nextCursor":"a:2"}`,
		},
		{
			"a list of templates", "resources/templates/list",
			`{"resourceTemplates":[{"uriTemplate":"a:{x}"}]}`,
			`{"resourceTemplates":[{"uriTemplate":"proxy://t/s/a:{x}"}]}`,
		},
		{
			"what a server wants to ask first", "tools/call",
			`{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[{"content":{"type":"resource_link","uri":"a:1"}}]}}},"requestState":"a:2"}`,
			`{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage","params":{"messages":[{"content":{"type":"resource_link","uri":"<a:1>"}}]}}},"requestState":"a:2"}`,
		},
		{
			"a task's result", "tasks/get",
			`{"taskId":"1","result":{"content":[{"type":"resource_link","uri":"a:1"}]}}`,
			`{"taskId":"s::1","result":{"content":[{"type":"resource_link","uri":"<a:1>"}]}}`,
		},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := catalog.Outgoing{Server: "s"}.Result(c.method, []byte(c.in))
			if short(string(got)) != c.want {
				t.Errorf("Result = %s, want %s", short(string(got)), c.want)
			}
		})
	}
}

func TestWhatIsNoURIStays(t *testing.T) {
	for rule, c := range map[string]struct{ method, doc string }{
		"blocks of other types":          {"tools/call", `{"content":[{"type":"text","uri":"a:1"},{"type":"new","resource":{"uri":"a:1"}},{"uri":"a:1"}]}`},
		"a link's resource":              {"tools/call", `{"content":[{"type":"resource_link","resource":{"uri":"a:1"}}]}`},
		"an embedded resource's own uri": {"tools/call", `{"content":[{"type":"resource","uri":"a:1"}]}`},
		"structured content":             {"tools/call", `{"content":[],"structuredContent":{"type":"resource_link","uri":"a:1","content":[{"type":"resource_link","uri":"a:1"}]}}`},
		"a uri that is no string":        {"tools/call", `{"content":[{"type":"resource_link","uri":1},{"type":"resource_link","uri":null},{"type":"resource_link","uri":{"uri":"a:1"}}]}`},
		"a view that is no ui://":        {"tools/call", `{"_meta":{"ui":{"resourceUri":"a:1"}}}`},
		"content that is no array":       {"tools/call", `{"content":"a:1"}`},
		"a result that is no object":     {"tools/call", `["content"]`},
		"completions":                    {"completion/complete", `{"completion":{"values":["a:1"],"uri":"a:1"}}`},
		"unknown methods":                {"x/y", `{"contents":[{"uri":"a:1"}]}`},
		"nothing":                        {"tools/call", ``},
	} {
		t.Run(rule, func(t *testing.T) {
			in := []byte(c.doc)
			got := catalog.Outgoing{Server: "s"}.Result(c.method, in)
			if string(got) != c.doc || unsafe.SliceData(got) != unsafe.SliceData(in) {
				t.Errorf("Result = %s, want the same slice %s", got, c.doc)
			}
		})
	}
}

func TestParams(t *testing.T) {
	for _, c := range []struct{ rule, method, in, want string }{
		{"an update", "notifications/resources/updated", `{"uri":"a:1","title":"a:1"}`, `{"uri":"<a:1>","title":"a:1"}`},
		{
			"what a model is asked", "sampling/createMessage",
			`{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"resource_link","uri":"a:1"}]},{"type":"tool_use","input":{"uri":"a:2"}}]}],"maxTokens":1}`,
			`{"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"resource_link","uri":"<a:1>"}]},{"type":"tool_use","input":{"uri":"a:2"}}]}],"maxTokens":1}`,
		},
		{
			"what was subscribed to", "notifications/subscriptions/acknowledged",
			`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:1","a:2"]}}`,
			`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["<a:1>","<a:2>"]}}`,
		},
		{"a log message", "notifications/message", `{"data":{"uri":"a:1"}}`, `{"data":{"uri":"a:1"}}`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got := catalog.Outgoing{Server: "s"}.Params(c.method, []byte(c.in))
			if short(string(got)) != c.want {
				t.Errorf("Params = %s, want %s", short(string(got)), c.want)
			}
		})
	}
	if got := string(catalog.Outgoing{Server: "s"}.ErrorData([]byte(`{"uri":"a:1","n":1}`))); short(got) != `{"uri":"<a:1>","n":1}` {
		t.Errorf("ErrorData = %s", got)
	}
}

func TestAClientReadsItsOwnWord(t *testing.T) {
	o := catalog.Outgoing{Server: "s", Original: "a:1", Asked: "proxy://t/s/a:1"}
	got := string(o.Result("resources/read", []byte(`{"contents":[{"uri":"a:1"},{"uri":"a:2"}]}`)))
	if want := `{"contents":[{"uri":"proxy://t/s/a:1"},{"uri":"<a:2>"}]}`; short(got) != want {
		t.Errorf("Result = %s, want %s", short(got), want)
	}
}

func TestContentWithinContentHasAnEnd(t *testing.T) {
	const link = `{"type":"resource_link","uri":"a:1"}`
	nest := func(deep int, open, end string) string {
		return `{"content":` + strings.Repeat(open, deep) + link + strings.Repeat(end, deep) + `}`
	}
	for _, c := range []struct {
		rule, doc string
		rewritten bool
	}{
		{"blocks in blocks", nest(100, `{"type":"tool_result","content":`, `}`), true},
		{"arrays of blocks", nest(100, `[{"type":"tool_result","content":`, `}]`), true},
		{"too many blocks", nest(300, `{"type":"tool_result","content":`, `}`), false},
		{"too many arrays", nest(300, `[`, `]`), false},
		{"far too many", nest(100_000, `[{"type":"tool_result","content":`, `}]`), false},
	} {
		got := string(catalog.Outgoing{Server: "s"}.Result("tools/call", []byte(c.doc)))
		want := c.doc
		if c.rewritten {
			want = strings.Replace(c.doc, `a:1`, `<a:1>`, 1)
		}
		if short(got) != want {
			t.Errorf("%s: %d bytes became %d", c.rule, len(c.doc), len(got))
		}
	}
}

// methods are all methods whose results or params are rewritten.
var methods = []string{
	"tools/call", "prompts/get", "resources/read", "resources/list", "resources/templates/list", "tools/list",
	"tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list", "notifications/tasks", "notifications/tasks/status", "x/y",
	"notifications/resources/updated", "sampling/createMessage", "notifications/subscriptions/acknowledged",
}

func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"resource_link","uri":"a:1"},{"resource":{"uri":"a:2"},"type":"resource"}]}`))
	f.Add([]byte(`{"messages":[{"content":{"type":"tool_result","content":[{"type":"resource_link","uri":"a\u003a1"}]}}]}`))
	f.Add([]byte(`{"contents":[{"uri":"\ud800"},{"uri":"\\\""}],"resources":[{"uri":""}],"uri":"x"}`))
	f.Add([]byte(`{"notifications":{"resourceSubscriptions":["a"]},"inputRequests":{"k":{"params":{"messages":[]}}}}`))
	f.Add([]byte(`{"tools":[{"_meta":{"ui":{"resourceUri":"ui://v"}}}],"result":{"content":[]}}`))
	f.Add([]byte(`{"content":[{"type":"resource_link","uri":"\u12`))
	f.Add([]byte(`{"taskId":"1","resultType":"task","task":{"taskId":"2"},"tasks":[{"taskId":"\u0033"}],"notifications":{"taskIds":["4"]}}`))
	f.Add([]byte(`{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}},"result":{"resultType":"task","taskId":""}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		valid := rawjson.Check(doc, 10_000) == nil
		before := bytes.Clone(doc)
		o := catalog.Outgoing{Server: "s"}
		for _, m := range methods {
			for _, edits := range [][]rawjson.Edit{o.ResultEdits(m, doc), o.ParamsEdits(m, doc)} {
				got := rawjson.Apply(nil, doc, edits)
				if valid && rawjson.Check(got, 10_000) != nil {
					t.Errorf("%s: %q became %q, which is not JSON", m, doc, got)
				}
				checkEdits(t, doc, edits)
			}
		}
		if !bytes.Equal(doc, before) {
			t.Errorf("the document was changed: %q, now %q", before, doc)
		}
	})
}

// checkEdits checks that edits are in order, and that each replaces a string with one that maps
// back to it.
func checkEdits(t *testing.T, doc []byte, edits []rawjson.Edit) {
	t.Helper()
	at := 0
	for _, e := range edits {
		if e.Start < at || e.End < e.Start || e.End > len(doc) {
			t.Fatalf("edit of %d to %d behind %d in %d bytes", e.Start, e.End, at, len(doc))
		}
		at = e.End
		was, is := rawjson.Unquote(doc[e.Start:e.End]), rawjson.Unquote(e.New)
		server, original, ok := catalog.UnwrapTask(is)
		if server != "s" || original != was {
			server, original, ok = catalog.DecodeURI(is)
		}
		if !utf8.ValidString(was) {
			continue // no parser accepts such a document
		}
		if !ok || server != "s" || original != was {
			t.Errorf("%q leads to %q, %q, %v, want %q", is, server, original, ok, was)
		}
	}
}
