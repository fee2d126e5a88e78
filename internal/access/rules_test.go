package access_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"secateur/internal/access"
)

func compile(tb testing.TB, closed bool, rules ...access.Rule) *access.Rules {
	tb.Helper()
	for i, r := range rules {
		if err := r.Validate(); err != nil {
			tb.Fatalf("rule %d: %v", i, err)
		}
	}
	s, err := access.NewRules(rules, closed)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func globs(g ...string) access.Globs { return g }

func TestDecide(t *testing.T) {
	dev := &access.Principal{Issuer: "token", Subject: "alice", Tenant: "team-a", Roles: []string{"dev", "qa"}}
	tool := func(server, name string) access.Target {
		return access.Target{Door: access.DoorMCP, Server: server, Kind: access.KindTool, Name: name}
	}
	resource := func(uri string) access.Target {
		return access.Target{Door: access.DoorMCP, Server: "files", Kind: access.KindResource, Name: uri}
	}
	deny := func(r access.Rule) access.Rule { r.Action = access.ActionDeny; return r }
	allow := func(r access.Rule) access.Rule { r.Action = access.ActionAllow; return r }
	everything := access.Rule{}
	for _, c := range []struct {
		rule   string
		rules  []access.Rule
		closed bool
		target access.Target
		want   bool
		by     string
	}{
		{"no rules allow", nil, false, tool("files", "write"), true, ""},
		{"no rules and default deny", nil, true, tool("files", "write"), false, ""},
		{"the first that matches decides", []access.Rule{deny(access.Rule{Tool: globs("write_*")}), allow(everything)}, true, tool("files", "write_file"), false, "acl-1"},
		{"one that does not match is passed over", []access.Rule{deny(access.Rule{Tool: globs("write_*")}), allow(everything)}, true, tool("files", "read_file"), true, "acl-2"},
		{"case counts", []access.Rule{deny(access.Rule{Tool: globs("write_*")})}, false, tool("files", "Write_file"), true, ""},
		{"a list matches with any of its patterns", []access.Rule{deny(access.Rule{Tool: globs("a", "b?c", "*z")})}, false, tool("x", "b-c"), false, "acl-1"},
		{"any role is enough", []access.Rule{deny(access.Rule{Role: globs("q*")})}, false, tool("x", "y"), false, "acl-1"},
		{"another tenant", []access.Rule{deny(access.Rule{Tenant: globs("team-b")})}, false, tool("x", "y"), true, ""},
		{"all attributes have to match", []access.Rule{deny(access.Rule{Tenant: globs("team-*"), Subject: globs("bob")})}, false, tool("x", "y"), true, ""},
		{"a rule about tools is not about prompts", []access.Rule{deny(access.Rule{Tool: globs("*")})}, false, access.Target{Door: access.DoorMCP, Server: "x", Kind: access.KindPrompt, Name: "y"}, true, ""},
		{"a rule about tools and prompts is about both", []access.Rule{deny(access.Rule{Tool: globs("a"), Prompt: globs("y")})}, false, access.Target{Door: access.DoorMCP, Server: "x", Kind: access.KindPrompt, Name: "y"}, false, "acl-1"},
		{"a rule about tools is not about the server itself", []access.Rule{deny(access.Rule{Tool: globs("*")})}, false, access.Target{Door: access.DoorMCP, Server: "x"}, true, ""},
		{"server never matches where there is none", []access.Rule{deny(access.Rule{Server: globs("*")})}, false, access.Target{Door: access.DoorChat, Kind: access.KindModel, Name: "m"}, true, ""},
		{"a model by what it resolves to", []access.Rule{deny(access.Rule{Model: globs("kimi/*")})}, false, access.Target{Door: access.DoorChat, Kind: access.KindModel, Name: "fast", Also: "kimi/k2"}, false, "acl-1"},
		{"another door", []access.Rule{deny(access.Rule{Door: globs("gateway")})}, false, tool("x", "y"), true, ""},
		{"the rule's own name", []access.Rule{deny(access.Rule{Name: "mine"})}, false, tool("x", "y"), false, "mine"},
		{"a resource by its beginning", []access.Rule{deny(access.Rule{Resource: globs("file:///srv/")})}, false, resource("file:///srv/a/b"), false, "acl-1"},
		{"a resource in capitals and percent-encoded", []access.Rule{deny(access.Rule{Resource: globs("file:///srv/")})}, false, resource("FILE:///s%72v/a"), false, "acl-1"},
		{"a resource with empty segments", []access.Rule{deny(access.Rule{Resource: globs("file:///srv/")})}, false, resource("file:////srv//a"), false, "acl-1"},
		{"a resource that climbs is nobody's", []access.Rule{allow(access.Rule{Resource: globs("file:///srv/")})}, false, resource("file:///srv/../etc/passwd"), false, "(uri)"},
		{"a resource that hides a dot", []access.Rule{allow(access.Rule{Resource: globs("file:///srv/")})}, false, resource("file:///srv/%2e%2e/etc"), false, "(uri)"},
		{"a resource that hides a slash twice", []access.Rule{allow(access.Rule{Resource: globs("file:///srv/")})}, false, resource("file:///srv/..%252fetc"), false, "(uri)"},
		{"rules that are not about resources do not judge URIs", []access.Rule{deny(access.Rule{Tool: globs("x")})}, false, resource("file:///srv/../etc/passwd"), true, ""},
	} {
		s := compile(t, c.closed, c.rules...)
		got := s.Decide(dev, c.target)
		if got.Allowed != c.want || got.Rule != c.by {
			t.Errorf("%s: Decide = %v by %q, want %v by %q", c.rule, got.Allowed, got.Rule, c.want, c.by)
		}
	}
}

func TestRedactionsBeforeTheDecisionApplyAndGrantNothing(t *testing.T) {
	redact := func(name, tool string) access.Rule {
		return access.Rule{Name: name, Tool: globs(tool), Action: access.ActionRedact, Fields: []string{"password"}}
	}
	s := compile(t, true,
		redact("first", "*"), redact("other", "b"),
		access.Rule{Tool: globs("a"), Action: access.ActionAllow},
		redact("late", "*"))
	target := func(tool string) access.Target {
		return access.Target{Door: access.DoorMCP, Server: "x", Kind: access.KindTool, Name: tool}
	}
	got := s.Decide(nil, target("a"))
	if !got.Allowed || len(got.Redact) != 1 || got.Redact[0].Rule != "first" {
		t.Errorf("a: %+v, want allowed with the redaction first", got)
	}
	if got := s.Decide(nil, target("c")); got.Allowed {
		t.Error("c: a redaction grants access")
	}
}

func TestSees(t *testing.T) {
	only := access.Rule{Server: globs("files"), Tool: globs("read_*"), Action: access.ActionAllow}
	none := access.Rule{Server: globs("files"), Action: access.ActionDeny}
	for _, c := range []struct {
		rule   string
		rules  []access.Rule
		closed bool
		server string
		want   bool
	}{
		{"no rules", nil, false, "files", true},
		{"closed", nil, true, "files", false},
		{"one of its tools", []access.Rule{only}, true, "files", true},
		{"another server's tools", []access.Rule{only}, true, "db", false},
		{"denied whole", []access.Rule{none}, false, "files", false},
		{"one tool before it is denied whole", []access.Rule{only, none}, false, "files", true},
		{"denied whole before that", []access.Rule{none, only}, false, "files", false},
		{"only its tools denied", []access.Rule{{Tool: globs("*"), Action: access.ActionDeny}}, false, "files", true},
	} {
		if got := compile(t, c.closed, c.rules...).Sees(nil, access.DoorMCP, c.server); got != c.want {
			t.Errorf("%s: Sees = %v, want %v", c.rule, got, c.want)
		}
	}
}

// Decide's index and Explain share only the rules, and always agree.
func TestDecideAgreesWithExplain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		agree(t, random)
	}
}

