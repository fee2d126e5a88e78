package catalog_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
	"secateur/internal/rawjson"
)

// The reference adds the server to task ids in documents decoded by encoding/json, case by case as
// the protocol defines them. It ignores URIs.

type decoded = map[string]any

func wrapIn(v any) {
	if o, ok := v.(decoded); ok {
		if id, ok := o["taskId"].(string); ok {
			o["taskId"] = "s::" + id
		}
	}
}

func refMeta(v any) {
	if o, ok := v.(decoded); ok {
		if meta, ok := o["_meta"].(decoded); ok {
			wrapIn(meta["io.modelcontextprotocol/related-task"])
		}
		if requests, ok := o["inputRequests"].(decoded); ok {
			for _, r := range requests {
				if request, ok := r.(decoded); ok {
					if params, ok := request["params"].(decoded); ok {
						if meta, ok := params["_meta"].(decoded); ok {
							wrapIn(meta["io.modelcontextprotocol/related-task"])
						}
					}
				}
			}
		}
	}
}

func refCall(v any) {
	refMeta(v)
	o, ok := v.(decoded)
	if !ok {
		return
	}
	kind, says := o["resultType"].(string)
	if kind == "task" {
		wrapIn(o)
	}
	if kind == "task" || !says {
		wrapIn(o["task"])
	}
}

func refTask(v any) {
	refMeta(v)
	wrapIn(v)
	if o, ok := v.(decoded); ok {
		wrapIn(o["task"])
		refCall(o["result"])
	}
}

func refOnlyMeta(v any) {
	if o, ok := v.(decoded); ok {
		refMeta(decoded{"_meta": o["_meta"]})
	}
}

var refResults = map[string]func(any){
	"tools/call": refCall, "tasks/result": refCall, "tasks/get": refTask, "tasks/update": refTask, "tasks/cancel": refTask,
	"prompts/get": refMeta, "resources/read": refMeta, "x/y": refOnlyMeta,
	"tasks/list": func(v any) {
		if o, ok := v.(decoded); ok {
			if tasks, ok := o["tasks"].([]any); ok {
				for _, task := range tasks {
					wrapIn(task)
				}
			}
		}
	},
}

var refParams = map[string]func(any){
	"notifications/tasks": refTask, "notifications/tasks/status": refTask,
	"elicitation/create": refOnlyMeta, "tasks/get": refOnlyMeta, "sampling/createMessage": refOnlyMeta,
}

func TestTaskIDsAgainstReference(t *testing.T) {
	names := rapid.SampledFrom([]string{
		`"taskId"`, `"task\u0049d"`, `"task"`, `"tasks"`, `"resultType"`, `"result"`, `"_meta"`, `"io.modelcontextprotocol/related-task"`,
		`"inputRequests"`, `"params"`, `"status"`, `"structuredContent"`,
	})
	scalar := rapid.SampledFrom([]string{`"1"`, `"task"`, `"t\u0061sk"`, `"complete"`, `""`, `"s::1"`, `"é\n"`, "null", "7", "[]"})
	var object func(depth int) *rapid.Generator[string]
	object = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var parts []string
			for range rapid.IntRange(0, 5).Draw(t, "members") {
				value := scalar.Draw(t, "scalar")
				if depth > 0 && rapid.Bool().Draw(t, "deeper") {
					value = object(depth-1).Draw(t, "object")
					if rapid.IntRange(0, 3).Draw(t, "listed") == 0 {
						value = "[" + value + ",{\"taskId\":\"2\"}]"
					}
				}
				parts = append(parts, names.Draw(t, "name")+" :"+value)
			}
			return "{" + strings.Join(parts, " ,") + "}"
		})
	}
	o := catalog.Outgoing{Server: "s"}
	rapid.Check(t, func(t *rapid.T) {
		doc := []byte(object(4).Draw(t, "document"))
		for method, reference := range refResults {
			compareDecoded(t, method, doc, o.Result(method, doc), reference)
		}
		for method, reference := range refParams {
			compareDecoded(t, method, doc, o.Params(method, doc), reference)
		}
	})
}

func compareDecoded(t *rapid.T, method string, doc, got []byte, reference func(any)) {
	t.Helper()
	var want, have any
	if err := json.Unmarshal(doc, &want); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	if err := json.Unmarshal(got, &have); err != nil || rawjson.Check(got, 100) != nil {
		t.Fatalf("%s of %s: %s: %v", method, doc, got, err)
	}
	reference(want)
	if !reflect.DeepEqual(want, have) {
		t.Fatalf("%s: %s\n became %s\n   want %v", method, doc, got, want)
	}
}
