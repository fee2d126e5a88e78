package test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// Many concurrent clients, of both eras and on both endpoints, all count their requests and
// progress tokens from one. Each gets only its own answers.
func TestNoAnswerIsCrossed(t *testing.T) {
	const clients, lanes, calls = 200, 3, 5
	p := start(t, peerConfig(t, "a", "plain")+peerConfig(t, "b", "plain"))
	var all sync.WaitGroup
	for n := range clients {
		version := []string{"2025-03-26", "2025-11-25", modern}[n%3]
		path, prefix := "/mcp", []string{"a::", "b::"}[n%2]
		if n%5 == 0 {
			path, prefix = "/mcp/a", ""
		}
		all.Go(func() {
			c := httpClient(t, p, path, version)
			defer c.close()
			c.open()
			var mine sync.WaitGroup
			for lane := range lanes {
				mine.Go(func() {
					for i := range calls {
						askNonce(t, c, prefix, fmt.Sprintf("client %d call %d.%d", n, lane, i))
					}
				})
			}
			mine.Wait()
			for _, params := range c.notices("notifications/progress") {
				if !strings.Contains(params, fmt.Sprintf(`"message":"client %d call `, n)) {
					t.Errorf("client %d heard of another's progress: %s", n, params)
				}
			}
		})
	}
	all.Wait()
}

func askNonce(t *testing.T, c *client, prefix, nonce string) {
	t.Helper()
	m := c.call("tools/call", fmt.Sprintf(`{"name":"%secho","arguments":{"nonce":%q,"delay_ms":%d},"_meta":{"progressToken":1}}`, prefix, nonce, rand.IntN(20)))
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(m.Result, &result); err != nil || len(result.Content) != 1 || result.Content[0].Text != nonce {
		t.Errorf("%s got HTTP %d %.300s", nonce, m.status, m.raw)
	}
}

// A session whose client uses the same id for everything gets the right answer with each request.
func TestOneIDForEverything(t *testing.T) {
	p := start(t, peerConfig(t, "a", "plain"))
	c := httpClient(t, p, "/mcp", "2025-11-25")
	c.open()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			one := httpClient(t, p, "/mcp", "2025-11-25")
			one.session = c.sessionID()
			nonce := fmt.Sprintf("request %d", i)
			if got := one.tool("a::echo", fmt.Sprintf(`{"nonce":%q,"delay_ms":%d}`, nonce, rand.IntN(20))); got != nonce {
				t.Errorf("%s got %q", nonce, got)
			}
			one.mu.Lock()
			one.session = "" // it is not this one's to end
			one.mu.Unlock()
		})
	}
	all.Wait()
}
