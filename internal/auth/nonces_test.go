package auth

import (
	"strconv"
	"testing"
	"time"

	"secateur/internal/access"
)

// One key that signs as fast as it can uses up its own share of what can be remembered, not that of the others.
func TestOneKeyDoesNotUseUpTheNoncesOfOthers(t *testing.T) {
	var n nonces
	now := time.Now()
	busy, quiet := access.Holder{Principal: "busy"}, access.Holder{Principal: "quiet"}
	for i := range maxNonces {
		cause := n.use(busy, strconv.Itoa(i), now)
		if cause == access.CauseTooMany {
			break
		}
		if cause != "" {
			t.Fatalf("nonce %d: %q", i, cause)
		}
	}
	if cause := n.use(busy, "one more", now); cause != access.CauseTooMany {
		t.Errorf("beyond its share: %q, want too_many", cause)
	}
	if cause := n.use(quiet, "fresh", now); cause != "" {
		t.Errorf("a fresh signature of another key: %q, want it good", cause)
	}
	for _, used := range []string{"0", "fresh"} {
		if cause := n.use(quiet, used, now); cause != access.CauseReplayed {
			t.Errorf("%s again: %q, want replayed", used, cause)
		}
	}
	now = now.Add(nonceLife)
	if cause := n.use(busy, "later", now); cause != "" {
		t.Errorf("ten minutes later: %q, want it good", cause)
	}
	if cause := n.use(quiet, "fresh", now); cause != access.CauseReplayed {
		t.Errorf("after ten minutes: %q, want replayed", cause)
	}
}
