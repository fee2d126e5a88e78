package admission_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/access/limit"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/wire"
)

func control(t *testing.T, closed bool, opt admission.Options, rules ...access.Rule) *admission.Control {
	t.Helper()
	var err error
	if opt.Rules, err = access.NewRules(rules, closed); err != nil {
		t.Fatal(err)
	}
	c, err := admission.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every name in a message is checked, also in unknown methods.
func TestTargetsOf(t *testing.T) {
	for in, want := range map[string]string{
		`"tools/call","params":{"name":"read"}`:                                                          "s::read",
		`"prompts/get","params":{"name":"review"}`:                                                       "prompt:s::review",
		`"resources/read","params":{"uri":"file:///a"}`:                                                  "resource:s::file:///a",
		`"resources/subscribe","params":{"uri":"file:///a"}`:                                             "resource:s::file:///a",
		`"resources/unsubscribe","params":{"uri":"file:///a"}`:                                           "resource:s::file:///a",
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"review"}}`:                   "prompt:s::review",
		`"completion/complete","params":{"ref":{"type":"ref/resource","uri":"file:///{a}"}}`:             "resource:s::file:///{a}",
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"review","uri":"file:///a"}}`: "prompt:s::review, resource:s::file:///a",
		`"completion/complete","params":{"ref":{"type":"ref/resource","name":"x","uri":"file:///a"}}`:    "prompt:s::x, resource:s::file:///a",
		`"completion/complete","params":{"ref":{"type":"ref/other","name":"x"}}`:                         "prompt:s::x, resource:s::",
		`"tools/list"`:                          "",
		`"ping"`:                                "",
		`"tasks/get","params":{"taskId":"1"}`:   "",
		`"x/run","params":{"name":"read"}`:      "s, s::read, prompt:s::read",
		`"x/open","params":{"uri":"file:///a"}`: "s, resource:s::file:///a",
		`"x/any"`:                               "s",
		`"TOOLS/call","params":{"name":"read"}`: "s, s::read, prompt:s::read",
	} {
		m, bad := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":`+in+`}`), wire.MaxRequestDepth)
		if bad != nil {
			t.Fatal(in, bad)
		}
		var got []string
		for _, target := range admission.TargetsOf(access.DoorGateway, "s", &m) {
			got = append(got, target.String())
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func TestAskNeedsEveryTarget(t *testing.T) {
	c := control(t, false, admission.Options{Explain: []string{"lead"}}, access.Rule{Name: "no", Prompt: access.Globs{"x"}, Action: access.ActionDeny})
	tool := access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: "x"}
	prompt := tool
	prompt.Kind = access.KindPrompt
	if _, no := c.Ask(t.Context(), nil, "m", tool); no != nil {
		t.Errorf("the tool: %+v", no)
	}
	_, no := c.Ask(t.Context(), nil, "m", tool, prompt)
	if no == nil {
		t.Fatal("the prompt is allowed")
	}
	if e, status, _ := no.Error(); e.Code != wire.CodeInvalidParams || e.Message != "unknown prompt: x" || status != 0 {
		t.Errorf("%d %v %d", e.Code, e, status)
	}
	_, no = c.Ask(t.Context(), &access.Principal{Roles: []string{"lead"}}, "m", prompt)
	if e, status, _ := no.Error(); e.Code != wire.CodeForbidden || status != 403 || string(e.Data.Extra) != `"rule":"no"` {
		t.Errorf("who may know: %d %v %d %s", e.Code, e, status, e.Data.Extra)
	}
}

func TestGeneralLimitsAreAskedFirstAndOnce(t *testing.T) {
	c := control(t, false, admission.Options{PerMinute: 2, Limits: []limit.Settings{
		{Name: "tools", Tool: access.Globs{"*"}, Rate: limit.Rate{Number: 1, Per: 1 << 40}},
	}})
	tool := access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: "x"}
	entry, over := c.Enter(t.Context(), access.Anonymous(), access.DoorMCP)
	if over != nil || entry.State().Remaining != 1 {
		t.Fatalf("%+v, %+v", entry, over)
	}
	if _, no := c.Ask(t.Context(), access.Anonymous(), "tools/call", tool); no != nil {
		t.Fatal(no)
	}
	_, no := c.Ask(t.Context(), access.Anonymous(), "tools/call", tool)
	if no == nil || no.Limit == nil || no.Limit.Limit != "tools" {
		t.Fatalf("%+v, want the limit on tools", no)
	}
	if e, status, header := no.Error(); e.Message != "Rate limit exceeded" || status != 429 || header.Get("Retry-After") == "" ||
		header.Get("X-RateLimit-Remaining") != "0" || header.Get("X-RateLimit-Limit") != "1" {
		t.Errorf("%v %d %v", e, status, header)
	}
	if entry, over := c.Enter(t.Context(), access.Anonymous(), access.DoorMCP); over != nil || entry.State().Remaining != 0 {
		t.Errorf("the asking counted too: %+v, %+v", entry, over)
	}
}

