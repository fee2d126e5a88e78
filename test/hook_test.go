package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/config"
)

// lasting starts the program on a store and a state directory that outlive it.
func lasting(t *testing.T, store, state string) *program {
	t.Helper()
	cfg, mistakes := config.Load("test.toml", []byte(fmt.Sprintf("listen = \"127.0.0.1:0\"\nstore = { url = \"file:%s\", put_timeout_ms = 60000 }\n", store)), config.Options{Lookup: os.LookupEnv})
	for _, m := range mistakes {
		t.Fatal(m)
	}
	return startIn(t, cfg, state)
}

// A hook of the type http posts the same event, and what it cuts is in the same pages.
func TestHookOverHTTP(t *testing.T) {
	p := lasting(t, t.TempDir(), t.TempDir())
	stdout, _ := json.Marshal(bigLog(1) + bigLog(2) + bigLog(3))
	event := `{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":` + string(stdout) + `,"stderr":"","interrupted":false}}`
	a := p.post(t, "/hooks/claude-code", event)
	if a.status != http.StatusOK || !strings.Contains(a.body, `"updatedToolOutput":{"stdout":"`) || !strings.Contains(a.body, "PRUNED lines") {
		t.Fatalf("%d %.500s", a.status, a.body)
	}
	if again := p.post(t, "/hooks/claude-code", event); again.status != http.StatusNoContent || again.body != "" {
		t.Errorf("asked for twice: %d %.200s", again.status, again.body)
	}
	if bad := p.post(t, "/hooks/claude-code", "{"); bad.status != http.StatusNoContent {
		t.Errorf("no event: %d %s", bad.status, bad.body)
	}
	id := regexp.MustCompile(`prn_[0-9A-Z]{26}`).FindString(a.body)
	for path, word := range map[string]string{
		"/api/v1/cuts?feature=hook": id, "/api/v1/cuts/" + id: "a big result, pruned by the agent's hook", "/api/v1/savings?by=feature": `"key":"hook"`,
	} {
		if said := p.get(t, path); !strings.Contains(said, word) {
			t.Errorf("%s says nothing of it: %.500s", path, said)
		}
	}
}

// What was compressed for a gateway can be retrieved from another process.
func TestRetrieveOutlivesTheProcess(t *testing.T) {
	store, state := t.TempDir(), t.TempDir()
	p := lasting(t, store, state)
	text, _ := json.Marshal(bigLog(1) + bigLog(2))
	a := p.post(t, "/v1/compress", `{"model":"gpt-5","messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":"I look.","tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":"{\"command\":\"make\"}"}}]},{"role":"tool","tool_call_id":"c","content":`+string(text)+`}]}`)
	hash := regexp.MustCompile(`hash=([0-9a-f]{24})`).FindStringSubmatch(a.body)
	if a.status != http.StatusOK || hash == nil {
		t.Fatalf("%d %.500s", a.status, a.body)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
	p = lasting(t, store, state)
	got := p.get(t, "/v1/retrieve/"+hash[1])
	var out struct {
		Original string `json:"original_content"`
	}
	if err := json.Unmarshal([]byte(got), &out); err != nil || out.Original != bigLog(1)+bigLog(2) {
		t.Errorf("%.300s", got)
	}
}
