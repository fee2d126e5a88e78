package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/config"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/ops/admin"
)

// reloadable is a program whose configuration can be rewritten while it runs.
type reloadable struct {
	*App
	t    *testing.T
	path string
}

const demo1 = "[[servers]]\nid = \"one\"\nbuiltin = \"demo\"\n"

// startReloadable runs the program with a configuration, without a listener.
func startReloadable(t *testing.T, text string) *reloadable {
	t.Helper()
	return startReloadableWith(t, text, func(*Options) {})
}

// startReloadableWith is startReloadable with other options.
func startReloadableWith(t *testing.T, text string, change func(*Options)) *reloadable {
	t.Helper()
	r := &reloadable{t: t, path: t.TempDir() + "/secateur.toml"}
	r.write(text)
	load := func() (*config.Config, []config.Problem) {
		cfg, mistakes := config.LoadFile(r.path, config.Options{})
		if cfg != nil {
			cfg.FirstListWait = time.Minute // for a busy machine
		}
		return cfg, mistakes
	}
	cfg, mistakes := load()
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	opt := Options{Config: cfg, Version: "1", StateDir: t.TempDir(), Environ: os.Environ(), Load: load}
	change(&opt)
	a, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.live.Load().hang(&generation{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = a.servers.Run(ctx) })
	t.Cleanup(func() {
		a.closeMCP(context.Background())
		cancel()
		running.Wait()
		_ = a.close()
	})
	r.App = a
	return r
}

