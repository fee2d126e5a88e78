package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"secateur/internal/llm/bpe"
)

// cutting are settings that cut nothing but arguments.
var cuttingArguments = Pruning{Enabled: true, MinChars: 1 << 20, TargetChars: 1 << 19, MaxPruneRatio: 0.95, Arguments: ArgumentsOn}

// callRaw returns the arguments of a message's first call as they are written.
func (c *Conversation) callRaw(i int) []byte {
	if len(c.Messages[i].Calls) == 0 {
		return nil
	}
	return c.bytes(c.Messages[i].Calls[0].arguments)
}

// sentCalls returns the arguments of the calls in a body, by id.
func sentCalls(t failer, f Format, body []byte) map[string]string {
	t.Helper()
	c, err := f.Read(body)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	out := map[string]string{}
	for i := range c.Messages {
		for k := range c.Messages[i].Calls {
			doc, _ := c.document(&c.Messages[i].Calls[k])
			out[c.Messages[i].Calls[k].ID] = string(doc)
		}
	}
	return out
}

func wrote(file, text string) string {
	return fmt.Sprintf(`{"file_path":%q,"content":%s}`, file, quote(text))
}

// TestLongArgumentsAreCutWhenTheyFirstComeBack: they are cut in the first request that has them, and
// go out in these bytes in all later ones.
func TestLongArgumentsAreCutWhenTheyFirstComeBack(t *testing.T) {
	file := bigFile(60)
	for _, f := range []Format{Completions, Messages, Responses} {
		s := sender{format: f, masking: Default(), pruning: cuttingArguments, model: "claude-opus-5-5"}
		items := askedIn(f, "call_1", "Write", wrote("/a.py", file), "File created")
		out, plan := s.send(t, bodyIn(f, items...))
		sent := sentCalls(t, f, out)["call_1"]
		var got struct {
			Path    string `json:"file_path"`
			Content string `json:"content"`
		}
		if err := json.Unmarshal([]byte(sent), &got); err != nil || got.Path != "/a.py" {
			t.Fatalf("%v: the call went out as %s: %v", f, sent, err)
		}
		for _, part := range []string{"def function_0(argument):\n", "⟦PRUNED lines ", " id=" + someID, " names: function_"} {
			if !strings.Contains(got.Content, part) {
				t.Errorf("%v: %q is missing in %q", f, part, got.Content)
			}
		}
		if n := len(got.Content); n > 600 || bpe.Count(got.Content) >= bpe.Count(file) {
			t.Errorf("%v: %d characters are left", f, n)
		}
		if len(plan.Cuts) != 1 || plan.Original(plan.Cuts[0]) != file || plan.TokensSaved() <= 0 {
			t.Errorf("%v: cuts %+v, %d tokens saved", f, plan.Cuts, plan.TokensSaved())
		}
		for turn := range 12 {
			items = append(items, askedIn(f, fmt.Sprintf("more_%d", turn), "Bash", `{"command":"x"}`, strings.Repeat("more\n", 300))...)
			s.forget = turn%3 == 0
			out, _ = s.send(t, bodyIn(f, items...))
			if again := sentCalls(t, f, out)["call_1"]; again != sent {
				t.Fatalf("%v, turn %d: the call went out as %s, before as %s", f, turn, again, sent)
			}
		}
	}
}

