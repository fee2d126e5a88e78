package app

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/events"
	"secateur/internal/prune"
	"secateur/internal/store/history"
	"secateur/internal/store/ledger"
	"secateur/internal/store/originals"
)

const accessDemo = `
[[auth.tokens]]
name = "ci"
hash = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
tenant = "team-a"
roles = ["dev"]
[[acl]]
name = "no-source"
role = "dev"
server = "demo"
tool = "read_source"
action = "deny"
[[acl]]
action = "redact"
fields = ["password"]
[[limits]]
name = "calls"
by = ["principal", "tool"]
rate = "60/d"
burst = 5
concurrent = 4
`

// The dashboard's other data has the shape of the OpenAPI document.
func TestDashboardDataHasTheDescribedShape(t *testing.T) {
	c := control(t, controlDemo)
	_, text := c.ask(t, "GET", "/openapi.json", "")
	c.feed.Publish(events.Refusal{Door: "mcp", Reason: "acl", Rule: "no-source", Subject: "ci"})
	for _, op := range []struct{ method, template, path, body string }{
		{"GET", "/access", "/access", ""},
		{"GET", "/tokens", "/tokens", ""},
		{"GET", "/refusals", "/refusals", ""},
		{"GET", "/pins", "/pins?server=demo", ""},
		{"POST", "/pins/approve", "/pins/approve", `{"server":"none"}`},
		{"POST", "/pins/approve", "/pins/approve", `{}`},
		{"GET", "/playground/demos", "/playground/demos", ""},
		{"POST", "/playground/text", "/playground/text", `{"text":"a\n\nb\n","goal":"b"}`},
		{"POST", "/playground/text", "/playground/text", `{"text":"a","ratio":2}`},
		{"POST", "/playground/text", "/playground/text", `{"text":"a","type":"poem"}`},
		{"POST", "/playground/conversation", "/playground/conversation", `{"request":"{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}"}`},
		{"POST", "/playground/conversation", "/playground/conversation", `{"request":"{\"model\":\"nobody\",\"input\":\"hello\"}"}`},
		{"POST", "/playground/conversation", "/playground/conversation", `{"request":"hello"}`},
		{"GET", "/savings", "/savings?by=hour", ""},
		{"POST", "/servers/{id}/disable", "/servers/demo/disable", ""},
		{"POST", "/servers/{id}/enable", "/servers/demo/enable", ""},
		{"POST", "/servers/{id}/disable", "/servers/none/disable", ""},
		{"POST", "/servers/{id}/disable", "/servers/pruner/disable", ""},
	} {
		c.wantDescribed(t, text, op.method, op.template, op.path, op.body)
	}
}

func TestAccessAsConfigured(t *testing.T) {
	h := builtWith(t, "auth_token = \""+tokenOfTest+"\"\n", accessDemo)
	ask := func(path string, into any) {
		t.Helper()
		res := browse(h, "GET", "/api/v1"+path, "", "Authorization", "Bearer "+tokenOfTest)
		if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", path, res.StatusCode, err)
		}
	}
	var all admin.AccessSettings
	ask("/access", &all)
	if !all.Asks || all.Default != "allow" || len(all.Rules) != 2 || all.Rules[0].Name != "no-source" || all.Rules[0].Tool[0] != "read_source" || all.Rules[1].Name != "acl-2" ||
		all.Rules[1].Fields[0] != "password" || len(all.Limits) != 1 || all.Limits[0].Rate != "60/d" || all.Limits[0].Concurrent != 4 {
		t.Errorf("access = %+v", all)
	}
	var tokens admin.Page[admin.NamedToken]
	ask("/tokens", &tokens)
	if len(tokens.Items) != 2 || tokens.Items[0].Kept != "auth_token" || tokens.Items[1].Name != "ci" || tokens.Items[1].Tenant != "team-a" || tokens.Items[1].Expires != nil {
		t.Errorf("tokens = %+v", tokens)
	}
	var limits admin.Page[admin.LimitUsage]
	ask("/limits", &limits)
	browse(h, "POST", "/api/v1/call", `{"tool":"demo::read_log"}`, "Authorization", "Bearer "+tokenOfTest)
	if ask("/limits", &limits); len(limits.Items) == 0 || limits.Items[0].Burst != 5 || limits.Items[0].Concurrent != 4 || limits.Items[0].Remaining >= 5 {
		t.Errorf("limits = %+v", limits)
	}
	browse(h, "GET", "/api/v1/status", "", "Authorization", "Bearer wrong")
	var refusals admin.Page[events.Refusal]
	if ask("/refusals", &refusals); len(refusals.Items) != 1 || refusals.Items[0].Reason != "unauthorized" || refusals.Items[0].At.IsZero() {
		t.Errorf("refusals = %+v", refusals)
	}
}