func TestListTargetOfATemplate(t *testing.T) {
	got := admission.ListTarget(access.DoorMCP, "s", catalog.Templates, "file:///srv/{path}")
	if got.Name != "file:///srv/" || got.Kind != access.KindResource {
		t.Errorf("%+v", got)
	}
}

type lines []admission.Line

func (l *lines) Write(_ context.Context, line admission.Line) { *l = append(*l, line) }

func TestEveryDecisionIsOneLine(t *testing.T) {
	var got lines
	c := control(t, false, admission.Options{Audit: &got, PerMinute: 1},
		access.Rule{Name: "hide", Action: access.ActionRedact, Fields: []string{"x"}, Tool: access.Globs{"b"}},
		access.Rule{Name: "no", Action: access.ActionDeny, Tool: access.Globs{"c"}})
	for _, tool := range []string{"a", "b", "c"} {
		permit, _ := c.Ask(t.Context(), nil, "tools/call", access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: tool})
		permit.Done(10, 20)
	}
	for range 2 {
		entry, _ := c.Enter(t.Context(), nil, access.DoorMCP)
		entry.Leave()
	}
	c.Unauthorized(t.Context(), access.DoorChat, "missing")
	var words []string
	for _, l := range got {
		words = append(words, l.Decision+" "+l.Rule)
	}
	if want := []string{"allow ", "redact ", "deny no", "limit rate_limit_per_minute", "unauthorized missing"}; !slices.Equal(words, want) {
		t.Errorf("%q, want %q", words, want)
	}
}

func TestFileAudit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	a, err := admission.OpenFileAudit(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Write(t.Context(), admission.Line{
		Principal: &access.Principal{Issuer: "token", Subject: "ci", Tenant: "team-a"}, Method: "tools/call", Decision: "allow", Rule: "r", BytesIn: 1, BytesOut: 2,
		Target: access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: "x\ny"},
	})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `","issuer":"token","subject":"ci","tenant":"team-a","door":"mcp","method":"tools/call","server":"s","target":"s::x\ny","decision":"allow","rule":"r","bytes_in":1,"bytes_out":2}` + "\n"
	if !strings.HasSuffix(string(b), want) || strings.Count(string(b), "\n") != 1 {
		t.Errorf("%s", b)
	}
}

func TestWhatServersSayOnTheWayIsRedacted(t *testing.T) {
	c := control(t, false, admission.Options{},
		access.Rule{Server: access.Globs{"s"}, Tool: access.Globs{"x"}, Action: access.ActionRedact, Patterns: []string{"sk-[a-z]+"}},
		access.Rule{Server: access.Globs{"other"}, Action: access.ActionRedact, Patterns: []string{"."}},
	)
	n := wire.NewNotification("notifications/message", []byte(`{"level":"info","data":"key sk-abc"}`))
	const want = `{"level":"info","data":"key [redacted]"}`
	permit, no := c.Ask(t.Context(), nil, "tools/call", access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: "x"})
	if no != nil {
		t.Fatal(no)
	}
	if got := permit.RedactNotice(&n); string(got.Params) != want {
		t.Errorf("in a call: %s", got.Params)
	}
	if got := c.RedactNotice(nil, access.DoorMCP, "s", &n); string(got.Params) != want {
		t.Errorf("outside any: %s", got.Params)
	}
	if got := c.RedactNotice(nil, access.DoorMCP, "third", &n); got != &n {
		t.Errorf("of a server without a rule: %s", got.Params)
	}
	task, _ := c.AskSeen(t.Context(), nil, "tasks/result", access.Target{Door: access.DoorMCP, Server: "s"})
	if got := task.RedactResult([]byte(`"sk-abc"`)); string(got) != `"[redacted]"` {
		t.Errorf("the result of a task: %s", got)
	}
}