// TestWhichArgumentsStay lists the exceptions.
func TestWhichArgumentsStay(t *testing.T) {
	file := bigFile(60)
	write := wrote("/a.py", file)
	ok := askedIn(Messages, "call_1", "Write", write, "File created")
	off := cuttingArguments
	off.Arguments = ArgumentsOff
	two := func(second string) []string {
		return []string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"Write","input":` + write + `},{"type":"tool_use","id":"call_2","name":"Edit","input":` + second + `}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"ok"},{"type":"tool_result","tool_use_id":"call_2","content":"ok"}]}`,
		}
	}
	marked := askedIn(Messages, "call_0", "Write", wrote("/b.py", "⟦PRUNED lines 3-60 id="+someID+"⟧"), "ok")
	for name, c := range map[string]struct {
		pruning Pruning
		items   []string
		cut     bool
	}{
		"a file that was written":            {cuttingArguments, ok, true},
		"switched off":                       {off, ok, false},
		"a short one":                        {cuttingArguments, askedIn(Messages, "call_1", "Write", wrote("/a.py", file[:900]), "ok"), false},
		"the call failed":                    {cuttingArguments, askedIn(Messages, "call_1", "Write", write, "Error: no such directory"), false},
		"the call is marked as failed":       {cuttingArguments, []string{ok[0], strings.Replace(ok[1], `"type":"tool_result"`, `"type":"tool_result","is_error":true`, 1)}, false},
		"the call has no result yet":         {cuttingArguments, ok[:1], false},
		"a later call quotes it":             {cuttingArguments, two(`{"old_string":"def function_7(argument):"}`), false},
		"a later call says something else":   {cuttingArguments, two(`{"old_string":"def something_else(argument):"}`), true},
		"JSON":                               {cuttingArguments, askedIn(Messages, "call_1", "Write", wrote("/a.json", `{"ids":[`+strings.Repeat(`"abcdef",`, 200)+`"z"]}`), "ok"), false},
		"it was sent before":                 {cuttingArguments, append(slices.Clone(ok), askedIn(Messages, "call_3", "Bash", `{"command":"x"}`, "y")...), false},
		"the model has imitated our markers": {cuttingArguments, append(slices.Clone(marked), ok...), false},
	} {
		s := sender{format: Messages, masking: Default(), pruning: c.pruning}
		_, plan := s.send(t, bodyIn(Messages, c.items...))
		if got := len(plan.Cuts) > 0; got != c.cut {
			t.Errorf("%s: cut %v, want %v", name, got, c.cut)
		}
	}
}

// A model that writes our marker into a call is noticed in every spelling, and when it is new.
func TestImitationsAreFound(t *testing.T) {
	for _, f := range []Format{Completions, Messages, Responses} {
		items := askedIn(f, "call_1", "Write", wrote("/a.py", "x\n⟦PRUNED lines 3-60 id="+someID+"⟧"), "ok")
		c, err := f.Read(bodyIn(f, items...))
		if err != nil {
			t.Fatal(err)
		}
		if c.Imitations() != 1 || !c.ImitatesNow() {
			t.Errorf("%v: %d imitations, now %v", f, c.Imitations(), c.ImitatesNow())
		}
		escaped := strings.ReplaceAll(string(bodyIn(f, items...)), "⟦", `\u27e6`)
		if c, err = f.Read([]byte(escaped)); err != nil || c.Imitations() != 1 {
			t.Errorf("%v: escaped, %d imitations, %v", f, c.Imitations(), err)
		}
		items = append(items, askedIn(f, "call_2", "Bash", `{"command":"x"}`, "y")...)
		if c, err = f.Read(bodyIn(f, items...)); err != nil || c.Imitations() != 1 || c.ImitatesNow() {
			t.Errorf("%v: later, %d imitations, now %v, %v", f, c.Imitations(), c.ImitatesNow(), err)
		}
	}
}

// Several strings of one message have one original, and their markers the lines of it.
func TestMarkersOfSeveralStringsCountLinesOfOneOriginal(t *testing.T) {
	a, b := bigFile(40), strings.ReplaceAll(bigFile(50), "function", "method")
	s := sender{format: Completions, masking: Default(), pruning: cuttingArguments}
	items := askedIn(Completions, "call_1", "Edit", fmt.Sprintf(`{"old":%s,"path":"/a","new":%s}`, quote(a), quote(b)), "ok")
	out, plan := s.send(t, bodyIn(Completions, items...))
	got := sentCalls(t, Completions, out)["call_1"]
	if len(plan.Cuts) != 1 || plan.Original(plan.Cuts[0]) != a+b {
		t.Fatalf("cuts %+v", plan.Cuts)
	}
	if !strings.Contains(got, "-120 id="+someID) || !strings.Contains(got, "-270 names: ") || !strings.Contains(got, `"path":"/a"`) {
		t.Errorf("the call went out as %s", got)
	}
}
