package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

func bigFile(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "def function_%d(argument):\n    return argument + %d\n\n", i, i)
	}
	return b.String()
}

func jobs(t *testing.T, s Pruning, r *Record, words ...string) (*Conversation, []int) {
	t.Helper()
	c, err := Read(talk(words...))
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for _, j := range c.Jobs(s, Past{Record: r}) {
		at = append(at, j.Message)
	}
	return c, at
}

func TestJobs(t *testing.T) {
	on := DefaultPruning()
	on.Enabled, on.Repeats = true, false
	off := on
	off.Enabled = false
	big := bigFile(200)
	other := bigFile(300)
	rereads := []string{"u:q", "a:1@read", "t:1=" + big, "a:2@read", "t:2=" + big, "a:3@read", "t:3=" + other, "a:4@read", "t:4=" + other}
	third := append(slices.Clone(rereads), "a:5@read", "t:5="+bigFile(400))
	bothCut := &Record{Messages: 9, Cuts: []Sent{{Message: 2, Kind: Pruned}, {Message: 6, Kind: Pruned}}}
	for name, c := range map[string]struct {
		settings Pruning
		record   *Record
		words    []string
		want     string
	}{
		"a big result": {on, nil, []string{"u:q", "a:1", "t:1=" + big}, "[2]"},
		"a result that was answered was sent whole": {on, nil, []string{"u:q", "a:1", "t:1=" + big, "a:", "u:x"}, "[]"},
		"a short one passes":                        {on, nil, []string{"u:q", "a:1", "t:1=" + strings.Repeat("x", 3999)}, "[]"},
		"switched off":                              {off, nil, []string{"u:q", "a:1", "t:1=" + big}, "[]"},
		"the same asked for again passes":           {on, nil, []string{"u:q", "a:1", "t:1=" + big, "a:2", "t:2=" + big, "a:3", "t:3=" + other}, "[6]"},
		"and so does what comes twice at once":      {on, nil, []string{"u:q", "a:1,2", "t:1=" + big, "t:2=" + big}, "[2]"},
		"what a recovery brought passes":            {on, nil, []string{"u:q", "a:1@mcp__pruner__recover_text", "t:1=" + big}, "[]"},
		"so does a search in an original":           {on, nil, []string{"u:q", "a:1@pruner::search_text", "t:1=" + big}, "[]"},
		"what was sent whole stays whole":           {on, &Record{Messages: 3}, []string{"u:q", "a:1", "t:1=" + big, "a:2", "t:2=" + other}, "[4]"},
		"what was sent pruned stays pruned":         {off, &Record{Messages: 3, Cuts: []Sent{{Message: 2, Kind: Pruned}}}, []string{"u:q", "a:1", "t:1=" + big, "a:2", "t:2=" + other}, "[2]"},
		"what is masked needs no pruning":           {on, &Record{Messages: 3, Cuts: []Sent{{Message: 2, Kind: Masked}}}, []string{"u:q", "a:1", "t:1=" + big}, "[]"},
		"a conversation that loses is left alone":   {on, &Record{Messages: 1, Off: true}, []string{"u:q", "a:1", "t:1=" + big}, "[]"},
		"a tool whose results are read twice":       {on, bothCut, third, "[2 6]"},
		"another tool is pruned":                    {on, bothCut, append(slices.Clone(rereads), "a:5@bash", "t:5="+bigFile(400)), "[2 6 10]"},
		"one of a tool's results was read twice":    {on, &Record{Messages: 9, Cuts: bothCut.Cuts[:1]}, third, "[2 10]"},
		"a text in a list of parts":                 {on, nil, []string{"u:q", "a:1", `raw:{"role":"tool","tool_call_id":"1","content":[{"type":"text","text":` + quote(big) + `}]}`}, "[2]"},
	} {
		if _, got := jobs(t, c.settings, c.record, c.words...); fmt.Sprint(got) != c.want {
			t.Errorf("%s: jobs %v, want %s", name, got, c.want)
		}
	}
}

