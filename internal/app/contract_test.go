package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"secateur/internal/config"
	"secateur/internal/ops/events"
	"secateur/internal/store/history"
)

// contractMetrics are the metrics with their labels on which users' dashboards and alerts rely.
var contractMetrics = []string{
	"secateur_gateway_requests_total{method,outcome,server,tool}", "secateur_gateway_request_seconds{method,server}",
	"secateur_mcp_requests_total{method,outcome,server,tool}", "secateur_mcp_request_seconds{method,server}",
	"secateur_server_up{server}", "secateur_server_restarts_total{server}", "secateur_server_in_flight{server}",
	"secateur_cuts_total{feature,server}", "secateur_cut_chars_total{feature,server}", "secateur_cut_tokens_total{feature,server}",
	"secateur_recovered_total{feature}", "secateur_recovered_tokens_total{feature}", "secateur_recovery_ratio{feature}",
	"secateur_chat_spent_dollars_total{model,provider}", "secateur_chat_passthrough_dollars_total{model,provider}",
	"secateur_chat_saved_dollars_total{feature,model,provider}", "secateur_chat_lost_dollars_total{feature,model,provider}",
	"secateur_chat_prompt_tokens_total{model,provider}", "secateur_chat_cached_tokens_total{model,provider}",
	"secateur_refusals_total{door,reason,rule}",
	"secateur_in_flight_bytes", "secateur_in_flight_bytes_limit", "secateur_queued{limit}", "secateur_sessions",
	"secateur_config_last_reload_successful", "secateur_config_last_reload_success_timestamp_seconds", "secateur_reloads_total{outcome}",
	"secateur_build_info{commit,goversion,version}",
}

// busy returns a program that has handled some of everything: calls, cuts, a recovery, a priced
// conversation, refusals.
func busy(t *testing.T, canary string) (*App, http.Handler, string) {
	t.Helper()
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"`+canary+`"}}],"usage":{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":250}}}`)
	}))
	t.Cleanup(provider.Close)
	cfg, mistakes := config.Load("c.toml", []byte("rate_limit_per_minute = 20\n[store]\nurl = \"memory:\"\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n"+
		"[providers.p]\nbase_url = \""+provider.URL+"/v1\"\n[[acl]]\nname = \"no-json\"\ntool = \"read_json\"\naction = \"deny\"\n"+
		"[observation_masking.gateway]\nmax_chars = 400\nhead_chars = 200\ntail_chars = 200\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	dir := t.TempDir()
	a, h := running(t, Options{Config: cfg, Version: "v9", Commit: "abc", StateDir: dir})
	w := post(t, h, "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}`,
		"Authorization", "Bearer "+canary)
	id, _, _ := strings.Cut(w.Header().Get("X-Secateur-Originals"), ",")
	if id == "" {
		t.Fatalf("nothing was cut: %.300s", w.Body)
	}
	for _, r := range []struct{ path, body string }{
		{"/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":"` + id +
			`","ranges":[{"start_line":1,"end_line":1}],"include_line_numbers":false}}}`},
		{"/v1/chat/completions", `{"model":"gpt-4o","messages":[{"role":"user","content":"` + canary + `"}]}`},
		{"/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{"` + canary + `":"` + canary + `"}}}`},
		{"/v1/chat/completions", `{"model":"` + canary + `","messages":[]}`},
		{"/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_json","arguments":{}}}`},
		{"/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"` + canary + `","params":{"name":"` + canary + `"}}`},
		{"/api/mcp-gateway/" + canary + "/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
	} {
		post(t, h, r.path, r.body)
	}
	post(t, h, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo::`+canary+`","arguments":{},`+modernMeta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "demo::"+canary)
	for range 25 {
		post(t, h, "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	}
	serve(h, hung{http.MethodGet, "/healthz", ""}, nil, "Host", "evil.example")
	return a, h, dir
}

func TestEveryMetricOfTheContractIsThere(t *testing.T) {
	a, h, _ := busy(t, "x")
	registered := registeredMetrics(a.registry)
	for _, m := range contractMetrics {
		if !slices.Contains(registered, m) {
			t.Errorf("%s is not registered", m)
		}
	}
	scraped := serve(h, hung{http.MethodGet, "/metrics", ""}, nil).Body.String()
	for _, want := range []string{
		`secateur_server_up{server="demo"} 1`, `secateur_cuts_total{feature="gateway",server="demo"}`, `secateur_recovered_total{feature="gateway"} 1`,
		`secateur_chat_prompt_tokens_total{model="gpt-4o",provider="p"} 1000`, `secateur_chat_cached_tokens_total{model="gpt-4o",provider="p"} 250`,
		`secateur_refusals_total{door="gateway",reason="acl",rule="no-json"} 1`, `secateur_refusals_total{door="gateway",reason="rate",rule="rate_limit_per_minute"}`,
		`secateur_refusals_total{door="admin",reason="forbidden",rule=""} 1`, `secateur_config_last_reload_successful 1`,
		`commit="abc"`, `secateur_sessions 0`, "go_goroutines ", "process_start_time_seconds ",
	} {
		if !strings.Contains(scraped, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	problems, err := testutil.GatherAndLint(a.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "secateur_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

// Contents from clients, servers and providers appear in no metric, no event and no history file.
func TestTelemetryHoldsNoContents(t *testing.T) {
	const canary = "canary-5f3a"
	a, h, dir := busy(t, canary)
	if strings.Contains(serve(h, hung{http.MethodGet, "/metrics", ""}, nil).Body.String(), canary) {
		t.Error("/metrics holds what a caller wrote")
	}
	batch, err := a.feed.Subscribe(events.FromStart).Next(t.Context())
	if err != nil || len(batch.Events) < 10 {
		t.Fatalf("%d events, %v", len(batch.Events), err)
	}
	for _, e := range batch.Events {
		b, err := json.Marshal(e.Data)
		if err != nil || strings.Contains(string(b), canary) {
			t.Errorf("event %s %s, %v", e.Type, b, err)
		}
	}
	if err := a.history.Save(); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "history", "*.json"))
	var kept []byte // one file, or two around midnight
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, b...)
	}
	if strings.Contains(string(kept), canary) || !strings.Contains(string(kept), "gpt-4o") {
		t.Errorf("history: %s", kept)
	}
}

// Savings survive a restart.
func TestSavingsSurviveARestart(t *testing.T) {
	a, _, dir := busy(t, "x")
	before, err := a.history.Query(history.Query{By: history.ByFeature})
	if err != nil || before.CutTokens == 0 || before.RecoveredTokens == 0 || before.SpentUSD <= 0 || before.CacheHitRate != 0.25 {
		t.Fatalf("savings %+v, %v", before, err)
	}
	if err := a.history.Save(); err != nil { // as at the end of the program
		t.Fatal(err)
	}
	again, err := history.Open(history.Options{Dir: filepath.Join(dir, "history")})
	if err != nil {
		t.Fatal(err)
	}
	after, err := again.Query(history.Query{By: history.ByFeature})
	if err != nil || after.CutTokens != before.CutTokens || after.SpentUSD != before.SpentUSD || len(after.Items) != len(before.Items) {
		t.Errorf("after a restart %+v, %v; before %+v", after, err, before)
	}
}