// Disabling and enabling a server changes the configuration file and keeps its other keys as
// written.
func TestDisableAServer(t *testing.T) {
	c := control(t, "[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\nmask_exempt = [\"${NONE:-read_x}\"] # why\n# the end\n")
	for _, step := range []struct{ verb, state, line string }{
		{"disable", "disabled", "disabled = true"},
		{"enable", "ready", ""},
	} {
		res, body := c.ask(t, "POST", "/servers/demo/"+step.verb, "")
		text, err := os.ReadFile(c.loaded.Load().Path)
		if err != nil {
			t.Fatal(err)
		}
		if got := get[admin.Server](t, c, "/servers/demo").State; res.StatusCode != http.StatusOK || (step.line != "") != strings.Contains(string(text), "disabled") || step.state == "disabled" && got != step.state {
			t.Errorf("%s: %d %s, state %s, file:\n%s", step.verb, res.StatusCode, body, got, text)
		}
		if !strings.Contains(string(text), "${NONE:-read_x}") || !strings.Contains(string(text), "# why") || !strings.Contains(string(text), "# the end") {
			t.Errorf("%s: the file is now\n%s", step.verb, text)
		}
	}
	if res, body := c.ask(t, "POST", "/servers/pruner/disable", ""); res.StatusCode != http.StatusConflict {
		t.Errorf("disable what is not in the file: %d %s", res.StatusCode, body)
	}
}

// The details of a cut name the removed parts and the reasons; a pruned text is shown as it was
// sent.
func TestOneCut(t *testing.T) {
	c := control(t, controlDemo)
	_, document := c.ask(t, "GET", "/openapi.json", "")
	text := strings.Repeat("line\n", 10)
	id, err := c.store.Put(t.Context(), "", text)
	if err != nil {
		t.Fatal(err)
	}
	chatObserver{c.savings, c.ledger}.Cut(t.Context(), proxy.ResultCut{ID: id, Provider: "p", Model: "m", Chars: 50, Kept: 20, Goal: "why", Removed: []prune.Block{{Start: 2, End: 9, Reason: "r"}}, Sent: strings.Repeat("x", 1<<15)})
	_, body := c.ask(t, "GET", "/cuts/"+id, "")
	if err := validate(document, "#/paths/~1cuts~1{id}/get/responses/200/content/application~1json/schema", body); err != nil {
		t.Errorf("%s: %v", body, err)
	}
	got := get[admin.CutDetail](t, c, "/cuts/"+id)
	if want := "line\n" + prune.Marker(id, prune.Block{Start: 2, End: 9, Reason: "r"}) + "\nline\n"; got.KeptText != want || got.TotalLines != 10 || len(got.Removed) != 1 || got.Reason == "" || got.Goal != "why" || got.Recovered {
		t.Errorf("pruned: %+v, want %q", got, want)
	}
	c.savings.Recovered(id, 1)
	if got := get[admin.CutDetail](t, c, "/cuts/"+id); !got.Recovered || got.RecoveredAt.IsZero() {
		t.Errorf("recovered: %+v", got)
	}
	res := browse(c.mux, "POST", "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`)
	original, err := c.store.Get(t.Context(), "", res.Header.Get("X-Secateur-Originals"))
	if err != nil {
		t.Fatal(err)
	}
	got = get[admin.CutDetail](t, c, "/cuts/"+res.Header.Get("X-Secateur-Originals"))
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &said); err != nil || len(got.Removed) != 1 {
		t.Fatal(err, got)
	}
	runes, part, out := []rune(original), got.Removed[0], said.Result.Content[0].Text
	if got.KeptText != out || got.RequestID != res.Header.Get("X-Request-Id") || got.RequestID == "" {
		t.Errorf("of the request %q this is said to have gone out: %.200q, but it was %.200q", got.RequestID, got.KeptText, out)
	}
	if !strings.HasPrefix(out, string(runes[:part.StartChar])) || !strings.HasSuffix(out, string(runes[part.EndChar:])) || part.StartChar == 0 || part.EndChar == len(runes) {
		t.Errorf("%+v is not what went out", part)
	}
	if res, body := c.ask(t, "GET", "/cuts/prn_none", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("a cut that never was: %d %s", res.StatusCode, body)
	}
}

