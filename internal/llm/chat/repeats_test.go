package chat

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/llm/bpe"
	"secateur/internal/prune"
)

// repeating are settings that leave results whole but for repeated lines.
var repeating = Pruning{Enabled: true, MinChars: 1 << 20, TargetChars: 1 << 19, MaxPruneRatio: 0.95, Repeats: true}

// asked is a call and its result in some format.
func askedIn(f Format, id, tool, arguments, result string) []string {
	switch f {
	case Messages:
		return []string{
			fmt.Sprintf(`{"role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}`, id, tool, arguments),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%s}]}`, id, quote(result)),
		}
	case Responses:
		return []string{
			fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":%q,"arguments":%s}`, id, tool, quote(arguments)),
			fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%s}`, id, quote(result)),
		}
	}
	return []string{strings.TrimPrefix(asks(id, tool, arguments), "raw:"), fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, quote(result))}
}

func bodyIn(f Format, items ...string) []byte {
	list := map[Format]string{Completions: "messages", Messages: "messages", Responses: "input"}[f]
	return []byte(`{"model":"m","` + list + `":[{"role":"user","content":"` + strings.Repeat("look at it ", 500) + `"},` + strings.Join(items, ",") + `]}`)
}

// results returns the results of a body, by call.
func sentResults(t failer, f Format, body []byte) map[string]string {
	t.Helper()
	c, err := f.Read(body)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	out := map[string]string{}
	for i := range c.Messages {
		if c.isResult(i) {
			out[c.Messages[i].CallID] = c.Text(i)
		}
	}
	return out
}

// someLines are lines of a program, each different.
func someLines(from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, "\tresult[%d] = compute(argument, %d) // step %d of the plan\n", i, i*i, i)
	}
	return b.String()
}

// numbered shows lines as Claude Code does.
func numbered(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&b, "%6d→%s", n, line)
	}
	return b.String()
}

func TestASecondReadRefersToTheFirst(t *testing.T) {
	file := someLines(0, 60)
	for _, f := range []Format{Completions, Messages, Responses} {
		s := sender{format: f, masking: Default(), pruning: repeating}
		items := askedIn(f, "call_1", "Read", `{"file_path":"/a.go"}`, numbered(file))
		s.send(t, bodyIn(f, items...))
		items = append(items, askedIn(f, "call_2", "Read", `{"file_path":"/a.go"}`, numbered(file))...)
		body := bodyIn(f, items...)
		out, plan := s.send(t, body)
		got := sentResults(t, f, out)
		if want := "⟦PRUNED lines 1-60 id=" + someID + ": same as call call_1 lines 1-60⟧\n"; got["call_2"] != want {
			t.Errorf("%v: the second read went out as %q, want %q", f, got["call_2"], want)
		}
		if got["call_1"] != numbered(file) {
			t.Errorf("%v: the first read changed", f)
		}
		if len(plan.Cuts) != 1 || plan.Cuts[0].ID != someID || plan.Original(plan.Cuts[0]) != numbered(file) {
			t.Errorf("%v: cuts %+v", f, plan.Cuts)
		}
		again, _ := s.send(t, body)
		if string(again) != string(out) {
			t.Errorf("%v: sent again, it goes out in another form", f)
		}
		// Who asks a third time wants the text.
		items = append(items, askedIn(f, "call_3", "Read", `{"file_path":"/a.go"}`, numbered(file))...)
		out, _ = s.send(t, bodyIn(f, items...))
		after := sentResults(t, f, out)
		if after["call_3"] != numbered(file) || after["call_2"] != got["call_2"] {
			t.Errorf("%v: the third read went out as %q, the second as %q", f, after["call_3"], after["call_2"])
		}
	}
}

func TestAReadAfterAnEditShowsTheChange(t *testing.T) {
	lines := strings.SplitAfter(someLines(0, 60), "\n")[:60]
	edited := slices.Concat(lines[:30], []string{"\tinserted()\n", "\tinserted(2)\n"}, lines[31:])
	read := `{"file_path":"/a.go"}`
	for _, f := range []Format{Completions, Messages, Responses} {
		s := sender{format: f, masking: Default(), pruning: repeating}
		items := askedIn(f, "call_1", "Read", read, numbered(strings.Join(lines, "")))
		items = append(items, askedIn(f, "call_2", "Edit", `{"file_path":"/a.go"}`, "done")...)
		items = append(items, askedIn(f, "call_3", "Read", read, numbered(strings.Join(edited, "")))...)
		out, _ := s.send(t, bodyIn(f, items...))
		shown := strings.SplitAfter(numbered(strings.Join(edited, "")), "\n")
		want := "⟦PRUNED lines 1-27 id=" + someID + ": same as call call_1 lines 1-27⟧\n" + strings.Join(shown[27:35], "") + "⟦PRUNED lines 36-61: same as call call_1 lines 35-60⟧\n"
		if got := sentResults(t, f, out)["call_3"]; got != want {
			t.Errorf("%v: the read after the edit went out as\n%s\nwant\n%s", f, got, want)
		}
		// The next edit, too: the read before it was cut, but by references alone.
		twice := slices.Clone(edited)
		twice[5] = "\tchanged()\n"
		items = append(items, askedIn(f, "call_4", "Edit", `{"file_path":"/a.go"}`, "done")...)
		items = append(items, askedIn(f, "call_5", "Read", read, numbered(strings.Join(twice, "")))...)
		out, _ = s.send(t, bodyIn(f, items...))
		if got := sentResults(t, f, out)["call_5"]; !strings.Contains(got, "changed()") || !strings.Contains(got, "inserted(2)") || strings.Count(got, "same as call call_1") != 2 {
			t.Errorf("%v: the second read after an edit went out as\n%s", f, got)
		}
	}
}

// TestWhatIsNotReferredTo lists results that pass whole although they repeat lines.
func TestWhatIsNotReferredTo(t *testing.T) {
	file := someLines(0, 60)
	read := `{"file_path":"/a.go"}`
	first := askedIn(Messages, "call_1", "Read", read, file)
	second := askedIn(Messages, "call_2", "Bash", `{"command":"cat a.go"}`, file)
	both := slices.Concat(first, second)
	settings := func(change func(*Pruning)) Pruning { p := repeating; change(&p); return p }
	with := func(head string, items []string) []byte {
		return []byte(strings.Replace(string(bodyIn(Messages, items...)), `{"model":"m",`, `{"model":"m",`+head, 1))
	}
	for name, c := range map[string]struct {
		pruning Pruning
		body    []byte
		cut     bool
	}{
		"the same lines":                     {repeating, bodyIn(Messages, both...), true},
		"switched off":                       {settings(func(p *Pruning) { p.Repeats = false }), bodyIn(Messages, both...), false},
		"pruning switched off":               {settings(func(p *Pruning) { p.Enabled = false }), bodyIn(Messages, both...), false},
		"seven lines":                        {repeating, bodyIn(Messages, slices.Concat(first, askedIn(Messages, "call_2", "Bash", `{}`, someLines(0, 7)))...), false},
		"few characters":                     {repeating, bodyIn(Messages, slices.Concat(askedIn(Messages, "call_1", "Bash", `{}`, strings.Repeat("x = 1\ny = 2\n", 20)), askedIn(Messages, "call_2", "Bash", `{}`, strings.Repeat("x = 1\ny = 2\n", 20)))...), false},
		"the provider may clear results":     {repeating, with(`"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},`, both), false},
		"the provider keeps the history":     {repeating, with(`"thread":{"type":"create"},`, both), false},
		"a call with a name like a sentence": {repeating, bodyIn(Messages, slices.Concat(askedIn(Messages, "see the first", "Read", read, file), second)...), false},
		"two results of one call":            {repeating, bodyIn(Messages, slices.Concat(first, askedIn(Messages, "call_1", "Bash", `{}`, "other"), second)...), false},
		"an error":                           {repeating, bodyIn(Messages, first[0], first[1], second[0], strings.Replace(second[1], `"type":"tool_result"`, `"type":"tool_result","is_error":true`, 1)), false},
		"a sub-agent's report":               {repeating, bodyIn(Messages, slices.Concat(first, askedIn(Messages, "call_2", "Task", `{}`, file))...), false},
		"a recovered text":                   {repeating, bodyIn(Messages, slices.Concat(first, askedIn(Messages, "call_2", "mcp__pruner__recover_text", `{}`, file))...), false},
	} {
		s := sender{format: Messages, masking: Default(), pruning: c.pruning}
		_, plan := s.send(t, c.body)
		if got := len(plan.Cuts) > 0; got != c.cut {
			t.Errorf("%s: cut %v, want %v", name, got, c.cut)
		}
	}
}

