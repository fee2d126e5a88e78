package telemetry_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"secateur/internal/ops/telemetry"
)

func TestToolsThatAreListedAreLabels(t *testing.T) {
	listed := map[string]bool{"files/read": true}
	l := telemetry.NewToolLabels()
	if got := l.Label("files", "read"); got != "other" {
		t.Errorf("before anything is listed a tool is %q", got)
	}
	l.Listed(func(server, tool string) bool { return listed[server+"/"+tool] })
	for _, c := range []struct{ server, tool, want string }{
		{"files", "read", "read"}, {"files", "made-up", "other"}, {"git", "read", "other"}, {"files", "", ""},
	} {
		if got := l.Label(c.server, c.tool); got != c.want {
			t.Errorf("Label(%s, %s) = %q, want %q", c.server, c.tool, got, c.want)
		}
	}
	delete(listed, "files/read")
	if got := l.Label("files", "read"); got != "read" {
		t.Errorf("a tool that was listed is %q", got)
	}
	var none *telemetry.ToolLabels
	if none.Label("files", "read") != "other" || none.Label("files", "") != "" {
		t.Error("the nil labels know tools")
	}
}

// The server claims to list every tool, and clients request all of them.
func TestLabelsAreCapped(t *testing.T) {
	l := telemetry.NewToolLabels()
	l.Listed(func(string, string) bool { return true })
	seen := make([]map[string]bool, 4)
	var work sync.WaitGroup
	for w := range seen {
		seen[w] = map[string]bool{}
		work.Go(func() {
			for n := range 2000 {
				server := fmt.Sprint(n % 5)
				seen[w][server+"/"+l.Label(server, fmt.Sprintf("tool-%d", n))] = true
			}
			seen[w][l.Label("5", strings.Repeat("x", 1000))] = true
		})
	}
	work.Wait()
	all := map[string]bool{}
	for _, s := range seen {
		for label := range s {
			all[label] = true
		}
	}
	if len(all) > 5*257+1 || len(all) < 5*256 {
		t.Errorf("%d labels of five servers, want 256 tools each and other", len(all))
	}
}

func TestMethodsOfTheProtocolAreLabels(t *testing.T) {
	if got := telemetry.MethodLabel("tools/call"); got != "tools/call" {
		t.Errorf("tools/call is %q", got)
	}
	if got := telemetry.MethodLabel("made/up"); got != telemetry.Other {
		t.Errorf("a made-up method is %q", got)
	}
}
