package app

import (
	"testing"

	"secateur/internal/mcp/upstream"
)

func TestAnErrorThatIsOverIsNotShown(t *testing.T) {
	for state, want := range map[upstream.State]string{upstream.Ready: "", upstream.Degraded: "why", upstream.Down: "why", upstream.Restarting: "why"} {
		if got := presentError(upstream.Status{State: state, LastError: "why"}); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}
