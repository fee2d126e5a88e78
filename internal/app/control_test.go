package app

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"secateur/internal/config"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/pool"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/events"
	"secateur/internal/store/history"
	"secateur/internal/store/ledger"
	"secateur/internal/store/originals"
)

// controlled is a running program with its control plane.
type controlled struct {
	*App
	mux *router
}

// control runs the program with a configuration and waits until its servers have listed everything.
func control(t *testing.T, text string, keys ...string) *controlled {
	t.Helper()
	path := t.TempDir() + "/secateur.toml"
	text = "first_list_wait = 60\n" + strings.Join(keys, "") + "[store]\nurl = \"memory:\"\n" + text
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, mistakes := config.LoadFile(path, config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	load := func() (*config.Config, []config.Problem) {
		return config.LoadFile(path, config.Options{Lookup: os.LookupEnv})
	}
	a, err := New(Options{Config: cfg, Version: "1.2.3", Commit: "abcdef", StateDir: t.TempDir(), Environ: os.Environ(), Load: load})
	if err != nil {
		t.Fatal(err)
	}
	c := &controlled{a, servedBy(t, a)}
	m := a.servers.Join(pool.Client{Era: era.Legacy}, nil)
	defer m.Leave()
	m.Catalog(t.Context()) // waits for each server
	return c
}

// eventually waits for a condition that is not ordered with what the test has seen. It is patient
// with a busy machine.
func eventually(t *testing.T, holds func() bool, otherwise string, args ...any) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf(otherwise, args...)
		}
	}
}

// ask sends a request to the control plane and reads the response. Headers come in pairs.
func (c *controlled) ask(t *testing.T, method, path, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req := httptest.NewRequest(method, "http://127.0.0.1:8000/api/v1"+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.mux.ServeHTTP(w, req)
	res := w.Result()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

// get requests an existing resource and decodes it.
func get[T any](t *testing.T, c *controlled, path string) T {
	t.Helper()
	res, body := c.ask(t, "GET", path, "")
	var v T
	if err := json.Unmarshal([]byte(body), &v); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s (%v)", path, res.StatusCode, body, err)
	}
	return v
}

// wantProblem checks a refusal.
func wantProblem(t *testing.T, res *http.Response, body string, status int, code string, parts ...string) {
	t.Helper()
	var p admin.Problem
	err := json.Unmarshal([]byte(body), &p)
	if err != nil || res.StatusCode != status || p.Status != status || p.Code != code || p.Type != "about:blank" || p.Title == "" ||
		res.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("answer = %d %s, want %d %s", res.StatusCode, body, status, code)
	}
	for _, part := range parts {
		if !strings.Contains(p.Detail+" "+p.Hint, part) {
			t.Errorf("%s: want %q in it", body, part)
		}
	}
}

const controlDemo = "[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n"

// openAPI is the part of an OpenAPI document that the test reads.
type openAPI struct {
	OpenAPI string                               `json:"openapi"`
	Servers []struct{ URL string }               `json:"servers"`
	Paths   map[string]map[string]map[string]any `json:"paths"`
	Parts   struct{ Schemas map[string]any }     `json:"components"`
}

// The document and the router have the same operations, each with a unique id.
func TestOpenAPIAgreesWithTheRouter(t *testing.T) {
	c := control(t, controlDemo)
	doc := get[openAPI](t, c, "/openapi.json")
	if doc.OpenAPI != "3.1.0" || len(doc.Servers) != 1 || doc.Servers[0].URL != "/api/v1" {
		t.Errorf("openapi %s, servers %v", doc.OpenAPI, doc.Servers)
	}
	var described []string
	ids := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			described = append(described, strings.ToUpper(method)+" /api/v1"+path)
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] {
				t.Errorf("%s %s: operationId %q is missing or taken", method, path, id)
			}
			ids[id] = true
		}
	}
	var hung []string
	for _, pattern := range c.mux.patterns {
		if strings.Contains(pattern, " /api/v1/") {
			hung = append(hung, pattern)
		}
	}
	slices.Sort(described)
	slices.Sort(hung)
	if !slices.Equal(described, hung) {
		t.Errorf("described:\n%s\nhung:\n%s", strings.Join(described, "\n"), strings.Join(hung, "\n"))
	}
}