func FuzzDecideAgreesWithExplain(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { agree(t, rand.New(rand.NewPCG(a, b))) })
}

func agree(t *testing.T, random *rand.Rand) {
	t.Helper()
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	some := func(words ...string) (g access.Globs) {
		for random.IntN(3) == 0 {
			g = append(g, pick(words...))
		}
		return g
	}
	patterns := []string{"a", "b", "ab", "*", "a*", "*b", "a?", "?b", "a*b", "ab*", "**", "é?", "*é", "a*b*"}
	values := []string{"", "a", "b", "ab", "abb", "aab", "aé", "éb", "ba", "a*b"}
	uris := []string{"x:/a", "x:/a/", "x:/a/b", "X:/%61/b", "x:/../a", "x:/a%2fb", "x:", "y://H/a", "y://h/a"}
	rules := make([]access.Rule, random.IntN(80))
	for i := range rules {
		rules[i] = access.Rule{
			Tenant: some(patterns...), Role: some(patterns...), Subject: some(patterns...), Door: some("mcp", "g*", "chat"),
			Server: some(patterns...), Tool: some(patterns...), Prompt: some(patterns...), Model: some(patterns...), Route: some(patterns...),
			Resource: some("x:/a", "x:/a*", "x:", "Y://h/"), Action: pick(access.ActionAllow, access.ActionDeny, access.ActionRedact),
		}
		if rules[i].Action == access.ActionRedact {
			rules[i].Fields = []string{"f"}
		}
	}
	s, err := access.NewRules(rules, random.IntN(2) == 0)
	if err != nil {
		t.Fatal(err)
	}
	var p *access.Principal
	if random.IntN(10) > 0 {
		p = &access.Principal{Subject: pick(values...), Tenant: pick(values...), Roles: []string{pick(values...), pick(values...)}}
	}
	target := access.Target{Door: access.Door(pick("mcp", "gateway", "chat")), Server: pick(values...), Kind: access.TargetKind(random.IntN(6))}
	switch target.Kind {
	case access.KindNone:
	case access.KindResource:
		target.Name = pick(uris...)
	default:
		target.Name, target.Also = pick(values...), pick(values...)
	}
	fast, slow := s.Decide(p, target), s.Explain(p, target)
	var redact []string
	for _, r := range fast.Redact {
		redact = append(redact, r.Rule)
	}
	rule := ""
	if slow.Rule != nil {
		rule = *slow.Rule
	}
	if fast.Allowed != (slow.Decision == access.ActionAllow) || fast.Rule != rule || !slices.Equal(redact, slow.Redact) {
		t.Fatalf("%+v for %+v:\nDecide  %v by %q, redact %v\nExplain %s by %q, redact %v", target, p, fast.Allowed, fast.Rule, redact, slow.Decision, rule, slow.Redact)
	}
}

