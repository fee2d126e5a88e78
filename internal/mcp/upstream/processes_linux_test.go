package upstream

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"secateur/internal/mcp/child/childtest"
)

// marker returns the marker of the running child from its environment.
func marker(t *testing.T, u *Upstream) string {
	t.Helper()
	if _, err := u.Peer(t.Context()); err != nil {
		t.Fatal(err)
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(u.Status().PID) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	const name = "SECATEUR_SERVER="
	for entry := range strings.SplitSeq(string(environ), "\x00") {
		if value, ok := strings.CutPrefix(entry, name); ok {
			return value
		}
	}
	t.Fatalf("environment %q has no marker", environ)
	return ""
}

func TestNoDescendantSurvives(t *testing.T) {
	for _, c := range []struct {
		rule, fault string
		end         func(u *Upstream, stop func())
	}{
		{"a stop", "family", func(_ *Upstream, stop func()) { stop() }},
		{"a stop of a child that ignores it", "stubborn", func(_ *Upstream, stop func()) { stop() }},
		{"a crash", "family", func(u *Upstream, _ func()) {
			_, err := u.Call(t.Context(), toolCall(t, "1", "crash", "1"))
			wantError(t, err, Unavailable, 0)
			// the next child is there, so the last is gone
			mustCall(t, u, toolCall(t, "1", "echo", "1"), "1")
		}},
		{"a kill of the child", "family", func(u *Upstream, _ func()) {
			if err := syscall.Kill(u.Status().PID, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			eventually(t, "the next child", func() bool { return u.Status().Restarts == 1 && u.Status().State == Ready })
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			u, stop := startStoppable(t, Options{Settings: childSettings(t, c.fault)})
			defer stop()
			mark := marker(t, u)
			// the child, a shell, its three children, and the last one's child
			if c.fault == "family" {
				eventually(t, "the family is complete", func() bool { return len(childtest.Living(t, mark)) == 6 })
			}
			c.end(u, stop)
			if left := childtest.Living(t, mark); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func TestStopIsGentleFirst(t *testing.T) {
	s := childSettings(t, "none")
	s.ShutdownGrace = patience // a binary with the race detector takes a second to exit
	u, stop := startStoppable(t, Options{Settings: s})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), "1")
	proc := u.server.(*supervisor).now.Load().conn.link.(*pipes).proc
	stop()
	if got, _ := proc.Status(patience); got != "exited with status 0" {
		t.Errorf("the child %s, want an end of its own at the end of its input", got)
	}
}
