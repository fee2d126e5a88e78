package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"secateur/internal/config"
	"secateur/internal/ops/events"
)

// Every route answers with the request id it was sent, or with a new one. The header is
// X-Request-Id, except at the chat door, where that is the provider's.
func TestEveryAnswerHasItsRequestID(t *testing.T) {
	h := builtWith(t, "")
	for _, r := range hungRoutes(t) {
		ours, theirs := "X-Request-Id", "X-Secateur-Request-Id"
		if strings.HasPrefix(r.path, "/v1/") || strings.HasPrefix(r.path, "/chat/") || r.path == "/models" {
			ours, theirs = theirs, ours
		}
		if h := serve(h, r, strings.NewReader("{}"), "X-Request-Id", "mine-1").Header(); h.Get(ours) != "mine-1" || h.Get(theirs) != "" {
			t.Errorf("%s %s: %s is %q, want the one that was sent; %s is %q", r.method, r.path, ours, h.Get(ours), theirs, h.Get(theirs))
		}
		if h := serve(h, r, strings.NewReader("{}"), "X-Request-Id", "a b").Header(); len(h.Get(ours)) != 16 {
			t.Errorf("%s %s: %s is %q, want one that was made", r.method, r.path, ours, h.Get(ours))
		}
	}
}

// One id connects the door, the log, the audit and the events.
func TestARequestIDIsFoundAgain(t *testing.T) {
	dir := t.TempDir()
	audit := filepath.Join(dir, "audit.log")
	cfg, mistakes := config.Load("c.toml", []byte("[auth]\naudit = \"file:"+audit+"\"\n[store]\nurl = \"memory:\"\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n"+
		"[[acl]]\nname = \"no-json\"\ntool = \"read_json\"\naction = \"deny\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, doors := running(t, Options{Config: cfg, StateDir: dir})
	// It waits until the servers have listed their tools.
	post(t, doors, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	call := func(tool, id string) {
		post(t, doors, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo::`+tool+`","arguments":{},`+modernMeta+`}}`,
			"X-Request-Id", id, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "demo::"+tool)
		post(t, doors, "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`, "X-Request-Id", id)
	}
	call("read_log", "allowed-1")
	call("read_json", "denied-1")

	doorsOf := map[string][]string{}
	for _, e := range a.feed.Recent(events.TypeRequest, 10) {
		r, _ := e.Data.(events.Request)
		doorsOf[r.RequestID] = append(doorsOf[r.RequestID], r.Door+" "+r.Server+" "+r.Method+" "+r.Tool+" "+r.Outcome)
		if r.BytesIn == 0 || r.BytesOut == 0 && r.Outcome == "ok" || r.Subject != "anonymous" {
			t.Errorf("event %+v", r)
		}
	}
	for id, want := range map[string][]string{
		"allowed-1": {"gateway demo tools/call read_log ok", "mcp demo tools/call read_log ok"},
	} {
		if !slices.Equal(doorsOf[id], want) {
			t.Errorf("events of %s: %q, want %q", id, doorsOf[id], want)
		}
	}
	refusals := a.feed.Recent(events.TypeRefusal, 10)
	if len(refusals) != 2 {
		t.Fatalf("%d refusals, want two", len(refusals))
	}
	for _, e := range refusals {
		if r, _ := e.Data.(events.Refusal); r.RequestID != "denied-1" || r.Rule != "no-json" || r.Reason != "acl" || r.Subject != "anonymous" {
			t.Errorf("refusal %+v", r)
		}
	}
	written, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range bytes.Lines(written) {
		var l struct {
			RequestID string `json:"request_id"`
			Decision  string `json:"decision"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		seen[l.RequestID+" "+l.Decision]++
	}
	if seen["allowed-1 allow"] != 2 || seen["denied-1 deny"] != 2 {
		t.Errorf("audit: %v", seen)
	}
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