func TestPrune(t *testing.T) {
	s := DefaultPruning()
	s.Enabled, s.MinKeepLines = true, 10
	call := `raw:{"role":"assistant","content":"I look for function_77 now.","tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":\"a.py\"}"}}]}`
	huge := strings.Repeat("word ", 8000)
	for name, c := range map[string]struct {
		text  string
		holds []string
	}{
		"lines for the goal stay, and names of what went": {bigFile(200), []string{"def function_77(", " id=" + someID, " names: function_"}},
		"one huge line keeps its ends":                    {"start " + huge + " end", []string{"start word", "word  end", "⟦PRUNED chars ", " id=" + someID}},
		"a few huge lines":                                {huge + "\n" + huge + "\nlast", []string{"\nlast", " id=" + someID}},
		"characters of many bytes":                        {strings.Repeat("été 😀 ", 3000), []string{"été 😀"}},
	} {
		t.Run(name, func(t *testing.T) {
			conv, at := jobs(t, s, nil, "u:find it", call, "t:1="+c.text)
			if len(at) != 1 {
				t.Fatalf("jobs at %v", at)
			}
			job := conv.Jobs(s, Past{})[0]
			out, ok := conv.Prune(s, job, someID, nil)
			again, _ := conv.Prune(s, job, someID, nil)
			if !ok || out != again {
				t.Fatalf("pruned %v, and the same again %v", ok, out == again)
			}
			target := max(s.TargetChars, rawjson.Chars(c.text)/5)
			if n := rawjson.Chars(out); n > target*3/2 {
				t.Errorf("%d characters are left, target %d", n, target)
			}
			for _, part := range c.holds {
				if !strings.Contains(out, part) {
					t.Errorf("%q is missing in %q", part, out)
				}
			}
			if _, ok := conv.Prune(s, job, someID, func() bool { return true }); ok {
				t.Error("pruned although time was up")
			}
			body, plan := decideWith(t, talk("u:"+strings.Repeat("find it ", 1000), call, "t:1="+c.text), Default(), nil, claude, map[int]string{2: out})
			if len(plan.Cuts) != 1 || plan.Cuts[0].Kind != Pruned || !strings.Contains(string(body), "⟦PRUNED ") {
				t.Errorf("cuts %+v", plan.Cuts)
			}
			if plan.TokensSaved() <= 0 || plan.Record(nil).Bill.Ratio() >= 1 {
				t.Errorf("saves %d tokens, ratio %v", plan.TokensSaved(), plan.Record(nil).Bill.Ratio())
			}
		})
	}
}

// TestKeptLinesAreVerbatim: apart from markers, the rest consists of lines of the text in order.
func TestKeptLinesAreVerbatim(t *testing.T) {
	text := bigFile(200)
	out, _ := newRendering(text, someID, Recovery{}).renderPruned([]prune.Block{{Start: 3, End: 90}, {Start: 200, End: 201}, {Start: 300, End: 598}}, 300, nil)
	rest := text
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "⟦PRUNED ") {
			continue
		}
		i := strings.Index(rest, line)
		if i < 0 {
			t.Fatalf("%q is no line of the text, or not in order", line)
		}
		rest = rest[i+len(line):]
	}
	if strings.Count(out, "⟦PRUNED ") != 2 || strings.Count(out, someID) != 1 {
		t.Errorf("want two markers, one id: %s", out)
	}
}