// write rewrites the file; the store is in memory.
func (r *reloadable) write(text string) {
	r.t.Helper()
	if !strings.Contains(text, "[store]") {
		text += "\n[store]\nurl = \"memory:\"\n"
	}
	if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// reload rewrites the file and applies it.
func (r *reloadable) reload(text string) admin.Reloaded {
	r.t.Helper()
	r.write(text)
	out, err := r.Reload(r.t.Context(), Apply)
	if err != nil {
		r.t.Fatalf("Reload: %v", err)
	}
	return out
}

// do sends a request to the live generation.
func (r *reloadable) do(method, path, body string, headers ...string) (int, string) {
	r.t.Helper()
	req := httptest.NewRequest(method, "http://127.0.0.1:8000"+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

// tools returns the tool names that the gateway lists for a server; "": none.
func (r *reloadable) tools(server string) string {
	r.t.Helper()
	_, body := r.do("POST", "/api/mcp-gateway/"+server+"/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Content-Type", "application/json")
	var said struct {
		Result struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		r.t.Fatalf("%s: %v", body, err)
	}
	var names []string
	for _, t := range said.Result.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

func TestReloadTellsAndApplies(t *testing.T) {
	r := startReloadable(t, demo1)
	if r.tools("one") == "" || r.tools("two") != "" {
		t.Fatal("one is not there, or two is")
	}
	two := strings.Replace(demo1, "one", "two", 1)
	text := demo1 + two + "[naming]\nseparator = \"__\"\n[store]\nurl = \"memory:\"\nttl_s = 10\n"
	r.write(text)
	want := admin.Reloaded{
		Changed: true, Added: []string{"two"}, Removed: []string{}, Restarted: []string{}, Unchanged: []string{"one", "pruner"},
		Keys: []string{"naming.separator"}, RestartNeeded: []string{"store.ttl_s"},
	}
	if got, err := r.Reload(t.Context(), DryRun); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("dry run: %+v, %v, want %+v", got, err, want)
	}
	if r.tools("two") != "" {
		t.Error("a dry run has changed something")
	}
	if got := r.reload(text); !reflect.DeepEqual(got, want) {
		t.Errorf("reload: %+v, want %+v", got, want)
	}
	if r.tools("two") == "" {
		t.Error("two is not there")
	}
	if _, body := r.do("GET", "/api/v1/status", ""); !strings.Contains(body, `"restart_needed":["store.ttl_s"]`) {
		t.Errorf("status: %s", body)
	}
	// Keys that wait for a restart are reported every time; applied ones only once.
	want.Changed, want.Added, want.Keys, want.Unchanged = false, []string{}, []string{}, []string{"one", "two", "pruner"}
	if got := r.reload(text); !reflect.DeepEqual(got, want) {
		t.Errorf("the same again: %+v, want %+v", got, want)
	}
	want.Changed, want.Removed, want.Unchanged, want.Keys = true, []string{"one"}, []string{"two", "pruner"}, []string{"naming.separator", "servers.two.startup_timeout"}
	want.RestartNeeded = []string{}
	if got := r.reload(two + "startup_timeout = 7\n"); !reflect.DeepEqual(got, want) {
		t.Errorf("back: %+v, want %+v", got, want)
	}
	if r.tools("one") != "" || r.tools("two") == "" {
		t.Error("one is still there, or two is gone")
	}
}

func TestReloadOfAnInvalidFileChangesNothing(t *testing.T) {
	r := startReloadable(t, demo1)
	before := r.live.Load()
	r.write("[[servers]]\nid = \"two\"\nbuiltin = \"demo\"\nstartup_timeuot = 7\n")
	_, err := r.Reload(t.Context(), Apply)
	invalid, ok := errors.AsType[*InvalidConfig](err)
	if !ok || len(invalid.Mistakes) != 1 || invalid.Mistakes[0].Line != 4 {
		t.Fatalf("Reload: %v", err)
	}
	status, body := r.do("POST", "/api/v1/reload", "")
	var p admin.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || status != http.StatusUnprocessableEntity || p.Code != "config_invalid" || len(p.Errors) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	if e := p.Errors[0]; e.File != r.path || e.Line != 4 || e.Key != "servers[0].startup_timeuot" || !strings.Contains(e.Message, "did you mean") {
		t.Errorf("%+v", e)
	}
	if r.tools("one") == "" || r.live.Load() != before {
		t.Error("something has changed")
	}
}

func TestReloadOverTheControlPlane(t *testing.T) {
	r := startReloadable(t, demo1)
	r.write(strings.Replace(demo1, "one", "two", 1))
	status, body := r.do("POST", "/api/v1/reload?dry_run=true", "")
	want := `{"added":["two"],"changed":true,"keys":[],"removed":["one"],"restart_needed":[],"restarted":[],"unchanged":["pruner"]}`
	sorted := func(text string) string {
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out, _ := json.Marshal(v)
		return string(out)
	}
	if status != http.StatusOK || sorted(body) != want {
		t.Errorf("dry run: %d %s", status, body)
	}
	if r.tools("one") == "" {
		t.Error("a dry run has changed something")
	}
	if status, body := r.do("POST", "/api/v1/reload", ""); status != http.StatusOK || sorted(body) != want {
		t.Errorf("%d %s", status, body)
	}
	if r.tools("one") != "" || r.tools("two") == "" {
		t.Error("it was not applied")
	}
	if status, _ := r.do("POST", "/api/v1/reload?dry_run=perhaps", ""); status != http.StatusBadRequest {
		t.Errorf("dry_run=perhaps: %d, want 400", status)
	}
}

// The pruner is one of the servers. It can be switched off and on, and its calls continue the same
// metrics.
func TestReloadSwitchesThePrunerOffAndOn(t *testing.T) {
	r := startReloadable(t, demo1)
	for range 3 {
		if out := r.reload(demo1 + "[mcp_pruner]\nenabled = false\n"); !reflect.DeepEqual(out.Removed, []string{"pruner"}) {
			t.Errorf("%+v", out)
		}
		if status, _ := r.do("GET", "/health", ""); status != http.StatusNotFound || r.tools("pruner") != "" {
			t.Errorf("GET /health: %d, want 404", status)
		}
		if out := r.reload(demo1); !reflect.DeepEqual(out.Added, []string{"pruner"}) {
			t.Errorf("%+v", out)
		}
		if status, _ := r.do("GET", "/health", ""); status != http.StatusOK || r.tools("pruner") == "" {
			t.Errorf("GET /health: %d, want 200", status)
		}
	}
	out := r.reload(demo1 + "[mcp_pruner]\nmax_input_chars = 10\n")
	if !reflect.DeepEqual(out.Restarted, []string{"pruner"}) || !reflect.DeepEqual(out.Keys, []string{"mcp_pruner.max_input_chars"}) {
		t.Errorf("%+v", out)
	}
	if _, body := r.do("POST", "/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"prune_text","arguments":{"text":"`+strings.Repeat("line\\n", 100)+`","goal_hint":"g","source_type":"logs","options":{"max_prune_ratio":0.5,"min_keep_lines":0,"timeout_ms":1000,"annotate_lines":false,"include_markers":true}}}}`, "Content-Type", "application/json"); !strings.Contains(body, "input_too_large") {
		t.Errorf("the new bound does not hold: %s", body)
	}
}

func TestReloadIsToldToClients(t *testing.T) {
	r := startReloadable(t, demo1)
	heard := make(chan string, 10)
	m := r.servers.Join(pool.Client{Era: era.Legacy, Session: true}, listeners(heard))
	defer m.Leave()
	m.Catalog(t.Context())
	r.reload(demo1 + strings.Replace(demo1, "one", "two", 1))
	if got := <-heard; got != "tools" {
		t.Errorf("heard %q", got)
	}
}
