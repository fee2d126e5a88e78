package aggregate_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"secateur/internal/access"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// Whoever opens the door of one server is answered in time, though that server never says a word: the answer is ours then.
func TestTheDoorOfASilentServerAnswers(t *testing.T) {
	for _, c := range []struct{ method, params, want string }{
		{"initialize", helloT, `"protocolVersion":"2025-11-25","capabilities":{"tools":`},
		{"server/discover", "{" + modernMeta + "}", `"resultType":"complete","supportedVersions":["2026-07-28",`},
	} {
		p := newPuppet(t, nature{ID: "a", Mute: true})
		client := newPipeClient(t, doorOptions{puppets: []*puppet{p}, only: "a", greeting: time.Millisecond})
		got := client.asks(t, c.method, c.params)
		if !strings.Contains(got, c.want) || !strings.Contains(got, `"name":"secateur"`) || strings.Contains(got, "instructions") {
			t.Errorf("%s: %s, want %s", c.method, got, c.want)
		}
	}
}

// A client that ends its session while a call is under way is told so, in words of the protocol.
func TestACallThatItsOwnDELETEEnds(t *testing.T) {
	p := newPuppet(t, nature{ID: "a"})
	web := webOf(newDoor(t, doorOptions{puppets: []*puppet{p}}), access.Anonymous())
	ask := func(method, session, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, "/mcp", strings.NewReader(body))
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		web.ServeHTTP(w, r)
		return w
	}
	session := ask("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+helloT+`}`).Header().Get("Mcp-Session-Id")
	called := make(chan string, 1)
	go func() {
		called <- ask("POST", session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a::t"}}`).Body.String()
	}()
	p.hears(t)
	if code := ask("DELETE", session, "").Code; code != http.StatusNoContent {
		t.Fatalf("DELETE: %d", code)
	}
	got := <-called
	if strings.Contains(got, "context canceled") || !strings.Contains(got, `"id":2`) || !strings.Contains(got, "its session or its connection was ended") {
		t.Errorf("the call: %s, want it to say that its session was ended", got)
	}
	p.hearsOf(t, "notifications/cancelled")
}

// A call that waits for a client who is away does not go on for ever: it ends with that client's session, or else when it
// has been away for long, two minutes where nothing else is said.
func TestAParkedCallEnds(t *testing.T) {
	for _, c := range []struct {
		rule     string
		parkTime time.Duration
		leave    func(c *pipeClient)
	}{
		{"with its client's session", time.Hour, func(c *pipeClient) { _ = c.in.Close() }},
		{"when its client stays away", 10 * time.Millisecond, func(*pipeClient) {}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := newPuppet(t, nature{ID: "l"})
			client := newPipeClient(t, doorOptions{puppets: []*puppet{p}, parkTime: c.parkTime})
			client.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"l::t",`+modernMeta+`}}`)
			p.hears(t)
			p.say(t, `{"jsonrpc":"2.0","id":70,"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}`)
			if got := client.hears(t); !strings.Contains(got, "input_required") {
				t.Fatalf("the client hears %s, want to be asked", got)
			}
			c.leave(client)
			p.hearsOf(t, "notifications/cancelled")
		})
	}
}

// hearsOf waits until the server is sent a message of a method; hears fails when nothing more comes.
func (p *puppet) hearsOf(t *testing.T, method string) {
	t.Helper()
	for p.hears(t).Method != method {
	}
}
