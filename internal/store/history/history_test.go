package history_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"secateur/internal/store/history"
)

func open(t *testing.T, dir string) *history.History {
	t.Helper()
	h, err := history.Open(history.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func query(t *testing.T, h *history.History, by history.By, since time.Duration) history.Savings {
	t.Helper()
	s, err := h.Query(history.Query{By: by, Since: since})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func save(t *testing.T, h *history.History) {
	t.Helper()
	if err := h.Save(); err != nil {
		t.Fatal(err)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

var (
	cheaper = history.Exchange{
		Provider: "kimi", Model: "k2.6", PromptTokens: 1000, CachedTokens: 750, Spent: 0.02, Passthrough: 0.05,
		Parts: []history.Part{{Feature: history.FeatureMasked, Tool: "read_file", Weight: 2}, {Feature: history.FeaturePruned, Weight: 1}},
	}
	dearer = history.Exchange{
		Provider: "kimi", Model: "k2.6", PromptTokens: 1000, Spent: 0.04, Passthrough: 0.03,
		Parts: []history.Part{{Feature: history.FeatureMasked, Weight: 5}},
	}
	untouched = history.Exchange{Provider: "glm", Model: "5", PromptTokens: 2000, CachedTokens: 250, Spent: 0.01, Passthrough: 0.01}
	cut       = history.Cut{Feature: history.FeatureMCP, Server: "files", Tool: "read_file", Tokens: 4000}
)

func TestSavingsAddUp(t *testing.T) { synctest.Test(t, savingsAddUp) } // its day does not end

func savingsAddUp(t *testing.T) {
	t.Helper()
	h := open(t, "")
	h.Chat(cheaper)
	h.Chat(dearer)
	h.Chat(untouched)
	h.Cut(cut)
	h.Cut(cut)
	h.Recovered(cut)
	total := query(t, h, history.ByNothing, 0)
	want := history.Totals{
		SpentUSD: 0.07, PassthroughUSD: 0.09, SavedUSD: 0.03, LostUSD: 0.01, CutTokens: 8000, RecoveredTokens: 4000, RecoveryRate: 0.5, CacheHitRate: 0.25,
	}
	if got := total.Totals; !near(got.SpentUSD, want.SpentUSD) || !near(got.PassthroughUSD, want.PassthroughUSD) || !near(got.SavedUSD, want.SavedUSD) ||
		!near(got.LostUSD, want.LostUSD) || got.CutTokens != want.CutTokens || got.RecoveredTokens != want.RecoveredTokens ||
		got.RecoveryRate != want.RecoveryRate || got.CacheHitRate != want.CacheHitRate || total.Items != nil {
		t.Errorf("total %+v, want %+v without items", total, want)
	}
	for by, keys := range map[history.By]string{
		history.ByServer:  "(none) files",
		history.ByTool:    "read_file (none) files::read_file",
		history.ByModel:   "kimi/k2.6 (none) glm/5",
		history.ByFeature: "masked pruned mcp (none)",
		history.ByDay:     time.Now().UTC().Format(time.DateOnly),
	} {
		s := query(t, h, by, 0)
		var got []string
		var sum history.Totals
		for _, i := range s.Items {
			got = append(got, i.Key)
			sum.SpentUSD += i.SpentUSD
			sum.SavedUSD += i.SavedUSD
			sum.CutTokens += i.CutTokens
			if !near(i.SavedUSD-i.LostUSD, i.PassthroughUSD-i.SpentUSD) {
				t.Errorf("by %s: %+v: saved − lost is not passthrough − spent", by, i)
			}
		}
		if strings.Join(got, " ") != keys {
			t.Errorf("by %s: %q, want %q", by, got, keys)
		}
		if !near(sum.SpentUSD, total.SpentUSD) || !near(sum.SavedUSD, total.SavedUSD) || sum.CutTokens != total.CutTokens {
			t.Errorf("by %s: the items add up to %+v, the total is %+v", by, sum, total.Totals)
		}
	}
}

func TestSharesAreTheBill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		money := rapid.Float64Range(0, 100)
		e := history.Exchange{Spent: money.Draw(t, "spent"), Passthrough: money.Draw(t, "passthrough")}
		for _, w := range rapid.SliceOfN(rapid.Float64Range(-10, 1e6), 0, 5).Draw(t, "weights") {
			e.Parts = append(e.Parts, history.Part{Feature: history.FeatureMasked, Weight: w})
		}
		var spent, through, saved, lost float64
		for _, s := range e.Shares() {
			spent, through, saved, lost = spent+s.Spent, through+s.Passthrough, saved+s.Saved, lost+s.Lost
			if s.Saved < 0 || s.Lost < 0 || s.Saved > 0 && s.Lost > 0 || !near(s.Saved-s.Lost, s.Passthrough-s.Spent) {
				t.Fatalf("share %+v of %+v", s, e)
			}
		}
		if !near(spent, e.Spent) || !near(through, e.Passthrough) || !near(saved, max(0, e.Passthrough-e.Spent)) || !near(lost, max(0, e.Spent-e.Passthrough)) {
			t.Fatalf("shares of %+v add up to spent %v, passthrough %v, saved %v, lost %v", e, spent, through, saved, lost)
		}
	})
}

func TestARestartChangesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	first := open(t, dir)
	first.Chat(cheaper)
	first.Cut(cut)
	save(t, first)
	first.Chat(untouched)
	save(t, first)
	second := open(t, dir)
	second.Recovered(cut)
	save(t, second)
	for name, h := range map[string]*history.History{"first": first, "second": second, "third": open(t, dir)} {
		got := query(t, h, history.ByModel, 0)
		if !near(got.SpentUSD, 0.03) || !near(got.SavedUSD, 0.03) || got.CutTokens != 4000 || got.RecoveryRate != 1 {
			t.Errorf("the %s process has %+v", name, got)
		}
	}
}

func TestOnlyTheOwnerReadsIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "history")
	h := open(t, dir)
	h.Cut(cut)
	save(t, h)
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files, %v, want one", len(files), err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", info.Mode(), err)
	}
	if folder, err := os.Stat(dir); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("folder's mode %v, %v, want 0700", folder.Mode(), err)
	}
}