// The goal of a pruned text is shown to callers who may read the text, and to no others.
func TestTheGoalOfACut(t *testing.T) {
	c := control(t, controlDemo)
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prune_text","arguments":{"text":` + strconv.Quote(strings.Repeat("a line of no use\n", 300)) +
		`,"goal_hint":"the secret of the lines","source_type":"logs","options":{"max_prune_ratio":0.5,"min_keep_lines":1,"timeout_ms":60000,"annotate_lines":false,"include_markers":true}}}}`
	if res := browse(c.mux, "POST", "/rpc", call); res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	cuts := c.feed.Cuts(1)
	if len(cuts) != 1 || cuts[0].Feature != "pruned" || cuts[0].Server != "pruner" || cuts[0].Tool != "prune_text" || cuts[0].TokensSaved <= 0 {
		t.Fatalf("prune_text is told as %+v", cuts)
	}
	got := get[admin.CutDetail](t, c, "/cuts/"+cuts[0].ID)
	if got.Goal != "the secret of the lines" || !strings.Contains(got.KeptText, "PRUN") || len(got.Removed) == 0 || got.Removed[0].StartLine == 0 {
		t.Errorf("one cut: %+v", got)
	}
	for _, path := range []string{"/cuts", "/events?types=cut&after=0&follow=false"} {
		if _, body := c.ask(t, "GET", path, ""); !strings.Contains(body, cuts[0].ID) || strings.Contains(body, "secret of the lines") {
			t.Errorf("%s: %s", path, body)
		}
	}
	foreign := events.Cut{ID: originals.ID("another", "text"), Feature: "pruned", How: &events.Removal{Reason: "r", Goal: "theirs", Sent: events.SentAs("theirs")}}
	c.feed.Publish(foreign)
	if got := get[admin.CutDetail](t, c, "/cuts/"+foreign.ID); got.Goal != "" || got.KeptText != "" || got.Reason != "r" {
		t.Errorf("what another tenant's text was cut for: %+v", got)
	}
}

// Recovering an original marks its cut as recovered, for any caller; peeking does not.
func TestRecoveredByHand(t *testing.T) {
	c := control(t, controlDemo)
	id := browse(c.mux, "POST", "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`).Header.Get("X-Secateur-Originals")
	for _, step := range []struct {
		query     string
		status    int
		recovered bool
	}{{"?peek=true", 200, false}, {"?peek=maybe", 400, false}, {"?lines=99999999", 416, false}, {"?lines=1-2", 200, true}, {"", 200, true}} {
		if res, body := c.ask(t, "GET", "/originals/"+id+step.query, ""); res.StatusCode != step.status {
			t.Errorf("%q: %d %.200s", step.query, res.StatusCode, body)
		}
		if got := get[admin.CutDetail](t, c, "/cuts/"+id); got.Recovered != step.recovered || got.RecoveredAt.IsZero() == step.recovered {
			t.Errorf("after %q: recovered %v at %v", step.query, got.Recovered, got.RecoveredAt)
		}
	}
}

// Resuming a conversation costs its prompt: read from the cache, written again, or written without
// any cuts.
func TestResumeAt(t *testing.T) {
	read, write := 0.1, 1.25
	got := resumeAt(bill.Prices{Input: 1, CachedInput: &read, CacheWrite: &write}, 1_000_000, 200_000)
	if *got != (admin.Resume{PromptTokens: 1_000_000, WarmUSD: 0.1, ColdUSD: 1.25, PassthroughColdUSD: 1.5}) {
		t.Errorf("resumeAt = %+v", got)
	}
	if got := resumeAt(bill.Prices{Input: 2}, 500_000, 0); got.WarmUSD != 1 || got.ColdUSD != 1 {
		t.Errorf("without a cache: %+v", got)
	}
	c := control(t, controlDemo, "[providers.p]\nformat = \"chat\"\nbase_url = \"http://127.0.0.1:1\"\nprices = { input = 3.0, output = 1.0 }\n")
	c.ledger.Add("hello", "p", "m", ledger.Request{RequestID: "r", PromptTokens: 1_000_000})
	c.ledger.Add("hello", "p", "uncounted", ledger.Request{RequestID: "s"})
	for _, talk := range c.ledger.List("") {
		detail := get[admin.ConversationDetail](t, c, "/conversations/"+talk.ID)
		if known := talk.Model == "m"; (detail.Resume != nil) != known || known && detail.Resume.ColdUSD != 3 {
			t.Errorf("%s: %+v", talk.Model, detail.Resume)
		}
	}
}

// Names made up by a server are no formulas in a spreadsheet. The last row is the sum.
func TestSavingsAsCSV(t *testing.T) {
	c := control(t, controlDemo)
	c.history.Cut(history.Cut{Feature: "mcp", Server: "demo", Tool: `=HYPERLINK("http://evil")`, Tokens: 5})
	c.history.Chat(history.Exchange{Provider: "p", Model: "m", Spent: 1, Passthrough: 3})
	res, body := c.ask(t, "GET", "/savings.csv?by=tool&since=24h", "")
	if res.Header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("headers %v", res.Header)
	}
	lines := strings.Split(strings.TrimSpace(body), "\n")
	if len(lines) != 4 || !strings.HasPrefix(lines[0], "tool,spent_usd,passthrough_usd,") || lines[3] != "total,1,3,2,0,5,0,0,0" {
		t.Errorf("table:\n%s", body)
	}
	if strings.Contains(body, "\n=") || strings.Contains(body, "\n\"=") {
		t.Errorf("a formula:\n%s", body)
	}
	if res, _ := c.ask(t, "GET", "/savings.csv?by=colour", ""); res.StatusCode != http.StatusBadRequest {
		t.Errorf("by colour: %d", res.StatusCode)
	}
}

