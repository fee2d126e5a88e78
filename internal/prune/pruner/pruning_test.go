package pruner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"secateur/internal/prune/pruner"
	"secateur/internal/prune/rerank"
	"secateur/internal/store/originals"
)

func TestStatsAndWarningsAreAlwaysThere(t *testing.T) {
	p := pruneText(t, newServer(t, nil), asked{text: numbered(100), goal: "line 7", ratio: 0.5, markers: true})
	for _, name := range []string{
		"original_lines", "kept_lines", "pruned_lines", "pruned_ratio", "tokens_est_before", "tokens_est_after",
		"elapsed_ms", "used_fallback", "backend", "tokens_saved_est", "cost_estimated_usd",
	} {
		if _, ok := p.Stats[name]; !ok {
			t.Errorf("stats.%s is missing", name)
		}
	}
	if p.Stats["backend"] != "heuristic" || p.Stats["used_fallback"] != false || p.Warnings == nil || len(p.Warnings) != 0 {
		t.Errorf("backend %v, used_fallback %v, warnings %v", p.Stats["backend"], p.Stats["used_fallback"], p.Warnings)
	}
	saved := p.stat("tokens_est_before") - p.stat("tokens_est_after")
	if p.stat("tokens_saved_est") != saved || p.Stats["cost_estimated_usd"] != float64(saved)*3/1e6 {
		t.Errorf("saved %v worth %v, want %d worth %v", p.Stats["tokens_saved_est"], p.Stats["cost_estimated_usd"], saved, float64(saved)*3/1e6)
	}
	if len(p.Annotations) == 0 {
		t.Error("nothing was cut of 100 lines at ratio 0.5")
	}
}

// noOp fails unless the whole text came back with its id, marked as a fallback with these warnings.
func noOp(t *testing.T, s *pruner.Server, text string, p pruned, warnings ...string) {
	t.Helper()
	if p.PrunedText != text || p.Annotations == nil || len(p.Annotations) != 0 || p.Stats["used_fallback"] != true {
		t.Errorf("text %.60q, annotations %v, stats %v: want the whole text, none, used_fallback", p.PrunedText, p.Annotations, p.Stats)
	}
	if !slices.Equal(p.Warnings, warnings) {
		t.Errorf("warnings %v, want %v", p.Warnings, warnings)
	}
	if p.stat("pruned_lines") != 0 || p.stat("kept_lines") != p.stat("original_lines") || p.stat("tokens_saved_est") != 0 {
		t.Errorf("stats %v tell of a cut", p.Stats)
	}
	if p.PruneID != originals.ID("", text) {
		t.Errorf("id %s, want %s", p.PruneID, originals.ID("", text))
	}
	if slices.Contains(warnings, "recovery_unavailable") || text == "" {
		return
	}
	var r recovery
	result(t, call(t, s, "recover_text", `{"prune_id":"`+p.PruneID+`","ranges":[{"start_line":1,"end_line":1000000000}],"include_line_numbers":false}`), &r)
	if r.RawText != text {
		t.Errorf("recovered %.60q, want %.60q", r.RawText, text)
	}
}

func TestTooLargeATextPassesWhole(t *testing.T) {
	s := newServer(t, func(o *pruner.Options) { o.MaxInputChars = 100 })
	// Characters count, not bytes.
	fits, tooMuch := strings.Repeat("é\n", 50), strings.Repeat("é\n", 50)+"x"
	if p := pruneText(t, s, asked{text: fits, ratio: 0.5}); len(p.Warnings) != 0 {
		t.Errorf("warnings for 100 characters: %v", p.Warnings)
	}
	noOp(t, s, tooMuch, pruneText(t, s, asked{text: tooMuch, ratio: 0.5, annotate: true, markers: true}), "input_too_large")
}

func TestTimeoutPassesWhole(t *testing.T) {
	now := noon
	s := newServer(t, func(o *pruner.Options) {
		o.Now = func() time.Time { now = now.Add(time.Second); return now }
	})
	text := numbered(5000)
	p := pruneText(t, s, asked{text: text, goal: "line", ratio: 0.5, timeout: 1500, annotate: true})
	noOp(t, s, text, p, "timeout")
	if p.stat("elapsed_ms") < 1000 {
		t.Errorf("elapsed_ms = %v on a clock of seconds", p.Stats["elapsed_ms"])
	}
}