func TestACrashLeavesTheLastStateAndOthers(t *testing.T) {
	synctest.Test(t, aCrashLeavesTheLastStateAndOthers)
} // its day does not end

func aCrashLeavesTheLastStateAndOthers(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	h := open(t, dir)
	h.Cut(cut)
	save(t, h)
	today := time.Now().UTC().Format(time.DateOnly)
	for name, content := range map[string]string{
		today + ".torn.json":    `{"version":1,"rows":[{"hour":"2026`,
		today + ".empty.json":   ``,
		today + ".strange.json": `{"version":99,"rows":[]}`,
		".new-123":              `{"version":1,"rows":[{"hour":"` + today + `T00:00:00Z","cut_tokens":5}]}`,
		"README.json":           `hello`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := query(t, open(t, dir), history.ByServer, 0); got.CutTokens != 4000 {
		t.Errorf("beside broken files %+v, want 4000 tokens", got)
	}
}

func TestSinceGoesBackToTheHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h := open(t, dir)
		for range 5 * 24 {
			h.Cut(history.Cut{Feature: history.FeatureMCP, Server: "a", Tokens: 1})
			save(t, h)
			time.Sleep(time.Hour)
		}
		for _, c := range []struct {
			since time.Duration
			want  int64
		}{{0, 120}, {time.Hour, 1}, {24 * time.Hour, 24}, {48 * time.Hour, 48}, {1000 * time.Hour, 120}} {
			for name, asked := range map[string]*history.History{"the same": h, "another": open(t, dir)} {
				if got := query(t, asked, history.ByDay, c.since); got.CutTokens != c.want {
					t.Errorf("since %v, %s process: %d, want %d", c.since, name, got.CutTokens, c.want)
				}
			}
		}
		if days := query(t, h, history.ByDay, 0).Items; len(days) != 5 || days[0].Key != "2000-01-01" || days[0].CutTokens != 24 {
			t.Errorf("by day: %+v", days)
		}
	})
}

func TestItIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h := open(t, dir)
		for n := range 5000 { // clients choose tool names freely
			h.Cut(history.Cut{Feature: history.FeatureMCP, Server: "a", Tool: fmt.Sprint("tool", n), Tokens: 1})
			h.Cut(history.Cut{Feature: fmt.Sprint(n), Server: "a", Tool: strings.Repeat("x", 1000), Tokens: 1})
		}
		save(t, h)
		if got := query(t, h, history.ByTool, 0); len(got.Items) > 520 || got.CutTokens != 10_000 {
			t.Errorf("%d tools and %d tokens, want some hundreds and all tokens", len(got.Items), got.CutTokens)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		if info, err := os.Stat(files[0]); err != nil || info.Size() > 200<<10 {
			t.Errorf("the file of an hour: %v, %v", info.Size(), err)
		}
		time.Sleep(401 * 24 * time.Hour)
		h = open(t, dir)
		if got := query(t, h, history.ByTool, 0); got.CutTokens != 0 {
			t.Errorf("after 401 days there are still %d tokens", got.CutTokens)
		}
	})
}

func TestRunSavesNowAndThenAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h := open(t, dir)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- h.Run(ctx) }()
		h.Cut(cut)
		time.Sleep(time.Minute)
		if got := query(t, open(t, dir), history.ByNothing, 0); got.CutTokens != 4000 {
			t.Errorf("a minute later there are %d tokens on disk", got.CutTokens)
		}
		h.Cut(cut)
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if got := query(t, open(t, dir), history.ByNothing, 0); got.CutTokens != 8000 {
			t.Errorf("at the end there are %d tokens on disk", got.CutTokens)
		}
	})
}

func TestProcessesShareADirectory(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		h := open(t, dir)
		all.Go(func() {
			for n := range 50 {
				h.Cut(history.Cut{Feature: history.FeatureGateway, Tokens: 1})
				if n%10 == 9 {
					if err := h.Save(); err != nil {
						t.Error(err)
					}
				}
				if n%25 == 0 {
					if _, err := h.Query(history.Query{By: history.ByTool}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if got := query(t, open(t, dir), history.ByNothing, 0); got.CutTokens != 200 {
		t.Errorf("%d tokens of four processes, want 200", got.CutTokens)
	}
}

func TestNilCountsNothing(t *testing.T) {
	var h *history.History
	h.Chat(cheaper)
	h.Cut(cut)
	h.Recovered(cut)
	if s, err := h.Query(history.Query{}); err != nil || s.CutTokens != 0 {
		t.Errorf("Query of nil = %+v, %v", s, err)
	}
}