// A trial leaves no original and no cut.
func TestTrialsLeaveNoTrace(t *testing.T) {
	c := control(t, controlDemo)
	demo := get[admin.Page[admin.Demo]](t, c, "/playground/demos").Items[0]
	body, err := json.Marshal(map[string]any{"text": demo.Text, "goal": demo.Goal, "ratio": 0.9})
	if err != nil {
		t.Fatal(err)
	}
	before := c.store.Stats()
	_, text := c.ask(t, "POST", "/playground/text", string(body))
	var tried struct {
		Type   string     `json:"type"`
		Scores []*float64 `json:"scores"`
		Result struct {
			ID    string `json:"prune_id"`
			Text  string `json:"pruned_text"`
			Stats struct {
				Lines int `json:"original_lines"`
				Kept  int `json:"kept_lines"`
			} `json:"stats"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(text), &tried); err != nil {
		t.Fatal(err)
	}
	if tried.Type != "logs" || len(tried.Scores) != tried.Result.Stats.Lines || tried.Result.Stats.Kept >= tried.Result.Stats.Lines/2 || !strings.Contains(tried.Result.Text, "TestApplyDiscount") {
		t.Errorf("tried: %s, %d scores, %+v", tried.Type, len(tried.Scores), tried.Result.Stats)
	}
	if after := c.store.Stats(); after.Count != before.Count {
		t.Errorf("%d originals, before %d", after.Count, before.Count)
	}
	if res, _ := c.ask(t, "GET", "/originals/"+tried.Result.ID, ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("the original is there: %d", res.StatusCode)
	}
}

// The contents of requests are captured if the configuration asks for it, without secrets, for
// their own tenant.
func TestCapture(t *testing.T) {
	call := func(c *controlled) string {
		return browse(c.mux, "POST", "/api/mcp-gateway/demo/rpc",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{},"_meta":{"password":"CANARY"}}}`).Header.Get("X-Request-Id")
	}
	off := control(t, controlDemo)
	if got := get[admin.Captured](t, off, "/requests/"+call(off)+"/payload"); got.Enabled || got.Request != nil {
		t.Errorf("nothing is configured: %+v", got)
	}
	on := control(t, controlDemo+"[admin.capture]\nbytes = 1000\n")
	got := get[admin.Captured](t, on, "/requests/"+call(on)+"/payload")
	if !got.Enabled || got.ExpiresAt == nil || got.Request == nil || !strings.Contains(got.Request.Text, `"password":"[redacted]"`) || !got.Answer.Cut || len(got.Answer.Text) != 1000 {
		t.Errorf("captured: %+v %+v %+v", got, got.Request, got.Answer)
	}
	if got := on.capturedOf(&access.Principal{Tenant: "another"}, call(on)); got.Request != nil {
		t.Errorf("another tenant reads %+v", got.Request)
	}
}
