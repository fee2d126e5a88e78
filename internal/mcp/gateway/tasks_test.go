package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/mcp/upstream"
)

func TestATaskIsItsMakersAlone(t *testing.T) {
	server := plainServer(t, "files", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "tools/call"):
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t-1","status":"working"}}}`)
		case strings.Contains(string(body), "tasks/list"):
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"t-0"},{"taskId":"t-1"}],"x":1.0}}`)
		default:
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"taskId":"t-1","status":"completed"}}`)
		}
	})
	b := newBench(t, []upstream.Options{server})
	b.postAs(t, "alice", "files", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"long","task":{}}}`)
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		ask := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"taskId":"t-1"}}`
		if got := b.postAs(t, "alice", "files", ask); !strings.Contains(got.body, "completed") {
			t.Errorf("%s by its maker: %s", method, got.body)
		}
		for _, who := range []string{"bob", ""} {
			got := b.postAs(t, who, "files", ask)
			if code, _, _ := got.failure(t); code != -32602 || strings.Contains(got.body, "completed") {
				t.Errorf("%s by %q: %s, want it unknown", method, who, got.body)
			}
		}
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`
	for who, want := range map[string]string{
		"alice": `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"t-1"}],"x":1.0}}`,
		"bob":   `{"jsonrpc":"2.0","id":1,"result":{"tasks":[],"x":1.0}}`,
		"":      `{"jsonrpc":"2.0","id":1,"result":{"tasks":[{"taskId":"t-0"}],"x":1.0}}`,
	} {
		if got := b.postAs(t, who, "files", list); got.body != want {
			t.Errorf("the list as %q sees it: %s, want %s", who, got.body, want)
		}
	}
}