// A second read of a text that went out pruned passes whole, although the pruned form shows many of
// its lines.
func TestASecondReadOfAPrunedTextPassesWhole(t *testing.T) {
	file := bigFile(200)
	p := repeating
	p.MinChars, p.TargetChars = 4000, 4000
	s := sender{format: Completions, masking: Default(), pruning: p}
	items := askedIn(Completions, "call_1", "Read", `{"file_path":"/a.py"}`, file)
	out, _ := s.send(t, bodyIn(Completions, items...))
	if got := sentResults(t, Completions, out)["call_1"]; !prune.HasMark(got) {
		t.Fatalf("the first read went out whole: %s", got)
	}
	items = append(items, askedIn(Completions, "call_2", "Read", `{"file_path":"/a.py"}`, file)...)
	out, _ = s.send(t, bodyIn(Completions, items...))
	if got := sentResults(t, Completions, out)["call_2"]; got != file {
		t.Errorf("the second read went out as %s", got)
	}
}

// What a client's program writes into a result stays, although an earlier result has it.
func TestRepeatedRemindersStay(t *testing.T) {
	reminder := "<system-reminder>\n" + strings.Repeat("Do not forget the rules of this place.\n", 12) + "</system-reminder>\n"
	text := someLines(0, 30) + reminder + someLines(30, 30)
	s := sender{format: Messages, masking: Default(), pruning: repeating}
	items := slices.Concat(askedIn(Messages, "call_1", "Bash", `{"command":"a"}`, text), askedIn(Messages, "call_2", "Bash", `{"command":"b"}`, text))
	out, _ := s.send(t, bodyIn(Messages, items...))
	got := sentResults(t, Messages, out)["call_2"]
	if !strings.Contains(got, reminder) || strings.Count(got, "same as call call_1") != 2 {
		t.Errorf("the second result went out as\n%s", got)
	}
}