func TestExplainSaysWhyNot(t *testing.T) {
	s := compile(t, true,
		access.Rule{Name: "secrets", Role: globs("admin"), Action: access.ActionRedact, Fields: []string{"password"}},
		access.Rule{Name: "others", Tenant: globs("team-b"), Action: access.ActionAllow},
		access.Rule{Name: "models", Model: globs("*"), Action: access.ActionAllow},
		access.Rule{Name: "mine", Server: globs("files"), Action: access.ActionAllow},
		access.Rule{Name: "later", Action: access.ActionDeny},
	)
	got := s.Explain(&access.Principal{Subject: "alice", Tenant: "team-a"}, access.Target{Door: access.DoorMCP, Server: "files", Kind: access.KindTool, Name: "read"})
	if got.Decision != "allow" || got.Rule == nil || *got.Rule != "mine" || got.Target != "files::read" || got.Principal != "alice" {
		t.Errorf("Explain = %+v", got)
	}
	want := []access.Because{
		{Rule: "secrets", Because: "role is none, not admin"},
		{Rule: "others", Because: "tenant is team-a, not team-b"},
		{Rule: "models", Because: "it is about other kinds of things"},
		{Rule: "mine", Matched: true, Because: "matches, and decides: allow"},
		{Rule: "later", Matched: true, Because: "matches, but mine comes first"},
	}
	if !slices.Equal(got.Rules, want) {
		t.Errorf("rules = %+v\nwant    %+v", got.Rules, want)
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]access.Target{
		"files::read":             {Door: access.DoorMCP, Server: "files", Kind: access.KindTool, Name: "read"},
		"files::a::b":             {Door: access.DoorMCP, Server: "files", Kind: access.KindTool, Name: "a::b"},
		"files":                   {Door: access.DoorMCP, Server: "files"},
		"prompt:files::review":    {Door: access.DoorMCP, Server: "files", Kind: access.KindPrompt, Name: "review"},
		"resource:file:///srv/a":  {Door: access.DoorMCP, Kind: access.KindResource, Name: "file:///srv/a"},
		"resource:files::file://": {Door: access.DoorMCP, Server: "files", Kind: access.KindResource, Name: "file://"},
		"resource:http://[::1]/a": {Door: access.DoorMCP, Kind: access.KindResource, Name: "http://[::1]/a"},
		"model:kimi/k2":           {Door: access.DoorChat, Kind: access.KindModel, Name: "kimi/k2"},
		"route:/v1/embeddings":    {Door: access.DoorChat, Kind: access.KindRoute, Name: "/v1/embeddings"},
		"route:/api/v1/status":    {Door: access.DoorAdmin, Kind: access.KindRoute, Name: "/api/v1/status"},
	} {
		got, ok := access.ParseTarget(text)
		if !ok || got != want {
			t.Errorf("ParseTarget(%q) = %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "::x", "a b::c", "files::", "model:"} {
		if got, ok := access.ParseTarget(text); ok {
			t.Errorf("ParseTarget(%q) = %+v, want none", text, got)
		}
	}
}

// manyRules returns n rules with every form of pattern. Only the last one matches the benchmark's
// caller.
func manyRules(n int) []access.Rule {
	rules := make([]access.Rule, n)
	for i := range rules {
		rules[i] = access.Rule{
			Tenant: globs(fmt.Sprintf("team-%d-*", i%50)), Role: globs(fmt.Sprintf("role-%d", i)), Server: globs(fmt.Sprintf("server-%d", i)),
			Tool: globs(fmt.Sprintf("tool_%d_*", i), fmt.Sprintf("*_%d", i)), Action: access.ActionDeny,
		}
	}
	rules[n-1] = access.Rule{Subject: globs("agent-*"), Action: access.ActionAllow}
	return rules
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{1, 10, 1000} {
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			s := compile(b, true, manyRules(n)...)
			people := make([]*access.Principal, 10_000)
			for i := range people {
				people[i] = &access.Principal{
					Issuer: "token", Subject: fmt.Sprintf("agent-%d", i), Tenant: fmt.Sprintf("team-%d-x", i%50), Roles: []string{"dev", "qa"},
				}
			}
			target := access.Target{Door: access.DoorMCP, Server: "files", Kind: access.KindTool, Name: "read_text_file"}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if !s.Decide(people[i%len(people)], target).Allowed {
					b.Fatal("denied")
				}
				i++
			}
		})
	}
}

