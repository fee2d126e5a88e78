package test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

func tokenRow(name, token, tenant string) string {
	sum := sha256.Sum256([]byte(token))
	return fmt.Sprintf("[[auth.tokens]]\nname = %q\nhash = \"sha256:%s\"\ntenant = %q\n", name, hex.EncodeToString(sum[:]), tenant)
}

// as posts a body as the holder of a token.
func (p *program) as(t *testing.T, token, path, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return p.do(t, req)
}

// Two tenants try to reach each other's originals and sessions, through every door.
func TestTenantsAreApart(t *testing.T) {
	p := start(t, "[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n[store]\nurl = \"memory:\"\n"+
		tokenRow("alice", "token-of-alice", "team-a")+"roles = [\"admin\"]\n"+tokenRow("bob", "token-of-bob", "team-b")+"roles = [\"admin\"]\n"+
		tokenRow("ann", "token-of-ann", "team-a")+"roles = [\"admin\"]\n"+tokenRow("dan", "token-of-dan", "")+"roles = [\"admin\"]\n")
	cut := p.as(t, "token-of-alice", "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log"}}`)
	id := regexp.MustCompile(`prn_[0-9A-Za-z]{26}`).FindString(cut.header.Get("X-Secateur-Originals"))
	if id == "" {
		t.Fatalf("nothing was cut: %d %v", cut.status, cut.header)
	}
	same := p.as(t, "token-of-bob", "/api/mcp-gateway/demo/rpc", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_json"}}`)
	if own := same.header.Get("X-Secateur-Originals"); own == "" || own == cut.header.Get("X-Secateur-Originals") {
		t.Fatalf("bob's own cut: %q", own)
	}
	arguments := `"arguments":{"prune_id":"` + id + `","ranges":[{"start_line":1,"end_line":2}],"include_line_numbers":false}}`
	recover := func(name string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `",` + arguments + `}`
	}
	session := func(token string) string {
		a := p.as(t, token, "/mcp", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		if a.status != http.StatusOK {
			t.Fatalf("initialize: %d %s", a.status, a.body)
		}
		return a.header.Get("Mcp-Session-Id")
	}
	for _, door := range []struct {
		name, path, tool string
		session          bool
	}{
		{"the pruner's own", "/rpc", "recover_text", false},
		{"the gateway", "/api/mcp-gateway/pruner/rpc", "recover_text", false},
		{"the aggregate", "/mcp", "pruner::recover_text", true},
		{"the control plane", "/api/v1/call", "pruner::recover_text", false},
	} {
		for who, want := range map[string]bool{"alice": true, "ann": true, "bob": false, "dan": false} {
			var headers []string
			if door.session {
				headers = []string{"Mcp-Session-Id", session("token-of-" + who)}
			}
			body := recover(door.tool)
			if door.path == "/api/v1/call" {
				body = `{"tool":"` + door.tool + `",` + arguments
			}
			a := p.as(t, "token-of-"+who, door.path, body, headers...)
			if got := strings.Contains(a.body, `"result"`) && !strings.Contains(a.body, "prune_id_not_found"); got != want {
				t.Errorf("%s through %s: %d %.300s, want the text: %v", who, door.name, a.status, a.body, want)
			}
		}
	}

	mine := session("token-of-alice")
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"x:y"}}`,
	} {
		theft := p.as(t, "token-of-bob", "/mcp", body, "Mcp-Session-Id", mine)
		unknown := p.as(t, "token-of-bob", "/mcp", body, "Mcp-Session-Id", "0000000000000000000000000000")
		if theft.status != http.StatusNotFound || theft.status != unknown.status || theft.body != unknown.body {
			t.Errorf("%s in alice's session: %d %s, want what an unknown one gives: %d %s", body, theft.status, theft.body, unknown.status, unknown.body)
		}
		inBody := p.as(t, "", "/mcp", strings.Replace(body, `"method"`, `"x":1,"method"`, 1), "Mcp-Session-Id", mine)
		if inBody.status == http.StatusOK {
			t.Errorf("%s without a token in alice's session: %d %s", body, inBody.status, inBody.body)
		}
	}
	steal := `{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"proxy":{"authToken":"token-of-bob"}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+"/mcp", strings.NewReader(steal))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", mine)
	if a := p.do(t, req); a.status != http.StatusNotFound {
		t.Errorf("bob's token in a message of alice's session: %d %s, want 404", a.status, a.body)
	}

	guess := func(i int) answer {
		return p.as(t, "token-of-bob", "/rpc", strings.Replace(recover("recover_text"), id, fmt.Sprintf("prn_%026d", i), 1))
	}
	limited := false
	// 60 per minute: the 61st, or a later one if these take seconds.
	for i := 0; i < 1000 && !limited; i++ {
		limited = strings.Contains(guess(i).body, "-32014")
	}
	if !limited {
		t.Error("guesses of ids in a row are not limited")
	}
}