// Responses have the shape of the document, checked by an independent validator.
func TestAnswersHaveTheDescribedShape(t *testing.T) {
	c := control(t, controlDemo)
	_, text := c.ask(t, "GET", "/openapi.json", "")
	id, err := c.store.Put(t.Context(), "", "one\ntwo\n")
	if err != nil {
		t.Fatal(err)
	}
	c.ledger.Add("hello", "p", "m", ledger.Request{RequestID: "r"})
	talk := c.ledger.List("")[0].ID
	c.feed.Publish(events.Cut{ID: id, Feature: "mcp", Server: "demo"})
	c.history.Cut(history.Cut{Feature: "mcp", Server: "demo", Tokens: 5})
	for _, op := range []struct{ method, template, path, body string }{
		{"GET", "/status", "/status", ""},
		{"GET", "/servers", "/servers", ""},
		{"GET", "/servers/{id}", "/servers/demo", ""},
		{"GET", "/servers/{id}/stderr", "/servers/demo/stderr", ""},
		{"POST", "/servers/{id}/restart", "/servers/demo/restart", ""},
		{"POST", "/servers/{id}/refresh", "/servers/demo/refresh", ""},
		{"GET", "/servers/{id}/login", "/servers/demo/login", ""},
		{"POST", "/servers/{id}/login", "/servers/demo/login", ""},
		{"GET", "/requests/{id}/payload", "/requests/none/payload", ""},
		{"GET", "/tools", "/tools?server=demo", ""},
		{"GET", "/tools/search", "/tools/search?q=read+a+file", ""},
		{"POST", "/call", "/call", `{"tool":"demo::read_log"}`},
		{"POST", "/call", "/call", `{"tool":"demo::none"}`},
		{"GET", "/originals/{id}", "/originals/" + id, ""},
		{"GET", "/limits", "/limits", ""},
		{"POST", "/templates", "/templates", noteTemplate},
		{"GET", "/templates", "/templates", ""},
		{"PUT", "/templates/{name}", "/templates/note", noteTemplate},
		{"GET", "/templates/{name}", "/templates/note", ""},
		{"GET", "/cuts", "/cuts?feature=mcp", ""},
		{"GET", "/savings", "/savings?by=day", ""},
		{"GET", "/conversations", "/conversations", ""},
		{"GET", "/conversations/{id}", "/conversations/" + talk, ""},
		{"POST", "/reload", "/reload?dry_run=true", ""},
		{"GET", "/whoami", "/whoami", ""},
		{"GET", "/access/explain", "/access/explain?principal=subject=a&target=demo::read_log", ""},
		{"GET", "/servers/{id}", "/servers/none", ""},
		{"GET", "/originals/{id}", "/originals/prn_none", ""},
		{"GET", "/servers", "/servers?limit=0", ""},
	} {
		c.wantDescribed(t, text, op.method, op.template, op.path, op.body)
	}
}

// wantDescribed sends a request and validates the response against the document's schema for the
// operation.
func (c *controlled) wantDescribed(t *testing.T, document, method, template, path, sent string) {
	t.Helper()
	res, body := c.ask(t, method, path, sent)
	status, media := strconv.Itoa(res.StatusCode), "application~1json"
	if res.StatusCode >= 400 {
		status, media = "default", "application~1problem+json"
	}
	at := "#/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(template) + "/" + strings.ToLower(method) + "/responses/" + status + "/content/" + media + "/schema"
	if err := validate(document, at, body); err != nil {
		t.Errorf("%s %s: %s does not fit %s: %v", method, path, body, at, err)
	}
}

