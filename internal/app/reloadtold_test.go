package app

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"secateur/internal/ops/events"
)

// Every reload is counted and published, failed ones too; a dry run is not.
func TestReloadsAreCountedAndTold(t *testing.T) {
	r := startReloadable(t, demo1)
	r.reload(demo1 + "[[servers]]\nid = \"two\"\nbuiltin = \"demo\"\n")
	r.write("lisen = 1\n")
	for _, e := range []Effect{DryRun, Apply} {
		if _, err := r.Reload(t.Context(), e); err == nil {
			t.Fatal("a file with a mistake is taken")
		}
	}
	told := r.feed.Recent(events.TypeReload, 10)
	if len(told) != 2 {
		t.Fatalf("%d events, want two", len(told))
	}
	failed, _ := told[0].Data.(events.Reload)
	done, _ := told[1].Data.(events.Reload)
	if done.Outcome != "ok" || !done.Changed || !slices.Equal(done.Added, []string{"two"}) || failed.Outcome != "invalid" || !strings.Contains(failed.Error, "lisen") {
		t.Errorf("told %+v, then %+v", done, failed)
	}
	_, scraped := r.do(http.MethodGet, "/metrics", "")
	for _, want := range []string{
		`secateur_reloads_total{outcome="ok"} 1`, `secateur_reloads_total{outcome="invalid"} 1`, `secateur_reloads_total{outcome="failed"} 0`,
		"secateur_config_last_reload_successful 0", `secateur_server_up{server="two"}`,
	} {
		if !strings.Contains(scraped, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	r.tools("one") // waits until it is ready, which publishes an event
	told = nil
	eventually(t, func() bool {
		told = r.feed.Recent(events.TypeServer, 100)
		return slices.ContainsFunc(told, func(e events.Event) bool {
			s, _ := e.Data.(events.Server)
			return s.ID == "one" && s.State == "ready"
		})
	}, "the state of a server is not told: %v", &told)
}
