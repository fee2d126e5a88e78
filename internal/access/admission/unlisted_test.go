package admission_test

import (
	"testing"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/mcp/catalog"
)

// With rules, an unlisted name is unknown: a lenient server may match it to a denied one.
func TestWithRulesUnlistedNamesAreUnknown(t *testing.T) {
	rule := access.Rule{Tool: access.Globs{"write"}, Action: access.ActionDeny}
	for name, w := range map[string]struct {
		rules   []access.Rule
		by      admission.Lister
		targets []access.TargetKind
		name    string
		message string // "": the call is allowed
	}{
		"a listed tool":         {[]access.Rule{rule}, &listing{}, []access.TargetKind{access.KindTool}, "read", ""},
		"an unlisted tool":      {[]access.Rule{rule}, &listing{}, []access.TargetKind{access.KindTool}, "unlisted", "unknown tool: unlisted"},
		"an unlisted prompt":    {[]access.Rule{rule}, &listing{}, []access.TargetKind{access.KindPrompt}, "unlisted", "unknown prompt: unlisted"},
		"a resource":            {[]access.Rule{rule}, &listing{}, []access.TargetKind{access.KindResource}, "unlisted", ""},
		"of an unknown method":  {[]access.Rule{rule}, &listing{}, []access.TargetKind{access.KindNone, access.KindTool, access.KindPrompt}, "unlisted", ""},
		"without rules":         {nil, &listing{}, []access.TargetKind{access.KindTool}, "unlisted", ""},
		"where nobody can tell": {[]access.Rule{rule}, nil, []access.TargetKind{access.KindTool}, "unlisted", ""},
	} {
		c := control(t, false, admission.Options{Explain: []string{"admin"}}, w.rules...)
		var targets []access.Target
		for _, k := range w.targets {
			target := access.Target{Door: access.DoorMCP, Server: "s", Kind: k}
			if k != access.KindNone {
				target.Name = w.name
			}
			targets = append(targets, target)
		}
		_, no := c.AskListed(t.Context(), access.Anonymous(), "m", w.by, targets...)
		got := ""
		if no != nil {
			e, _, _ := no.Error()
			got = e.Message
		}
		if got != w.message {
			t.Errorf("%s: %q, want %q", name, got, w.message)
		}
	}
}

// A completion does not reveal values that lead to denied resources.
func TestCompletionTellsNoDeniedNames(t *testing.T) {
	secret := access.Rule{Resource: access.Globs{"file:///srv/secret/"}, Action: access.ActionDeny}
	const values = `{"completion":{"values":["secret","public"],"total":2,"hasMore":false}}`
	const public = `{"completion":{"values":["public"],"total":1,"hasMore":false}}`
	ask := func(uri, argument, more string) string {
		return `{"ref":{"type":"ref/resource","uri":"` + uri + `"},"argument":{"name":"` + argument + `","value":""}` + more + `}`
	}
	for name, w := range map[string]struct{ params, result, want string }{
		"a folder":                    {ask("file:///srv/{dir}/{name}", "dir", ""), values, public},
		"whatever operator":           {ask("file:///srv{/dir}/{name}", "dir", ""), values, public},
		"whatever modifier":           {ask("file:///srv/{+dir*}/x", "dir", ""), values, public},
		"a name in a denied folder":   {ask("file:///srv/{dir}/{name}", "name", `,"context":{"arguments":{"dir":"secret"}}`), values, `{"completion":{"values":[],"total":0}}`},
		"a name in an allowed folder": {ask("file:///srv/{dir}/{name}", "name", `,"context":{"arguments":{"dir":"public"}}`), values, values},
		"a name in any folder":        {ask("file:///srv/{dir}/{name}", "name", ""), values, `{"completion":{"values":[],"total":0}}`},
		"a path":                      {ask("file:///srv/{path}", "path", ""), `{"completion":{"values":["secret/key","%73ecret/key","a/../secret/key","a"],"total":9,"hasMore":true}}`, `{"completion":{"values":["a"],"hasMore":true}}`},
		"another variable":            {ask("file:///srv/{path}", "none", ""), values, `{"completion":{"values":[],"total":0}}`},
		"a prompt":                    {`{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"dir","value":""}}`, values, values},
		"no values":                   {ask("file:///srv/{dir}", "dir", ""), `{"x":1}`, `{"x":1}`},
	} {
		c := control(t, false, admission.Options{}, secret)
		if got := string(c.Completion(nil, access.DoorMCP, "s", []byte(w.params), []byte(w.result))); got != w.want {
			t.Errorf("%s: %s, want %s", name, got, w.want)
		}
		for _, c := range []*admission.Control{nil, control(t, false, admission.Options{}, access.Rule{Tool: access.Globs{"x"}, Action: access.ActionDeny})} {
			if got := string(c.Completion(nil, access.DoorMCP, "s", []byte(w.params), []byte(w.result))); got != w.result {
				t.Errorf("%s, without rules about resources: %s", name, got)
			}
		}
	}
}

// A server is hidden if the caller may use nothing that it lists.
func TestSeesByWhatIsListed(t *testing.T) {
	raw := func(items ...string) (all [][]byte) {
		for _, item := range items {
			all = append(all, []byte(item))
		}
		return all
	}
	tools := access.Rule{Tool: access.Globs{"*"}, Action: access.ActionDeny}
	files := access.Rule{Resource: access.Globs{"file:///"}, Action: access.ActionDeny}
	onlyTools := catalog.ServerLists{Server: "s", Tools: raw(`{"name":"a"}`, `{"name":"b"}`)}
	for name, w := range map[string]struct {
		rules []access.Rule
		lists catalog.ServerLists
		whole bool
		want  bool
	}{
		"all that it has is denied":   {[]access.Rule{tools}, onlyTools, true, false},
		"it has resources, too":       {[]access.Rule{tools}, catalog.ServerLists{Server: "s", Tools: onlyTools.Tools, Resources: raw(`{"uri":"x:a"}`)}, true, true},
		"which are denied, too":       {[]access.Rule{tools, files}, catalog.ServerLists{Server: "s", Tools: onlyTools.Tools, Resources: raw(`{"uri":"file:///a"}`)}, true, false},
		"a template may be used":      {[]access.Rule{tools, files}, catalog.ServerLists{Server: "s", Templates: raw(`{"uriTemplate":"mem://a/{v}"}`)}, true, true},
		"a prompt may be used":        {[]access.Rule{tools}, catalog.ServerLists{Server: "s", Tools: onlyTools.Tools, Prompts: raw(`{"name":"p"}`)}, true, true},
		"one tool may be used":        {[]access.Rule{{Tool: access.Globs{"a"}, Action: access.ActionDeny}}, onlyTools, true, true},
		"its lists are not known":     {[]access.Rule{tools}, onlyTools, false, true},
		"it lists nothing":            {[]access.Rule{tools}, catalog.ServerLists{Server: "s"}, true, true},
		"a rule allows resources":     {[]access.Rule{{Resource: access.Globs{"x:"}, Action: access.ActionAllow}, tools}, onlyTools, true, true},
		"no rule is about the server": {[]access.Rule{{Server: access.Globs{"other"}, Action: access.ActionDeny}}, onlyTools, true, true},
	} {
		c := control(t, false, admission.Options{LastListed: func(string) (catalog.ServerLists, bool) { return w.lists, w.whole }}, w.rules...)
		if got := c.Sees(nil, access.DoorMCP, "s"); got != w.want {
			t.Errorf("%s: %v, want %v", name, got, w.want)
		}
	}
}