func TestUnmetConstraintsPassWhole(t *testing.T) {
	s := newServer(t, nil)
	for name, a := range map[string]asked{
		"min_keep_lines forbids every cut": {text: numbered(20), ratio: 0.5, minKeep: 20, annotate: true},
		"min_keep_lines beyond counting":   {text: numbered(20), ratio: 0.5, minKeep: 1 << 62, annotate: true},
		"of a binary text too":             {text: strings.Repeat("a\x00b\x00\n", 20), ratio: 0.5, minKeep: 10000},
		"every line is protected":          {text: "⟦NO_PRUNE_BEGIN⟧\n" + numbered(20), ratio: 0.9, markers: true},
	} {
		t.Run(name, func(t *testing.T) { noOp(t, s, a.text, pruneText(t, s, a), "constraints_unmet") })
	}
}

func TestNothingToCutIsNoFallback(t *testing.T) {
	s := newServer(t, nil)
	for name, c := range map[string]struct {
		asked
		want string
	}{
		"ratio 0":            {asked{text: "a\nb", ratio: 0}, "a\nb"},
		"ratio 0, annotated": {asked{text: "a\r\nb", ratio: 0, annotate: true, markers: true}, "1│ a\r\n2│ b"},
		"the empty text":     {asked{text: "", ratio: 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := pruneText(t, s, c.asked)
			if p.PrunedText != c.want || len(p.Warnings) != 0 || p.Stats["used_fallback"] != false || len(p.Annotations) != 0 || p.PruneID == "" {
				t.Errorf("%+v, want %q without any warning", p, c.want)
			}
		})
	}
}

// broken is a store that fails.
type broken struct {
	originals.Store
	err error
}

func (b broken) ID(tenant, text string) string                       { return originals.ID(tenant, text) }
func (b broken) Put(context.Context, string, string) (string, error) { return "", b.err }
func (b broken) Get(context.Context, string, string) (string, error) { return "", b.err }

func TestNothingIsCutThatCannotBeKept(t *testing.T) {
	for name, err := range map[string]error{"full": originals.ErrFull, "too large": originals.ErrTooLarge, "down": originals.ErrUnavailable, "odd": errors.New("odd")} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(o *pruner.Options) { o.Originals, o.MaxInputChars = broken{err: err}, 5000 })
			text := numbered(50)
			noOp(t, s, text, pruneText(t, s, asked{text: text, ratio: 0.5, annotate: true, markers: true}), "recovery_unavailable")
			long := numbered(5000)
			noOp(t, s, long, pruneText(t, s, asked{text: long, ratio: 0.5}), "input_too_large", "recovery_unavailable")
		})
	}
}

// The original is in the store, under the tenant, by the time of the response.
func TestTheOriginalIsKeptBeforeTheCut(t *testing.T) {
	store := &originals.Memory{}
	s := newServer(t, func(o *pruner.Options) { o.Originals, o.Tenant = store, "somebody" })
	text := numbered(50)
	p := pruneText(t, s, asked{text: text, ratio: 0.5, markers: true})
	if kept, err := store.Get(t.Context(), "somebody", p.PruneID); err != nil || kept != text {
		t.Errorf("store holds %.30q, %v", kept, err)
	}
	if _, err := store.Get(t.Context(), "", p.PruneID); !errors.Is(err, originals.ErrNotFound) {
		t.Errorf("another tenant finds it: %v", err)
	}
}

func TestAFaultInTheEnginePassesTheTextWhole(t *testing.T) {
	s := newServer(t, func(o *pruner.Options) {
		o.Backend = string(rerank.DeepInfra)
		o.Rerank = func(context.Context, string, string, []string) (rerank.Result, error) { panic("broken") }
	})
	text := numbered(50)
	noOp(t, s, text, pruneText(t, s, asked{text: text, goal: "line", ratio: 0.5, annotate: true}), "internal_error")
}

