package app

import (
	"slices"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/ops/admin"
)

// A tool that its server's entry leaves out does not exist for any client, at any door.
func TestToolsThatAreOffAreUnknownEverywhere(t *testing.T) {
	r := startReloadable(t, demo1)
	if !strings.Contains(r.tools("one"), "read_log") {
		t.Fatalf("the demo has no read_log: %s", r.tools("one"))
	}
	call := func(name string) string {
		_, body := r.gate("one", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`)
		return body
	}
	for rule, key := range map[string]string{"exclude_tools": `exclude_tools = ["read_l*"]`, "tools": `tools = ["read_s*"]`} {
		out := r.reload(demo1 + key + "\n")
		if len(out.Restarted) > 0 {
			t.Errorf("%s: %+v, want no restart", rule, out)
		}
		if strings.Contains(r.tools("one"), "read_log") {
			t.Errorf("%s: the gateway lists it", rule)
		}
		if got, none := call("read_log"), call("read_lot"); !strings.Contains(got, `"error"`) || got != strings.Replace(none, "read_lot", "read_log", 1) {
			t.Errorf("%s: the gateway answers %s, for an unknown tool %s", rule, got, none)
		}
		session := r.initialize()
		post := func(body string) string {
			_, answer := r.do("POST", "/mcp", body, "Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Mcp-Session-Id", session)
			return answer
		}
		if list := post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); strings.Contains(list, "read_log") || !strings.Contains(list, "inputSchema") {
			t.Errorf("%s: /mcp lists %s", rule, list)
		}
		if answer := post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"one::read_log","arguments":{}}}`); !strings.Contains(answer, "unknown tool") {
			t.Errorf("%s: /mcp answers %s", rule, answer)
		}
		all := r.controlTools(access.Anonymous())
		i := slices.IndexFunc(all, func(tool admin.Tool) bool { return tool.Tool == "read_log" })
		if i < 0 || !all[i].Off || all[i].Tokens == 0 {
			t.Errorf("%s: the control plane does not tell that it is off: %+v", rule, all)
		}
	}
	r.reload(demo1)
	if !strings.Contains(r.tools("one"), "read_log") || strings.Contains(call("read_log"), `"error"`) {
		t.Error("the tool does not come back")
	}
}