// validate checks a response against a schema of the document.
func validate(document, at, instance string) error {
	document = strings.ReplaceAll(document, "#/components/schemas/", "#/$defs/")
	var whole struct {
		Components struct {
			Schemas json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(document), &whole); err != nil {
		return err
	}
	part, err := rawPart([]byte(document), strings.Split(at, "/")[1:])
	if err != nil {
		return err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"$defs":`+string(whole.Components.Schemas)+`,"allOf":[`+string(part)+`]}`), &schema); err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal([]byte(instance), &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}

// rawPart returns the value at a JSON Pointer.
func rawPart(doc []byte, steps []string) ([]byte, error) {
	for _, step := range steps {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(doc, &members); err != nil {
			return nil, err
		}
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if doc = members[name]; doc == nil {
			return nil, errors.New("there is no " + name)
		}
	}
	return doc, nil
}

// The store's address may hold passwords in several places. Neither the status nor the doctor shows
// them.
func TestStatusShowsNoSecretOfTheStore(t *testing.T) {
	const address = "redis://me:hunter2@127.0.0.1:1?master_name=m&password=hunter2&sentinel_password=hunter2"
	c := control(t, controlDemo)
	c.cfg.Store.URL = address
	if _, body := c.ask(t, "GET", "/status", ""); strings.Contains(body, "hunter2") || !strings.Contains(body, "@127.0.0.1:1") {
		t.Errorf("GET /status: %s", body)
	}
	cfg := *c.opt.Config
	cfg.Store.URL = address
	where, err := CheckStore(t.Context(), Options{Config: &cfg, StateDir: t.TempDir()})
	if err == nil || strings.Contains(where+err.Error(), "hunter2") {
		t.Errorf("CheckStore = %q, %v", where, err)
	}
}

func TestControlStatus(t *testing.T) {
	c := control(t, controlDemo+"[[servers]]\nid = \"off\"\nbuiltin = \"demo\"\ndisabled = true\n")
	s := get[admin.Status](t, c, "/status")
	if s.Version != "1.2.3" || s.Commit != "abcdef" || s.Mode != "serve" || s.PID != os.Getpid() || s.StartedAt.IsZero() || s.Uptime <= 0 ||
		s.Config.Path != c.opt.Config.Path || len(s.Config.SHA256) != 64 || s.Config.RestartNeeded == nil ||
		!slices.Equal(s.Doors, []string{"mcp", "gateway", "pruner", "admin"}) ||
		s.Servers["ready"] != 2 || s.Servers["disabled"] != 1 || s.Store.URL != "memory:" || s.Store.MaxBytes == 0 {
		t.Errorf("status = %+v", s)
	}
	d := get[admin.Server](t, c, "/servers/demo")
	if d.State != "ready" || d.Transport != "builtin" || d.PID != nil || d.Tools != 3 || d.Tokens < 50 || d.Era == "" || d.Protocol == "" || d.Problems == nil {
		t.Errorf("server = %+v", d)
	}
	res, body := c.ask(t, "GET", "/servers/demno", "")
	wantProblem(t, res, body, 404, "unknown_server", `"demno"`, "known are: demo, off, pruner")
	res, body = c.ask(t, "GET", "/nothing", "")
	wantProblem(t, res, body, 404, "invalid_request", "openapi.json")
	res, body = c.ask(t, "DELETE", "/status", "")
	wantProblem(t, res, body, 405, "invalid_request", "GET")
	if got := res.Header.Get("Allow"); got != "GET" {
		t.Errorf("Allow = %q", got)
	}
	res, body = c.ask(t, "GET", "/tools?sever=demo", "")
	wantProblem(t, res, body, 400, "invalid_request", "sever", "server, limit, cursor")
}

// Pages follow each other until null. An invalid cursor is refused.
func TestControlPages(t *testing.T) {
	c := control(t, controlDemo)
	type tools = admin.Page[admin.Tool]
	whole := get[tools](t, c, "/tools")
	if len(whole.Items) != 6 || whole.Next != nil {
		t.Fatalf("tools = %+v", whole)
	}
	var walked []admin.Tool
	path := "/tools?limit=3"
	for {
		p := get[tools](t, c, path)
		walked = append(walked, p.Items...)
		if p.Next == nil {
			break
		}
		path = "/tools?limit=3&cursor=" + *p.Next
	}
	if !slices.Equal(walked, whole.Items) {
		t.Errorf("pages = %v, want %v", walked, whole.Items)
	}
	some := get[tools](t, c, "/tools?server=demo").Items
	if len(some) != 3 || some[0].Name != "demo::"+some[0].Tool || some[0].Server != "demo" || some[0].Tokens == 0 {
		t.Errorf("tools of demo = %+v", some)
	}
	for _, path := range []string{"/tools?cursor=nowhere", "/tools?limit=0", "/tools?limit=1001", "/tools?limit=x"} {
		res, body := c.ask(t, "GET", path, "")
		wantProblem(t, res, body, 400, "invalid_request")
	}
	res, body := c.ask(t, "GET", "/tools?server=none", "")
	wantProblem(t, res, body, 404, "unknown_server")
}

// An ETag stays valid while only ages and counters change.
func TestControlTags(t *testing.T) {
	c := control(t, controlDemo)
	for _, path := range []string{"/status", "/servers", "/tools", "/limits", "/openapi.json"} {
		res, _ := c.ask(t, "GET", path, "")
		tag := res.Header.Get("ETag")
		again, body := c.ask(t, "GET", path, "", "If-None-Match", `"other", `+tag)
		if tag == "" || again.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("%s: ETag %q, then %d %q", path, tag, again.StatusCode, body)
		}
		for _, res := range []*http.Response{res, again} {
			if got := res.Header.Values("Cache-Control"); !slices.Equal(got, []string{"no-store"}) {
				t.Errorf("%s: %d with Cache-Control %q, want no-store: no cache may keep it", path, res.StatusCode, got)
			}
		}
	}
	before, _ := c.ask(t, "GET", "/status", "")
	if _, err := c.store.Put(t.Context(), "", "counted"); err != nil {
		t.Fatal(err)
	}
	if after, _ := c.ask(t, "GET", "/status", ""); after.Header.Get("ETag") != before.Header.Get("ETag") {
		t.Error("a counter changes the tag")
	}
	one, _ := c.ask(t, "GET", "/servers/demo", "")
	two, _ := c.ask(t, "GET", "/servers/pruner", "")
	if one.Header.Get("ETag") == two.Header.Get("ETag") {
		t.Error("two servers have the same tag")
	}
}

// A tool's result comes uncut, regardless of masking. Errors come as the server sent them.
func TestControlCall(t *testing.T) {
	c := control(t, controlDemo)
	res, body := c.ask(t, "POST", "/call", `{"tool":"demo::read_log","arguments":{}}`)
	var called struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
		RequestID string   `json:"request_id"`
		MS        *float64 `json:"ms"`
	}
	if err := json.Unmarshal([]byte(body), &called); err != nil || res.StatusCode != http.StatusOK || called.RequestID == "" || called.MS == nil ||
		len(called.Result.Content) != 1 || len(called.Result.Content[0].Text) < 100_000 || strings.Contains(body, "OBSERVATION_MASKED") {
		t.Errorf("call = %d, %d bytes: %.300s", res.StatusCode, len(body), body)
	}
	_, body = c.ask(t, "POST", "/call", `{"tool":"demo::read_lgo"}`)
	if !strings.Contains(body, `"code":-32602`) || !strings.Contains(body, `did you mean \"demo::read_log\"?`) || strings.Contains(body, `"result"`) {
		t.Errorf("unknown tool: %s", body)
	}
	for _, bad := range []string{`{"tool":"demo::read_log","arguments":[]}`, `{}`, `{"tol":"x"}`, `[]`, `{"tool":"a","tool":"b"}`, ``} {
		res, body := c.ask(t, "POST", "/call", bad)
		wantProblem(t, res, body, 400, "invalid_request")
	}
}