func TestSourceOf(t *testing.T) {
	for name, c := range map[string]struct {
		call, text string
		want       prune.Source
	}{
		"a source file":            {"cat pkg/a.go", "package a\n", prune.Code},
		"a manual":                 {"docs/readme.md", "# Title\n", prune.Docs},
		"a log file":               {"tail -n 100 app.log", "x", prune.Logs},
		"a test run":               {"pytest tests/test_a.py", "=== test session\nFAILED a\nFAILED b\nE   x\n", prune.Logs},
		"a heading and no file":    {"fetch", "# Title\n\ntext", prune.Docs},
		"nothing known":            {"", "a\nb\n", prune.Code},
		"lines that start in time": {"", strings.Repeat("2024-01-02 10:00:00 started\n", 5), prune.Logs},
	} {
		if got := sourceOf(c.call, c.text); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestSettingsValidate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Errorf("Default: %v", err)
	}
	if err := DefaultPruning().Validate(); err != nil {
		t.Errorf("DefaultPruning: %v", err)
	}
	err := Settings{KeepLastKPerTool: -1, MinChars: -1, Strategy: "x", Recover: "y", MaxLoss: -1}.Validate()
	for _, key := range []string{"keep_last_k_per_tool", "min_chars", "strategy", "recover", "step_turns", "max_loss", "placeholder_template"} {
		if err == nil || !strings.Contains(err.Error(), key+": ") {
			t.Errorf("Validate does not name %s: %v", key, err)
		}
	}
	err = Pruning{TargetChars: 5, MaxPruneRatio: 2, MinKeepLines: -1}.Validate()
	for _, key := range []string{"min_chars", "target_chars", "max_prune_ratio", "min_keep_lines"} {
		if err == nil || !strings.Contains(err.Error(), key+": ") {
			t.Errorf("Validate does not name %s: %v", key, err)
		}
	}
}

func TestPrunedBytesThatAreLostGoOutWhole(t *testing.T) {
	body := talk("u:q", "a:1", "t:1="+bigFile(200), "a:2", "t:2=x")
	rec := &Record{Messages: 3, Cuts: []Sent{{Message: 2, Kind: Pruned, ID: someID}}}
	out, plan := decideWith(t, body, Default(), rec, claude, nil)
	if string(out) != string(body) || len(plan.Cuts) != 0 {
		t.Errorf("cuts %+v", plan.Cuts)
	}
}

func TestGoalHasTheTaskAndWhatFailed(t *testing.T) {
	call := `raw:{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"2","function":{"name":"read","arguments":"{\"path\":\"a.py\"}"}}]}`
	task := "Rename the parser. " + strings.Repeat("x ", 1000) + "BOILERPLATE"
	for name, c := range map[string]struct {
		words []string
		goal  string
		parts string
	}{
		"the call, what was said, the task":         {[]string{"u:first of all", call, "t:2=x"}, "a.py\n\nLet me look.", "[{first of all 1}]"},
		"the first and the latest request":          {[]string{"u:one", "a:1", "t:1=ok", "u:two", call, "t:2=x"}, "a.py\n\nLet me look.", "[{one 1} {two 1}]"},
		"errors of the result before":               {[]string{"u:one", "a:1", "t:1=fine\nValueError: no such key\n", call, "t:2=x"}, "a.py\n\nLet me look.", "[{one 1} {ValueError: no such key\n 0.5}]"},
		"the head of a task, not its end":           {[]string{"u:" + task, call, "t:2=x"}, "a.py\n\nLet me look.", "[{" + task[:maxTask] + " 1}]"},
		"nothing was said: what was said before it": {[]string{"u:one", `raw:{"role":"assistant","content":"I think so"}`, `raw:{"role":"assistant","content":null,"tool_calls":[{"id":"2","function":{"name":"read","arguments":"{\"path\":\"b.py\"}"}}]}`, "t:2=x"}, "b.py\n\nI think so", "[{one 1}]"},
		"what comes later changes nothing":          {[]string{"u:one", call, "t:2=x", "u:three", "a:3", "t:3=ValueError: z"}, "a.py\n\nLet me look.", "[{one 1}]"},
	} {
		conv, err := Read(talk(c.words...))
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for i := range conv.Messages {
			if conv.Messages[i].CallID == "2" {
				at = i
			}
		}
		goal, parts, _ := conv.goal(at)
		if goal != c.goal || fmt.Sprint(parts) != c.parts {
			t.Errorf("%s: goal %q, parts %v, want %q, %s", name, goal, parts, c.goal, c.parts)
		}
	}
}
