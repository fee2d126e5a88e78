package catalog_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
)

const relatedMember = `"io.modelcontextprotocol/related-task"`

func TestTaskIDs(t *testing.T) {
	for _, c := range []struct{ rule, method, in, want string }{
		{
			"a modern call that became a task", "tools/call",
			`{"resultType":"task","taskId":"1","status":"working","ttlMs":12345678901234567890}`,
			`{"resultType":"task","taskId":"s::1","status":"working","ttlMs":12345678901234567890}`,
		},
		{
			"what it is may stand at the end", "tools/call",
			`{ "task\u0049d" : "\u0031", "resultType" :"t\u0061sk" }`, `{ "task\u0049d" : "s::1", "resultType" :"t\u0061sk" }`,
		},
		{"as early servers wrote it", "tools/call", `{"resultType":"task","task":{"taskId":"1"}}`, `{"resultType":"task","task":{"taskId":"s::1"}}`},
		{"a legacy call that became a task", "tools/call", `{"task":{"taskId":"1","ttl":1},"_meta":{}}`, `{"task":{"taskId":"s::1","ttl":1},"_meta":{}}`},
		{"a call that ended", "tools/call", `{"resultType":"complete","taskId":"1","task":{"taskId":"1"},"content":[]}`, ""},
		{"a legacy call that ended", "tools/call", `{"taskId":"1","content":[],"structuredContent":{"task":{"taskId":"1"}}}`, ""},
		{"a task's state", "tasks/get", `{"resultType":"complete","taskId":"1","status":"working"}`, `{"resultType":"complete","taskId":"s::1","status":"working"}`},
		{"a task's state, a level deeper", "tasks/get", `{"task":{"taskId":"1"}}`, `{"task":{"taskId":"s::1"}}`},
		{
			"a task that ended", "tasks/get",
			`{"taskId":"1","result":{"taskId":"1","content":[],"_meta":{` + relatedMember + `:{"taskId":"1"}}}}`,
			`{"taskId":"s::1","result":{"taskId":"1","content":[],"_meta":{` + relatedMember + `:{"taskId":"s::1"}}}}`,
		},
		{"a task that was updated", "tasks/update", `{"taskId":"1"}`, `{"taskId":"s::1"}`},
		{"a task that was cancelled", "tasks/cancel", `{"taskId":"1","status":"cancelled"}`, `{"taskId":"s::1","status":"cancelled"}`},
		{"a list of tasks", "tasks/list", `{"tasks":[{"taskId":"1"},{"taskId":"s::2"}],"nextCursor":"1"}`, `{"tasks":[{"taskId":"s::1"},{"taskId":"s::s::2"}],"nextCursor":"1"}`},
		{
			"a task's result", "tasks/result",
			`{"content":[],"_meta":{` + relatedMember + `:{"taskId":"1","x":1},"y":{"taskId":"1"}}}`,
			`{"content":[],"_meta":{` + relatedMember + `:{"taskId":"s::1","x":1},"y":{"taskId":"1"}}}`,
		},
		{"what belongs to a task", "x/y", `{"taskId":"1","_meta":{` + relatedMember + `:{"taskId":"1"}}}`, `{"taskId":"1","_meta":{` + relatedMember + `:{"taskId":"s::1"}}}`},
		{"an id that is no string", "tasks/get", `{"taskId":1,"task":{"taskId":null}}`, ""},
		{"a task that is no object", "tools/call", `{"resultType":"task","task":"1"}`, ""},
	} {
		t.Run(c.rule, func(t *testing.T) { checkOutgoing(t, catalog.Outgoing{Server: "s"}.Result, c.method, c.in, c.want) })
	}
}

func TestTaskIDsInParams(t *testing.T) {
	for _, c := range []struct{ rule, method, in, want string }{
		{"a modern task's news", "notifications/tasks", `{"taskId":"1","result":{"content":[]}}`, `{"taskId":"s::1","result":{"content":[]}}`},
		{"a legacy task's news", "notifications/tasks/status", `{"taskId":"1","ttl":1}`, `{"taskId":"s::1","ttl":1}`},
		{
			"what was subscribed to", "notifications/subscriptions/acknowledged",
			`{"notifications":{"taskIds":["1","2"],"x":["1"]}}`, `{"notifications":{"taskIds":["s::1","s::2"],"x":["1"]}}`,
		},
		{"a question", "elicitation/create", `{"_meta":{` + relatedMember + `:{"taskId":"1"}},"mode":"form"}`, `{"_meta":{` + relatedMember + `:{"taskId":"s::1"}},"mode":"form"}`},
		{"a question to the model", "sampling/createMessage", `{"messages":[],"_meta":{` + relatedMember + `:{"taskId":"1"}}}`, `{"messages":[],"_meta":{` + relatedMember + `:{"taskId":"s::1"}}}`},
		{"a log line", "notifications/message", `{"data":{"taskId":"1"},"_meta":{` + relatedMember + `:{"taskId":"1"}}}`, `{"data":{"taskId":"1"},"_meta":{` + relatedMember + `:{"taskId":"s::1"}}}`},
		{"a task of the client", "tasks/get", `{"taskId":"1"}`, ""},
	} {
		t.Run(c.rule, func(t *testing.T) { checkOutgoing(t, catalog.Outgoing{Server: "s"}.Params, c.method, c.in, c.want) })
	}
}