// The same text has different ids in different stores and for different tenants. The cuts do not
// depend on the id.
func TestEveryIDIsCutAlike(t *testing.T) {
	var items, keyed strings.Builder
	for i := range 600 {
		fmt.Fprintf(&items, `{"id": %d, "name": "user%d", "mail": "u%d@x.org", "roles": ["a", "b"]}, `, i, i, i)
		fmt.Fprintf(&keyed, "key_%d:\n  image: repo/%d\n  level: info\n", i, i)
	}
	for name, text := range map[string]string{"one line": `{"items": [` + items.String() + `{}], "error": "quota exceeded"}`, "many": keyed.String()} {
		var want string
		for tenant := range 40 {
			s := newServer(t, func(o *pruner.Options) { o.Tenant = strconv.Itoa(tenant) })
			p := pruneText(t, s, asked{text: text, goal: "why was the quota exceeded", ratio: 0.8, markers: true})
			got := strings.ReplaceAll(p.PrunedText, p.PruneID, "ID")
			if want == "" {
				want = got
			}
			if got != want || len(p.Annotations) == 0 {
				t.Fatalf("%s: with %s %d characters are left, with another id %d", name, p.PruneID, len(got), len(want))
			}
		}
	}
}

func TestTheSameTextHasTheSameAnswer(t *testing.T) {
	a := asked{text: numbered(200), goal: "line 9", ratio: 0.7, annotate: true, markers: true}
	first := call(t, newServer(t, nil), "prune_text", a.json())
	again := call(t, newServer(t, nil), "prune_text", a.json())
	if string(first.Raw) != string(again.Raw) {
		t.Errorf("two servers answer differently:\n%.300s\n%.300s", first.Raw, again.Raw)
	}
}

func TestLoneSurrogatesComeBackAsTheyWere(t *testing.T) {
	s := newServer(t, nil)
	var p pruned
	answer := call(t, s, "prune_text", `{"text":"a\ud800b\nc\udfffd\n😀","goal_hint":"\ud800","source_type":"docs","options":{"max_prune_ratio":0,"min_keep_lines":0,"timeout_ms":1000,"annotate_lines":false,"include_markers":false}}`)
	result(t, answer, &p)
	if !strings.Contains(string(answer.Result), `"pruned_text":"a\ud800b\nc\udfffd\n😀"`) {
		t.Errorf("prune_text answers %s", answer.Result)
	}
	answer = call(t, s, "recover_text", `{"prune_id":"`+p.PruneID+`","ranges":[{"start_line":1,"end_line":3}],"include_line_numbers":true}`)
	if !strings.Contains(string(answer.Result), `"raw_text":"1│ a\ud800b\n2│ c\udfffd\n3│ 😀"`) {
		t.Errorf("recover_text answers %s", answer.Result)
	}
	answer = call(t, s, "recover_chars", `{"prune_id":"`+p.PruneID+`","start":1,"end":6}`)
	if !strings.Contains(string(answer.Result), `"raw_text":"\ud800b\nc\udfff"`) {
		t.Errorf("recover_chars answers %s", answer.Result)
	}
}

func TestOriginalsOutliveTheProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "originals")
	open := func() (*pruner.Server, originals.StoreCloser) {
		set := originals.Default()
		set.URL = "file:" + dir
		store, err := originals.Open(originals.Options{Settings: set})
		if err != nil {
			t.Fatal(err)
		}
		return newServer(t, func(o *pruner.Options) { o.Originals = store }), store
	}
	text := numbered(300)
	s, store := open()
	p := pruneText(t, s, asked{text: text, goal: "line 17", ratio: 0.8, markers: true})
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s, store = open()
	defer store.Close()
	for _, a := range p.Annotations {
		args, _ := json.Marshal(map[string]any{
			"prune_id": p.PruneID, "include_line_numbers": false,
			"ranges": []map[string]int{{"start_line": a.Start, "end_line": a.End}},
		})
		var r recovery
		result(t, call(t, s, "recover_text", string(args)), &r)
		if want := strings.Join(strings.SplitAfter(text, "\n")[a.Start-1:a.End], ""); r.RawText != want {
			t.Errorf("lines %d-%d come back as %.60q, want %.60q", a.Start, a.End, r.RawText, want)
		}
	}
	if again := pruneText(t, s, asked{text: text, goal: "line 17", ratio: 0.8, markers: true}); again.PruneID != p.PruneID || again.PrunedText != p.PrunedText {
		t.Error("the same text is pruned otherwise after a restart")
	}
}
