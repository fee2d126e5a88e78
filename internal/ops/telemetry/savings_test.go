package telemetry_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
	"secateur/internal/ops/telemetry/telemetrytest"
	"secateur/internal/store/history"
)

func TestCutsAndRecoveriesAreCounted(t *testing.T) {
	reg, feed := prometheus.NewRegistry(), events.New()
	h, err := history.Open(history.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := telemetry.NewSavings(reg, h, feed)
	cut := events.Cut{ID: "a", Feature: "mcp", Server: "files", Tool: "read", OriginalChars: 5000, KeptChars: 1000, TokensSaved: 900}
	s.Cut(cut)
	s.Cut(cut) // the same text again
	cut.ID = "b"
	s.Cut(cut)
	s.Recovered("a", 70)
	s.Recovered("a", 30)
	s.Recovered("never cut", 5000)
	for _, c := range []struct {
		name string
		want float64
	}{
		{"secateur_cuts_total", 3},
		{"secateur_cut_chars_total", 12000},
		{"secateur_cut_tokens_total", 2700},
		{"secateur_recovered_total", 1},
		{"secateur_recovered_tokens_total", 100},
		{"secateur_recovery_ratio", 0.5},
	} {
		if got := telemetrytest.Sum(t, reg, c.name, "feature", "mcp"); got != c.want {
			t.Errorf("%s = %v, want %v", c.name, got, c.want)
		}
	}
	kept, err := h.Query(history.Query{By: history.ByTool})
	if err != nil || kept.CutTokens != 2700 || kept.RecoveredTokens != 100 || kept.RecoveryRate != 0.5 || kept.Items[0].Key != "files::read" {
		t.Errorf("history: %+v, %v", kept, err)
	}
	if cuts := feed.Cuts(9); len(cuts) != 3 || cuts[0].Recovered || !cuts[2].Recovered {
		t.Errorf("events: %+v", cuts)
	}
}

func TestFeaturesTogetherSaveWhatTheAccountSays(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := telemetry.NewSavings(reg, nil, nil)
	for n := range 200 {
		e := history.Exchange{Provider: "p", Model: "m", PromptTokens: 100, CachedTokens: 25, Spent: float64(n%7) / 100, Passthrough: float64(n%11) / 100}
		if n%3 > 0 {
			e.Parts = append(e.Parts, history.Part{Feature: "masked", Weight: float64(n)})
		}
		if n%5 > 0 {
			e.Parts = append(e.Parts, history.Part{Feature: "pruned", Weight: 10})
		}
		s.Chat(e)
	}
	spent, through := telemetrytest.Sum(t, reg, "secateur_chat_spent_dollars_total"), telemetrytest.Sum(t, reg, "secateur_chat_passthrough_dollars_total")
	saved, lost := telemetrytest.Sum(t, reg, "secateur_chat_saved_dollars_total"), telemetrytest.Sum(t, reg, "secateur_chat_lost_dollars_total")
	if math.Abs(saved-lost-(through-spent)) > 1e-9 || saved <= 0 || lost <= 0 {
		t.Errorf("saved %v − lost %v is not passthrough %v − spent %v", saved, lost, through, spent)
	}
	if hits := telemetrytest.Sum(t, reg, "secateur_chat_cached_tokens_total") / telemetrytest.Sum(t, reg, "secateur_chat_prompt_tokens_total"); hits != 0.25 {
		t.Errorf("hit rate %v, want 0.25", hits)
	}
}

// The number of remembered cuts is limited.
func TestSavingsAreBounded(t *testing.T) {
	s := telemetry.NewSavings(nil, nil, nil)
	for n := range 40_000 {
		s.Cut(events.Cut{ID: fmt.Sprint(n), Feature: "mcp"})
	}
	s.Recovered("0", 1) // long forgotten
	s.Recovered("39999", 1)
	var none *telemetry.Savings
	none.Cut(events.Cut{})
	none.Recovered("a", 1)
	none.Chat(history.Exchange{})
}

func TestReloadsAreCounted(t *testing.T) {
	reg := prometheus.NewRegistry()
	start := time.Unix(1000, 0)
	r := telemetry.NewReloads(reg, start)
	r.Done(telemetry.ReloadOK, start.Add(time.Hour))
	r.Done(telemetry.ReloadInvalid, start.Add(2*time.Hour))
	want := `
# HELP secateur_config_last_reload_success_timestamp_seconds When a configuration was last taken.
# TYPE secateur_config_last_reload_success_timestamp_seconds gauge
secateur_config_last_reload_success_timestamp_seconds 4600
# HELP secateur_config_last_reload_successful 1 if the configuration was taken when it was last read, else 0.
# TYPE secateur_config_last_reload_successful gauge
secateur_config_last_reload_successful 0
# HELP secateur_reloads_total How often the configuration was read again, by outcome.
# TYPE secateur_reloads_total counter
secateur_reloads_total{outcome="failed"} 0
secateur_reloads_total{outcome="invalid"} 1
secateur_reloads_total{outcome="ok"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

// A text cut by two replicas is counted by the first, as cut and as recovered, wherever it is
// requested. A replica that does not count a recovery tells the others of it.
func TestReplicasCountATextOnce(t *testing.T) {
	cut := events.Cut{ID: "a", Feature: "mcp", Server: "files", Tool: "read", TokensSaved: 900}
	open := func() (*telemetry.Savings, *history.History, *[]int64) {
		h, err := history.Open(history.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, told := telemetry.NewSavings(nil, h, events.New()), &[]int64{}
		s.Tell(func(_ string, tokens int64) { *told = append(*told, tokens) })
		return s, h, told
	}
	one, oneHistory, oneTold := open()
	two, twoHistory, twoTold := open()
	one.Cut(cut)
	two.CutElsewhere(cut)
	two.Cut(cut)
	two.Recovered("a", 10)
	two.Recovered("a", 20)
	one.RecoveredElsewhere("a", 30)
	one.Recovered("a", 40)
	if len(*oneTold) != 0 || !slices.Equal(*twoTold, []int64{10, 20}) {
		t.Errorf("told: %v and %v, want the second to tell each", *oneTold, *twoTold)
	}
	a, err := oneHistory.Query(history.Query{})
	b, err2 := twoHistory.Query(history.Query{})
	if err != nil || err2 != nil || a.CutTokens != 900 || b.CutTokens != 900 || a.RecoveredTokens != 70 || b.RecoveredTokens != 0 || a.RecoveryRate != 1 {
		t.Errorf("the first counted %+v (%v), the second %+v (%v)", a, err, b, err2)
	}
}
