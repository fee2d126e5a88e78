package aggregate_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/wire"
)

// What a result that is known to refer to nothing says is left as it is by what rewrites references.
func TestNoRefsMeansNothingToRewrite(t *testing.T) {
	names := []string{
		"content", "type", "uri", "resource", "task", "taskId", "_meta", "ui", "resourceUri", "ui/resourceUri", "inputRequests", "params",
		"openai/outputTemplate", "io.modelcontextprotocol/related-task", "messages", "contents", "tasks", "result", "tools", "resources",
		"resourceTemplates", "uriTemplate", "a", "resultType", "structuredContent",
	}
	texts := []string{"resource_link", "resource", "tool_result", "ui://x", "file:///x", "task", "text"}
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			if depth == 0 || kind == 0 {
				return `"` + rapid.SampledFrom(texts).Draw(t, "text") + `"`
			}
			if kind == 1 {
				return "[" + strings.Join(rapid.SliceOfN(value(depth-1), 0, 2).Draw(t, "elements"), ",") + "]"
			}
			var all []string
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 4, rapid.ID[string]).Draw(t, "names") {
				all = append(all, `"`+name+`":`+value(depth-1).Draw(t, name))
			}
			return "{" + strings.Join(all, ",") + "}"
		})
	}
	methods := []string{
		"tools/call", "prompts/get", "resources/read", "resources/list", "resources/templates/list", "tools/list", "tasks/result",
		"tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "other",
	}
	rapid.Check(t, func(t *rapid.T) {
		result := value(6).Draw(t, "result")
		m, err := wire.ParseServer([]byte(`{"jsonrpc":"2.0","id":1,"result":`+result+`}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range methods {
			out := catalog.Outgoing{Server: "s"}
			if edits := out.ResultEdits(method, m.Result); m.NoRefs && len(edits) > 0 {
				t.Fatalf("%s: %s would be rewritten", method, result)
			}
		}
	})
}
