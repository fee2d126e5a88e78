package chat

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/prune"
)

const rules = "<system-reminder>\nContents of /repo/pkg/CLAUDE.md (project instructions):\n\nAlways run make gen.\nNever edit zz_*.go.\n</system-reminder>"

// shownFile is a file as Claude Code shows it.
func shownFile(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%6d→def function_%d(argument): return argument + %d\n", from+i, from+i, i)
	}
	return b.String()
}

func pruneOne(t *testing.T, text string) string {
	t.Helper()
	s := DefaultPruning()
	s.Enabled, s.MinKeepLines = true, 10
	call := `raw:{"role":"assistant","content":"I look for function_77 now.","tool_calls":[{"id":"1","function":{"name":"read","arguments":"{\"path\":\"a.py\"}"}}]}`
	conv, at := jobs(t, s, nil, "u:find it", call, "t:1="+text)
	if len(at) != 1 {
		t.Fatalf("jobs at %v", at)
	}
	out, ok := conv.Prune(s, conv.Jobs(s, Past{})[0], someID, nil)
	if !ok {
		t.Fatal("nothing was pruned")
	}
	return out
}

func TestWhatTheHarnessSaysIsNeverCut(t *testing.T) {
	for name, said := range map[string]string{
		"rules of a directory":      rules,
		"a counter":                 "<total_tokens>171442 tokens left</total_tokens>",
		"Codex":                     "<context_window_reminder>\nYou have used 60 % of the window.\nFinish soon.\n</context_window_reminder>",
		"OpenCode":                  "<shell_metadata>\nbash tool terminated command after exceeding timeout 120000 ms.\n</shell_metadata>",
		"Cline":                     "<environment_details>\n# Current Mode\nACT MODE\n# Time\n12:00\n</environment_details>",
		"a tag with an attribute":   "<explicit_instructions type=\"rules\">\nDo as told.\n</explicit_instructions>",
		"behind the end of a line":  "last line without an end<system-reminder>\nThe file was truncated.\n</system-reminder>",
		"one long line of a remark": "<system-reminder>" + strings.Repeat("Note this well. ", 200) + "</system-reminder>",
	} {
		for place, text := range map[string]string{
			"behind": shownFile(101, 300) + "\n" + said + "\n", "before": said + "\n\n" + shownFile(101, 300), "within": shownFile(1, 150) + said + "\n" + shownFile(151, 150),
		} {
			out := pruneOne(t, text)
			if !strings.Contains(out, said) {
				t.Errorf("%s, %s: it is not whole in %s", name, place, out)
			}
			if !prune.HasMark(out) {
				t.Errorf("%s, %s: nothing else was cut", name, place)
			}
		}
	}
}

func TestTagsInDataAreData(t *testing.T) {
	for name, text := range map[string]string{
		"in a source file": `const open = "<system-reminder>"` + "\n" + strings.Repeat("some code\n", 50) + `const close = "</system-reminder>";` + "\n",
		"never closed":     "<system-reminder>\n" + strings.Repeat("some text\n", 50),
		"too long":         "<usage>\n" + strings.Repeat("some text\n", 5000) + "</usage>\n",
		"another tag":      "<div>\n<p>text</p>\n</div>\n",
	} {
		if got := harnessLines(prune.IndexLines(text)); got != nil {
			t.Errorf("%s: %v is the harness's", name, got)
		}
	}
}

func TestReportsOfSubAgentsPassWhole(t *testing.T) {
	s := DefaultPruning()
	s.Enabled = true
	big := bigFile(200)
	for _, tool := range []string{"Agent", "Task", "task", "Skill", "ExitPlanMode", "update_plan", "memory", "mcp__serena__read_memory", "spawn_agent"} {
		if _, at := jobs(t, s, nil, "u:q", "a:1@"+tool, "t:1="+big); len(at) != 0 {
			t.Errorf("a result of %s is pruned", tool)
		}
	}
	for _, tool := range []string{"Read", "TaskOutput", "Bash"} {
		if _, at := jobs(t, s, nil, "u:q", "a:1@"+tool, "t:1="+big); len(at) != 1 {
			t.Errorf("a result of %s is not pruned", tool)
		}
	}
	framed := "[Subagent hand-back] The text below is the final report of a subagent, NOT a message from the user. The report follows:\n" + big
	conv, at := jobs(t, s, nil, "u:q", "a:1@TaskOutput", "t:1="+framed)
	if len(at) != 1 {
		t.Fatal("no job")
	}
	if out, ok := conv.Prune(s, conv.Jobs(s, Past{})[0], someID, nil); ok {
		t.Errorf("a report was cut to %s", out)
	}
}

// Rules in an old result are not masked, because they are nowhere else.
func TestRulesInOldResultsAreNotMasked(t *testing.T) {
	words := run(12)
	words[4] += "\n" + rules
	_, before := sent(t, words[:len(words)-2], Past{}, claude, 1000)
	plan, _ := sent(t, words, known(before, 1000), claude, 1400)
	var masked []int
	for _, cut := range plan.Cuts {
		masked = append(masked, cut.Message)
	}
	if fmt.Sprint(masked) != "[2 6 8]" {
		t.Errorf("masked %v, want the old results but the one with the rules, which is 4", masked)
	}
}
