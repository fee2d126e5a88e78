package era_test

import (
	"net/http"
	"strings"
	"testing"

	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
)

func TestCheckHeaders(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct{ rule, method, params, headers, wrong string }{
		{"all that is repeated is the same", "tools/call", `"name":"a",`, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: a", ""},
		{"a name in base64", "tools/call", `"name":"é",`, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: =?base64?w6k=?=", ""},
		{"a list has no name", "tools/list", ``, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/list", ""},
		{"a task", "tasks/get", `"taskId":"t",`, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tasks/get\nMcp-Name: t", ""},
		{"no version", "tools/list", ``, "Mcp-Method: tools/list", "header Mcp-Protocol-Version is missing"},
		{"another version", "tools/list", ``, "Mcp-Protocol-Version: 2025-11-25\nMcp-Method: tools/list", "header Mcp-Protocol-Version is not"},
		{"no method", "tools/list", ``, "Mcp-Protocol-Version: 2026-07-28", "header Mcp-Method is missing"},
		{"another method", "tools/list", ``, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: prompts/list", "header Mcp-Method is not"},
		{"a header twice", "tools/list", ``, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/list\nMcp-Method: tools/list", "header Mcp-Method is not"},
		{"no name", "resources/read", `"uri":"a:1",`, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: resources/read", "header Mcp-Name is missing"},
		{"another name", "resources/read", `"uri":"a:1",`, "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: resources/read\nMcp-Name: a:2", "header Mcp-Name is not"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			m := wire.NewRequest(wire.NumberID(1), c.method, []byte("{"+c.params+meta+"}"))
			h := http.Header{}
			for line := range strings.Lines(c.headers) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
				h.Add(name, value)
			}
			wrong := era.CheckHeaders(h, &m, era.ReadMeta(m.Params))
			switch {
			case (wrong == nil) != (c.wrong == ""), wrong != nil && !strings.Contains(wrong.Message, c.wrong):
				t.Errorf("%v, want %q", wrong, c.wrong)
			case wrong != nil && (wrong.Code != era.CodeHeaderMismatch || wrong.Data.Code != "header_mismatch" || era.HTTPStatus(wrong.Code) != 400):
				t.Errorf("%+v", wrong)
			}
		})
	}
}