// TestReferredResultsAreNotMasked: while a reference lives, its target stays under every strategy.
func TestReferredResultsAreNotMasked(t *testing.T) {
	file := someLines(0, 200)
	for _, strategy := range []string{Sliding, Stepped, Priced} {
		masking := Default()
		masking.Strategy, masking.WindowTurns, masking.StepTurns, masking.MaxLoss = strategy, 2, 1, 10
		s := sender{format: Completions, masking: masking, pruning: repeating}
		items := askedIn(Completions, "call_1", "Read", `{"file_path":"/a.go"}`, file)
		items = append(items, askedIn(Completions, "call_2", "Bash", `{"command":"cat b"}`, strings.Repeat("other\n", 2000))...)
		items = append(items, askedIn(Completions, "call_3", "Bash", `{"command":"cat a.go"}`, file)...)
		var masked, released bool
		for turn := range 12 {
			out, _ := s.send(t, bodyIn(Completions, items...))
			got := sentResults(t, Completions, out)
			refers := strings.Contains(got["call_3"], "same as call call_1")
			masked = masked || got["call_2"] != strings.Repeat("other\n", 2000)
			if refers && got["call_1"] != file {
				t.Fatalf("%s, turn %d: the target of a reference went out as %q", strategy, turn, got["call_1"])
			}
			released = released || got["call_1"] != file
			items = append(items, askedIn(Completions, fmt.Sprintf("more_%d", turn), "Bash", fmt.Sprintf(`{"command":"%d"}`, turn), strings.Repeat(fmt.Sprintln("more", turn), 300))...)
		}
		if !masked || !released {
			t.Errorf("%s: another result masked: %v, the target masked after the reference: %v", strategy, masked, released)
		}
	}
}

// A reference made for one model does not go to another that has its target masked.
func TestAReferenceGoesOnlyWhereItsTargetDoes(t *testing.T) {
	file := someLines(0, 60)
	c, err := Read(bodyIn(Completions, slices.Concat(
		askedIn(Completions, "call_1", "Read", `{"file_path":"/a.go"}`, file), askedIn(Completions, "call_2", "Bash", `{}`, "x"),
		askedIn(Completions, "call_3", "Read", `{"file_path":"/a.go"}`, file), askedIn(Completions, "call_4", "Bash", `{}`, "y"))...))
	if err != nil {
		t.Fatal(err)
	}
	refers := "⟦PRUNED lines 1-60 id=" + someID + ": same as call call_1 lines 1-60⟧\n"
	in := Input{
		Conversation: c, Masking: Default(), Prices: claude, Pruned: map[int]string{6: refers}, ID: func(string) string { return someID },
		Past: Past{
			Record:  &Record{Messages: 5, Cached: 5, Cuts: []Sent{{Message: 2, Kind: Masked, ID: someID}}},
			Sibling: &Record{Messages: 7, Cached: 7, Cuts: []Sent{{Message: 6, Kind: Pruned, ID: someID}}},
		},
	}
	if got := sentResults(t, Completions, Decide(in).Append(nil)); got["call_3"] != file || got["call_1"] == file {
		t.Errorf("the reference went out as %q, its target as %q", got["call_3"], got["call_1"])
	}
}

var sameAs = regexp.MustCompile(`⟦PRUNED lines (\d+)-(\d+)(?: id=\w+)?: same as call (\w+) lines (\d+)-(\d+)⟧\n`)