func TestDecisionsAllocateNothing(t *testing.T) {
	who := &access.Principal{Subject: "agent-7", Tenant: "team-1-x", Roles: []string{"dev", "qa"}}
	target := access.Target{Door: access.DoorMCP, Server: "files", Kind: access.KindTool, Name: "read_text_file"}
	for _, n := range []int{1, 10, 1000} {
		s := compile(t, true, manyRules(n)...)
		if got := testing.AllocsPerRun(100, func() { s.Decide(who, target) }); got != 0 {
			t.Errorf("with %d rules a decision makes %v allocations, want 0", n, got)
		}
	}
}

func TestDenies(t *testing.T) {
	read := access.Rule{Server: globs("files"), Tool: globs("read_*"), Action: access.ActionAllow}
	write := access.Rule{Server: globs("files"), Tool: globs("write_*"), Role: globs("guest"), Action: access.ActionDeny}
	guest := &access.Principal{Subject: "g", Roles: []string{"guest"}}
	for _, c := range []struct {
		rule   string
		rules  []access.Rule
		closed bool
		who    *access.Principal
		server string
		want   bool
	}{
		{"no rules", nil, false, guest, "files", false},
		{"closed", nil, true, guest, "files", true},
		{"closed but for some", []access.Rule{read}, true, guest, "files", true},
		{"allowed, open", []access.Rule{read}, false, guest, "files", false},
		{"some of its tools denied", []access.Rule{write}, false, guest, "files", true},
		{"to others", []access.Rule{write}, false, nil, "files", false},
		{"of another server", []access.Rule{write}, false, guest, "db", false},
		{"a rule about resources", []access.Rule{{Resource: globs("file:///a*"), Action: access.ActionAllow}}, false, guest, "db", true},
	} {
		if got := compile(t, c.closed, c.rules...).Denies(c.who, access.DoorMCP, c.server); got != c.want {
			t.Errorf("%s: Denies = %v, want %v", c.rule, got, c.want)
		}
	}
}