// Rules apply here as at every door: a denied tool is not listed, and calls get the error of an
// unknown one.
func TestControlCallUnderRules(t *testing.T) {
	c := control(t, controlDemo+`
[auth]
explain = []
[[acl]]
door = "admin"
tool = "read_log"
action = "deny"
[[limits]]
name = "few"
tool = "read_json"
rate = "1/h"
`)
	denied, none := c.called(t, "demo::read_log"), c.called(t, "demo::read_lot")
	if want := strings.Replace(none, "read_lot", "read_log", 1); denied != want || !strings.Contains(denied, "unknown tool: demo::read_log") {
		t.Errorf("a denied tool = %s, want what an unknown one answers: %s", denied, want)
	}
	for _, tool := range get[admin.Page[admin.Tool]](t, c, "/tools").Items {
		if tool.Tool == "read_log" {
			t.Errorf("a denied tool is listed: %+v", tool)
		}
	}
	if _, body := c.ask(t, "POST", "/call", `{"tool":"demo::read_json","arguments":{}}`); strings.Contains(body, "problem") {
		t.Errorf("first call: %s", body)
	}
	res, body := c.ask(t, "POST", "/call", `{"tool":"demo::read_json","arguments":{}}`)
	wantProblem(t, res, body, 429, "rate_limited")
	if res.Header.Get("Retry-After") == "" || res.Header.Get("X-RateLimit-Limit") != "1" {
		t.Errorf("headers of a refusal: %v", res.Header)
	}
	limits := get[admin.Page[admin.LimitUsage]](t, c, "/limits").Items
	if len(limits) != 1 || limits[0].Limit != "few" || limits[0].Remaining != 0 || limits[0].Reset <= 0 {
		t.Errorf("limits = %+v", limits)
	}
}