func TestArgumentsOfCompletionsAreRedacted(t *testing.T) {
	c := control(t, false, admission.Options{}, access.Rule{Action: access.ActionRedact, Patterns: []string{"sk-[a-z]+"}})
	permit, no := c.Ask(t.Context(), nil, "completion/complete", access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindPrompt, Name: "x"})
	if no != nil {
		t.Fatal(no)
	}
	const params = `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"key","value":"sk-abc"},"context":{"arguments":{"a":"sk-def"}}}`
	want := strings.NewReplacer("sk-abc", "[redacted]", "sk-def", "[redacted]").Replace(params)
	if got := string(permit.RedactParams([]byte(params))); got != want {
		t.Errorf("RedactParams = %s, want %s", got, want)
	}
}

// The headers show the limit with the least left, in any order of limits.
func TestHeadersTellOfTheLimitWithLeastLeft(t *testing.T) {
	few, many := limit.State{Limit: 5, Remaining: 1, Reset: time.Second}, limit.State{Limit: 100, Remaining: 90, Reset: time.Minute}
	for _, order := range [][]limit.State{{few, many}, {many, few}} {
		h := http.Header{}
		for _, s := range order {
			admission.SetHeaders(h, s)
		}
		if h.Get("X-RateLimit-Limit") != "5" || h.Get("X-RateLimit-Remaining") != "1" || h.Get("X-RateLimit-Reset") != "1" {
			t.Errorf("%v: %v", order, h)
		}
	}
}

// Subscriptions target the resources that they name. A method that may not be used looks unknown.
func TestWhatMethodsName(t *testing.T) {
	c := control(t, false, admission.Options{}, access.Rule{Resource: access.Globs{"file:///secret/"}, Action: access.ActionDeny},
		access.Rule{Server: access.Globs{"s"}, Tool: access.Globs{"*"}, Action: access.ActionAllow}, access.Rule{Server: access.Globs{"closed"}, Action: access.ActionDeny})
	listen := wire.NewRequest(wire.StringID("1"), "subscriptions/listen", []byte(`{"notifications":{"resourceSubscriptions":["file:///open","file:/secret/a"]}}`))
	if _, no := c.Ask(t.Context(), nil, listen.Method, admission.TargetsOf(access.DoorGateway, "s", &listen)...); no == nil {
		t.Error("a denied resource can be followed")
	}
	vendor := wire.NewRequest(wire.StringID("1"), "vendor/do", []byte(`{}`))
	_, no := c.Ask(t.Context(), nil, vendor.Method, admission.TargetsOf(access.DoorGateway, "closed", &vendor)...)
	if no == nil {
		t.Fatal("a method of a denied server can be used")
	}
	if e, _, _ := no.Error(); e.Code != wire.CodeMethodNotFound || e.Message != "method not found: vendor/do" {
		t.Errorf("%+v", e)
	}
}

// A limit by tool counts unlisted names as one, and a hidden tool too. The remaining quota does not
// reveal the difference.
func TestToolsThatAreNotListedCountAsOne(t *testing.T) {
	c := control(t, false, admission.Options{
		HasTool: func(_, tool string) bool { return tool == "read" || tool == "hidden" },
		Limits:  []limit.Settings{{By: []string{"tool"}, Rate: limit.Rate{Number: 3, Per: time.Hour}}},
	}, access.Rule{Action: access.ActionDeny, Tool: access.Globs{"hidden"}})
	p := access.TokenHolder()
	left := func(tool string) int {
		permit, no := c.Ask(t.Context(), p, "tools/call", access.Target{Door: access.DoorMCP, Server: "s", Kind: access.KindTool, Name: tool})
		switch {
		case no == nil:
			defer permit.Done(0, 0)
			return permit.State().Remaining
		case no.Limit != nil:
			return -1
		}
		return -2 // hidden
	}
	for _, step := range []struct {
		tool string
		want int
	}{{"made-up", 2}, {"made-up-too", 1}, {"read", 2}, {"hidden", -2}, {"another", -1}, {"hidden", -1}, {"read", 1}} {
		if got := left(step.tool); got != step.want {
			t.Errorf("%s: %d left, want %d", step.tool, got, step.want)
		}
	}
}
