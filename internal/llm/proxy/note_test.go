package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/llm/proxy"
)

// The first marker of a conversation says how to recover more, in a way that this client has. Later
// markers do not, for any model, and the first one does not change.
func TestTheFirstMarkerOfAConversationTellsHowToGetMore(t *testing.T) {
	const sentence = "left out to save context"
	for way, c := range map[string]struct{ tools, want string }{
		"a shell":      {"", "run `secateur recover --config /c.toml prn_"},
		"our MCP door": {`"tools":[{"type":"function","function":{"name":"mcp__secateur__pruner-recover_text"}}],`, "call mcp__secateur__pruner-recover_text with prune_id and ranges"},
	} {
		p := counting(t)
		px := newProxy(t, func(o *proxy.Options) {
			pruningOn(o)
			o.RecoverCommand = "secateur recover --config /c.toml"
		}, one(p))
		k := newTalk()
		var first string
		for i := range 4 {
			k.turn("read_file", fmt.Sprintf(`{"path":"line 77 of %d"}`, i), result(i, 200))
			px.post(t, "{"+c.tools+k.request([]string{"m", "n"}[i%2])[1:])
			px.running.Wait()
			now := resultsIn(t, p.last(t).body)
			if i == 0 {
				first = now[0]
			}
			if n := strings.Count(strings.Join(now, ""), sentence); n != 1 || !strings.Contains(now[0], c.want) || now[0] != first {
				t.Fatalf("%s, request %d: told %d times, first %s", way, i, n, now[0])
			}
			if !strings.Contains(now[i], "⟦PRUNED lines ") {
				t.Fatalf("%s, request %d: the newest result is whole", way, i)
			}
		}
	}
}