// checkOutgoing checks the rewritten document; want "" means unchanged.
func checkOutgoing(t *testing.T, rewrite func(string, []byte) []byte, method, doc, want string) {
	t.Helper()
	in := []byte(doc)
	got := rewrite(method, in)
	if want == "" {
		want = doc
		if unsafe.SliceData(got) != unsafe.SliceData(in) {
			t.Errorf("a document that stays was copied")
		}
	}
	if string(got) != want {
		t.Errorf("%s %s became %s, want %s", method, doc, got, want)
	}
}

func TestRouteTasks(t *testing.T) {
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/result"} {
		r, err := routes().Route(method, []byte(`{"n":12345678901234567890, "taskId" : "z\u003a:a::b"}`))
		if err != nil || r.Server != "z" || r.Task != "a::b" || r.Asked != "z::a::b" || string(r.Params) != `{"n":12345678901234567890, "taskId" : "a::b"}` {
			t.Errorf("Route(%s) = %+v with %s, %v", method, r, r.Params, err)
		}
		if !catalog.Routed(method) {
			t.Errorf("Routed(%s) = false", method)
		}
	}
	for _, c := range []struct{ rule, params, problem string }{
		{"no task", `{}`, "taskId is missing"},
		{"no params", ``, "taskId is missing"},
		{"a task of another kind", `{"taskId":1}`, "expected a string"},
		{"a task without a server", `{"taskId":"1"}`, "unknown task: 1"},
		{"a task of nobody", `{"taskId":"::1"}`, "unknown task: ::1"},
		{"a task of a server that is not there", `{"taskId":"q::1"}`, "unknown task: q::1"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := routes().Route("tasks/get", []byte(c.params))
			if e := paramsError(t, err); e.Path != "/taskId" || e.Error() != c.problem {
				t.Errorf("error at %q: %q, want at /taskId: %q", e.Path, e, c.problem)
			}
		})
	}
	if catalog.Routed("tasks/list") {
		t.Error("Routed(tasks/list) = true: it is for every server")
	}
}

func TestUnwrapRelated(t *testing.T) {
	const of = `{"_meta":{` + relatedMember + `:{"taskId":"%"}},"taskId":"s::1"}`
	for _, c := range []struct{ rule, id, want string }{
		{"of the server", "s::1", "1"},
		{"of another server", "z::1", "z::1"},
		{"of nobody", "1", "1"},
	} {
		doc := strings.Replace(of, "%", c.id, 1)
		if got := string(catalog.UnwrapRelated("s", []byte(doc))); got != strings.Replace(of, "%", c.want, 1) {
			t.Errorf("%s: %s became %s", c.rule, doc, got)
		}
	}
	r, err := routes().Route("tools/call", []byte(`{"_meta":{`+relatedMember+`:{"taskId":"s::1"}},"name":"s::echo"}`))
	if want := `{"_meta":{` + relatedMember + `:{"taskId":"1"}},"name":"echo"}`; err != nil || string(r.Params) != want {
		t.Errorf("Route has params %s, %v, want %s", r.Params, err, want)
	}
}

func TestSubscriptionTasks(t *testing.T) {
	params := `{"notifications":{"resourceSubscriptions":["a"],"taskIds":["s::\u0031",2,"z::3"]}}`
	if got := catalog.SubscriptionTasks([]byte(params)); !slices.Equal(got, []string{"s::1", "z::3"}) {
		t.Errorf("SubscriptionTasks = %q", got)
	}
}

func TestTaskIDsLeadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.StringMatching(`[A-Za-z0-9_-]{1,12}`).Draw(t, "server")
		id := anyText().Draw(t, "task")
		if s, task, ok := catalog.UnwrapTask(catalog.WrapTask(server, id)); !ok || s != server || task != id {
			t.Fatalf("UnwrapTask(WrapTask(%q, %q)) = %q, %q, %v", server, id, s, task, ok)
		}
		// An id sent to the client and returned in its next request becomes the server's own again.
		view := catalog.Merge([]catalog.ServerLists{{Server: server}}, nil).For("")
		result := catalog.Outgoing{Server: server}.Result("tools/call", []byte(`{"resultType":"task","taskId":`+quote(id)+`}`))
		var got struct {
			TaskID json.RawMessage `json:"taskId"`
		}
		if err := json.Unmarshal(result, &got); err != nil {
			t.Fatalf("%s: %v", result, err)
		}
		r, err := view.Route("tasks/get", []byte(`{"taskId":`+string(got.TaskID)+`}`))
		if err != nil || r.Server != server || !bytes.Equal(r.Params, []byte(`{"taskId":`+quote(id)+`}`)) {
			t.Fatalf("Route leads to %s with %s, %v", r.Server, r.Params, err)
		}
	})
}

func TestTool(t *testing.T) {
	raw := `{"name":"echo", "inputSchema":{"n":12345678901234567890}}`
	c := catalog.Merge([]catalog.ServerLists{{Server: "s", Tools: items(" " + raw + "\n")}, {Server: "z"}}, nil)
	if got, ok := c.Tool("s", "echo"); !ok || string(got) != raw {
		t.Errorf("Tool = %s, %v", got, ok)
	}
	for _, c2 := range [][2]string{{"z", "echo"}, {"q", "echo"}, {"s", "s::echo"}, {"s", ""}} {
		if got, ok := c.Tool(c2[0], c2[1]); ok {
			t.Errorf("Tool(%q) = %s", c2, got)
		}
	}
}
