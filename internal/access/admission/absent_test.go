package admission_test

import (
	"testing"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/wire"
)

func TestAbsent(t *testing.T) {
	deny := access.Rule{Role: access.Globs{"dev"}, Server: access.Globs{"s"}, Tool: access.Globs{"secret"}, Action: access.ActionDeny}
	dev, lead := &access.Principal{Roles: []string{"dev"}}, &access.Principal{Roles: []string{"lead", "dev"}}
	unknown := `"error":{"code":-32602,"message":"?"}`
	for name, c := range map[string]struct {
		rules  []access.Rule
		caller *access.Principal
		server string
		listed bool
		answer string
		hidden bool
	}{
		"an error":                              {answer: unknown, hidden: true},
		"whatever its code":                     {answer: `"error":{"code":-32603,"message":"?"}`, hidden: true},
		"a text that names the tool":            {answer: `"result":{"content":[{"type":"text","text":"no tool x"}],"isError":true}`, hidden: true},
		"a text that says so":                   {answer: `"result":{"content":[{"type":"text","text":"Unknown tool"}],"isError":true}`, hidden: true},
		"what a listed tool says":               {answer: unknown, listed: true},
		"what a tool says that is not listed":   {answer: `"result":{"content":[{"type":"text","text":"disk full"}],"isError":true}`},
		"more than a text":                      {answer: `"result":{"content":[{"type":"text","text":"x"},{"type":"text","text":"y"}],"isError":true}`},
		"a result":                              {answer: `"result":{"content":[{"type":"text","text":"unknown x"}]}`},
		"a page to visit first":                 {answer: `"error":{"code":-32042,"message":"?"}`},
		"who may know":                          {caller: lead, answer: unknown},
		"another server":                        {server: "other", answer: unknown},
		"nobody from whom anything is hidden":   {caller: &access.Principal{Roles: []string{"ops"}}, answer: unknown},
		"no rules":                              {rules: []access.Rule{}, answer: unknown},
		"rules that hide nothing":               {rules: []access.Rule{{Tool: access.Globs{"x"}, Action: access.ActionAllow}}, answer: unknown},
		"URIs that are denied to everyone also": {rules: []access.Rule{{Resource: access.Globs{"file:///a"}, Action: access.ActionAllow}}, answer: unknown, hidden: true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.rules == nil {
				c.rules = []access.Rule{deny}
			}
			if c.caller == nil {
				c.caller = dev
			}
			if c.server == "" {
				c.server = "s"
			}
			targets := []access.Target{{Door: access.DoorMCP, Server: c.server, Kind: access.KindTool, Name: "x"}}
			permit, no := control(t, false, admission.Options{Explain: []string{"lead"}}, c.rules...).Ask(t.Context(), c.caller, "tools/call", targets...)
			if no != nil {
				t.Fatal(no)
			}
			m, err := wire.ParseServer([]byte(`{"jsonrpc":"2.0","id":1,`+c.answer+`}`), 0)
			if err != nil {
				t.Fatal(err)
			}
			got := permit.Absent(&m, targets, func(access.Target) bool { return c.listed })
			if (got != nil) != c.hidden {
				t.Errorf("Absent = %+v, want hidden %v", got, c.hidden)
			}
			if got != nil && !got.Hides() {
				t.Errorf("%+v tells of a refusal", got)
			}
		})
	}
}