// called returns the error of a tool call.
func (c *controlled) called(t *testing.T, tool string) string {
	t.Helper()
	res, body := c.ask(t, "POST", "/call", `{"tool":"`+tool+`"}`)
	var answer admin.Called
	if err := json.Unmarshal([]byte(body), &answer); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", tool, res.StatusCode, body)
	}
	return string(answer.Error)
}

// A tool call counts against its caller's limits at every door. Reading the control plane counts
// only against limits that name its door.
func TestControlLimits(t *testing.T) {
	c := control(t, controlDemo+`
[[limits]]
name = "calls"
by = ["principal"]
rate = "1/h"
`)
	const call = `{"tool":"demo::read_json","arguments":{}}`
	for range 3 {
		get[admin.Status](t, c, "/status")
	}
	if res, body := c.ask(t, "POST", "/call", call); res.StatusCode != http.StatusOK || res.Header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("first call: %d %s %v", res.StatusCode, body, res.Header)
	}
	res, body := c.ask(t, "POST", "/call", call)
	wantProblem(t, res, body, 429, "rate_limited")
	if res.Header.Get("Retry-After") == "" {
		t.Errorf("headers of a refusal: %v", res.Header)
	}
	get[admin.Status](t, c, "/status")

	c = control(t, controlDemo+`
[[limits]]
name = "looks"
door = "admin"
rate = "2/h"
`)
	get[admin.Status](t, c, "/status")
	get[admin.Identity](t, c, "/whoami")
	res, body = c.ask(t, "GET", "/status", "")
	wantProblem(t, res, body, 429, "rate_limited")
	res, body = c.ask(t, "POST", "/call", call)
	wantProblem(t, res, body, 429, "rate_limited")
}