// TestReferencesAreTrue draws conversations with overlapping reads and edits. Every reference in a
// request names lines that the same request holds. It takes fewer tokens than the lines. A result
// with references filled in again is the original.
func TestReferencesAreTrue(t *testing.T) {
	referred := 0
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.SampledFrom([]Format{Completions, Messages, Responses}).Draw(rt, "format")
		masking := drawSettings(rt)
		pruning := repeating
		if rapid.Bool().Draw(rt, "prunes") {
			pruning.MinChars, pruning.TargetChars = 2000, 1000
		}
		s := sender{format: f, masking: masking, pruning: pruning}
		lines := strings.SplitAfter(someLines(0, 80), "\n")[:80]
		shows := rapid.SampledFrom([]func(string) string{numbered, func(text string) string { return text }}).Draw(rt, "view")
		whole := map[string]string{}
		var items []string
		for turn := range rapid.IntRange(2, 12).Draw(rt, "turns") {
			if rapid.Bool().Draw(rt, "edit") {
				at := rapid.IntRange(0, len(lines)-1).Draw(rt, "at")
				lines = slices.Concat(lines[:at], []string{fmt.Sprintf("\tnew(%d)\n", turn)}, lines[min(len(lines), at+rapid.IntRange(0, 3).Draw(rt, "gone")):])
			}
			from := rapid.IntRange(0, 20).Draw(rt, "from")
			to := rapid.IntRange(from+1, len(lines)).Draw(rt, "to")
			id := fmt.Sprintf("call_%d", turn)
			whole[id] = shows(strings.Join(lines[from:to], ""))
			items = append(items, askedIn(f, id, "Read", fmt.Sprintf(`{"file_path":"/a.go","offset":%d,"limit":%d}`, from+1, to-from), whole[id])...)
			s.forget = rapid.IntRange(0, 5).Draw(rt, "forget") == 0
			out, _ := s.send(rt, bodyIn(f, items...))
			sent := sentResults(rt, f, out)
			for id, text := range sent {
				for _, m := range sameAs.FindAllStringSubmatch(text, -1) {
					referred++
					number := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
					here := prune.IndexLines(whole[id]).Range(number(1), number(2))
					there := prune.IndexLines(whole[m[3]]).Range(number(4), number(5))
					bare := regexp.MustCompile(`(?m)^ *\d+→`)
					if bare.ReplaceAllString(here, "") != bare.ReplaceAllString(there, "") {
						rt.Fatalf("%s in %s: %q is not %q", m[0], id, here, there)
					}
					if !strings.Contains(sent[m[3]], there) {
						rt.Fatalf("%s in %s: the lines do not go out there: %q", m[0], id, sent[m[3]])
					}
					if bpe.Count(m[0]) >= bpe.Count(here) {
						rt.Fatalf("%s takes no fewer tokens than %q", m[0], here)
					}
				}
			}
		}
	})
	if referred == 0 {
		t.Error("nothing was referred to")
	}
}

// TestAlikeBeforeMissesNothing compares the quick search with an obvious one.
func TestAlikeBeforeMissesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(name string) []string {
			return rapid.SliceOfN(rapid.SampledFrom([]string{"a\\n", "  b \"x\"", "12: c", "", "é😀 " + strings.Repeat("long ", 12)}), 8, 30).Draw(rt, name)
		}
		a, b := draw("a"), draw("b")
		pad := strings.Repeat("=", minRepeat)
		c, err := Read(talk("u:q", "a:1", "t:1="+pad+"\n"+strings.Join(a, "\n"), "a:2", "t:2="+pad+"!\n"+strings.Join(b, "\n")))
		if err != nil {
			rt.Fatalf("%v", err)
		}
		has := false
		for i := 0; i+minRepeatLines <= len(a); i++ {
			for j := 0; j+minRepeatLines <= len(b); j++ {
				has = has || slices.Equal(a[i:i+minRepeatLines], b[j:j+minRepeatLines])
			}
		}
		if has && len(c.alikeBefore(4)) == 0 {
			rt.Fatalf("%q repeats lines of %q", b, a)
		}
	})
}

func TestMarkersWithReferencesAreRead(t *testing.T) {
	text := "a\n⟦PRUNED lines 2-40 id=" + someID + ": same as call toolu_01 lines 12-50. Run it⟧\nb\n⟦PRUNED lines 60-70: same as call call-2 lines 1-11⟧\n"
	if got := prune.ReadReferences(text); fmt.Sprint(got) != "[toolu_01 call-2]" {
		t.Errorf("references %v", got)
	}
	if got := prune.ReadMarkers(text, someID); len(got) != 2 {
		t.Errorf("markers %+v", got)
	}
}