func TestControlOriginals(t *testing.T) {
	c := control(t, controlDemo)
	id, err := c.store.Put(t.Context(), "", "one\r\ntwo\nthree")
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []struct {
		lines      string
		start, end int
		text       string
	}{
		{"", 1, 3, "one\r\ntwo\nthree"},
		{"?lines=1-2", 1, 2, "one\r\ntwo\n"},
		{"?lines=2", 2, 2, "two\n"},
		{"?lines=2-", 2, 3, "two\nthree"},
		{"?lines=3-99", 3, 3, "three"},
	} {
		want := admin.Original{ID: id, TotalLines: 3, StartLine: ask.start, EndLine: ask.end, Text: ask.text}
		if got := get[admin.Original](t, c, "/originals/"+id+ask.lines); got != want {
			t.Errorf("lines %q = %+v, want %+v", ask.lines, got, want)
		}
	}
	for _, lines := range []string{"0-1", "3-2", "4-5", "x", "-2", "1-x"} {
		res, body := c.ask(t, "GET", "/originals/"+id+"?lines="+lines, "")
		wantProblem(t, res, body, 416, "invalid_range", "the text has 3")
	}
	res, body := c.ask(t, "GET", "/originals/"+originals.ID("", "never kept"), "")
	wantProblem(t, res, body, 404, "prune_id_not_found")
	other, err := c.store.Put(t.Context(), "team-b", "theirs")
	if err != nil {
		t.Fatal(err)
	}
	res, body = c.ask(t, "GET", "/originals/"+other, "")
	wantProblem(t, res, body, 404, "prune_id_not_found")
}

// shellServer is an MCP server without any tools that writes to its standard error.
const shellServer = `
echo hello >&2
while read -r line; do
	id=${line#*'"id":'}
	case $line in
	*'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"${id%%[,\}]*}"',"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}' ;;
	*'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'"${id%%[,\}]*}"',"result":{"tools":[]}}' ;;
	esac
done
`

// Restart and refresh return the server's new state; a child gets a new process.
func TestControlRestart(t *testing.T) {
	script := t.TempDir() + "/server.sh"
	if err := os.WriteFile(script, []byte(shellServer), 0o600); err != nil {
		t.Fatal(err)
	}
	c := control(t, "[[servers]]\nid = \"shell\"\ncommand = [\"sh\", \""+script+"\"]\nprotocol = \"legacy\"\nstartup_timeout = 60\n")
	before := get[admin.Server](t, c, "/servers/shell")
	if before.State != "ready" || before.PID == nil || before.Transport != "stdio" || before.Era != "legacy" {
		t.Fatalf("server = %+v", before)
	}
	res, body := c.ask(t, "POST", "/servers/shell/restart", "")
	var after admin.Server
	if err := json.Unmarshal([]byte(body), &after); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("restart: %d %s", res.StatusCode, body)
	}
	if after.State != "ready" || after.PID == nil || *after.PID == *before.PID || after.Restarts != before.Restarts+1 || after.LastError != "" {
		t.Errorf("before %+v, after %+v", before, after)
	}
	var got []string
	// Standard error is a separate pipe: its line may come after the response to `initialize`.
	eventually(t, func() bool {
		got = get[admin.Stderr](t, c, "/servers/shell/stderr?lines=5").Lines
		return len(got) > 0
	}, "nothing on standard error")
	if !slices.Equal(got, []string{"hello"}) {
		t.Errorf("stderr = %q", got)
	}
	res, body = c.ask(t, "POST", "/servers/none/restart", "")
	wantProblem(t, res, body, 404, "unknown_server")
}

// Without a credential only our own origin is let in, not even origins that may use the other
// doors.
func TestControlIsForTheSameOrigin(t *testing.T) {
	c := control(t, controlDemo, "allowed_origins = [\"https://friend.example\"]\n")
	for _, ask := range []struct {
		header, value string
		status        int
	}{
		{"Origin", "https://friend.example", 403},
		{"Origin", "https://evil.example", 403},
		{"Origin", "http://127.0.0.1:8000", 200},
		{"Sec-Fetch-Site", "cross-site", 403},
		{"Sec-Fetch-Site", "same-site", 403},
		{"Sec-Fetch-Site", "same-origin", 200},
	} {
		if res, body := c.ask(t, "GET", "/status", "", ask.header, ask.value); res.StatusCode != ask.status {
			t.Errorf("%s %s: %d %s, want %d", ask.header, ask.value, res.StatusCode, body, ask.status)
		}
	}
}
