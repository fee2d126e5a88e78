package test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"secateur/internal/ops/admin"
	"secateur/internal/store/ledger"
	"secateur/test/llm"
	books "secateur/test/provider"
)

// step is a call of a long session. One that asks again for what an earlier step has shown says which.
type step struct {
	call  llm.Call
	says  string
	again int // the earlier step; -1: none
}

// playing is a model that makes the calls of some steps, one after the other.
func playing(steps []step) llm.Script {
	return func(turn llm.Turn) llm.Reply {
		if turn.Calls >= len(steps) {
			return llm.Reply{Text: "All is repaired."}
		}
		s := steps[turn.Calls]
		return llm.Reply{Text: s.says, Calls: []llm.Call{s.call}}
	}
}

// someRule is a rule for the agent in a directory with source files.
const someRule = "Never edit generated files."

// modules writes so many source files, each of about 300 lines, below a directory with rules of its own.
func modules(t *testing.T, dir string, n int) {
	t.Helper()
	write := func(name, said string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(said), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("pkg/CLAUDE.md", someRule+"\nAlways run make gen.\n")
	for i := range n {
		var code strings.Builder
		fmt.Fprintf(&code, "\"\"\"What the depot %d does.\"\"\"\n\nimport json\n", i)
		for f := range 42 {
			fmt.Fprintf(&code, "\n\ndef %s(order, amount):\n    \"\"\"Books %d of an order.\"\"\"\n    limit = amount * %d + len(order)\n    if limit > %d:\n        raise ValueError(\"limit of %d\")\n    return json.dumps({\"order\": order, \"limit\": limit})\n",
				function(i, f), f, 3*f+i, 100+f, f)
		}
		write(module(i), code.String())
	}
}

func module(i int) string { return fmt.Sprintf("pkg/depot_%d.py", i) }

func function(i, f int) string {
	return fmt.Sprintf("%s_%s_%d", [...]string{"reserve", "refund", "deliver", "count", "archive", "audit", "merge"}[f%7], [...]string{"stock", "order", "batch", "price", "route", "label"}[f/7], i)
}

// held is what a session held of what its client and its agent need.
type held struct {
	requests, cut        int
	reminders, remWhole  int
	again, againWhole    int
	told, truth, without float64 // truth with debts, and without
}

// judge holds every request of a session against what reached the provider, and what is told of the bill against the provider's.
func (w *chatRig) judge(t *testing.T, path, conversation string, model llm.Model, steps []step) (h held) {
	t.Helper()
	sent, got := w.tap.Requests(path), w.tap.Arrived(path)
	sent = slices.DeleteFunc(sent, func(s llm.Seen) bool { return s.Header.Get("Upgrade") != "" })
	owed, seen := 0.0, 0
	for i := range sent {
		was, is := resultsIn(t, sent[i].Body), resultsIn(t, got[i].Body)
		h.requests++
		checkChanges(t, fmt.Sprint(path, " ", i), sent[i], got[i])
		for k := range was {
			if strings.HasPrefix(is[k], "[Observation masqu") && !strings.Contains(was[k], someRule) {
				continue // an old result that is masked takes its counters and hints along, and never rules
			}
			for _, words := range reminder.FindAllString(was[k], -1) {
				h.reminders++
				if strings.Contains(is[k], words) {
					h.remWhole++
				} else {
					t.Errorf("request %d: a reminder of result %d is torn: %q in %.300q", i, k, words, is[k])
				}
			}
		}
		for ; seen < len(was) && seen < len(steps); seen++ {
			first := steps[seen].again
			switch {
			case was[seen] != is[seen]:
				h.cut++
				if first >= 0 {
					t.Errorf("request %d: result %d was asked for again and is cut: %.300q", i, seen, is[seen])
				}
			case first >= 0:
				h.againWhole++
			}
			if first >= 0 {
				h.again++
				if was[first] != is[first] { // it is asked for again because it was cut: written, and read for a while
					const reads = 5
					books.Tokens(was[seen], func(uint64) { owed += model.Write + reads*model.Read })
				}
			}
		}
	}
	b := w.provider.Bill(conversation)
	h.without, h.truth = b.Ratio(), b.Paid/(b.Through-owed)
	h.told = w.toldRatio(t)
	t.Logf("%d requests, %d results cut when they came; reminders whole %d of %d; asked for again and whole %d of %d; told %.3f, true with debts %.3f, without %.3f",
		h.requests, h.cut, h.remWhole, h.reminders, h.againWhole, h.again, h.told, h.truth, h.without)
	if math.Abs(h.told-h.truth) > 0.01 { // less than what the debts make
		t.Errorf("told %.4f, the provider's books say %.4f with debts", h.told, h.truth)
	}
	return h
}

// toldRatio is what the program tells of all conversations together.
func (w *chatRig) toldRatio(t *testing.T) float64 {
	t.Helper()
	said := w.daemon.Load().get(t, admin.Base+"/conversations")
	var page admin.Page[ledger.Conversation]
	if err := json.Unmarshal([]byte(said), &page); err != nil || len(page.Items) == 0 {
		t.Fatalf("conversations: %s, %v", said, err)
	}
	spent, through := 0.0, 0.0
	for _, c := range page.Items {
		spent, through = spent+c.SpentUSD, through+c.PassthroughUSD
	}
	return spent / through
}

// resultsIn are the texts of the results in a request of Messages or Responses, in order.
func resultsIn(t *testing.T, body []byte) (texts []string) {
	t.Helper()
	type item struct {
		Type    string          `json:"type"`
		Content json.RawMessage `json:"content"`
		Output  json.RawMessage `json:"output"`
	}
	var req struct {
		Messages []item `json:"messages"`
		Input    []item `json:"input"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		t.Fatal(err)
	}
	all := req.Input
	for _, m := range req.Messages {
		var blocks []item
		if json.Unmarshal(m.Content, &blocks) == nil {
			all = append(all, blocks...)
		}
	}
	for _, it := range all {
		switch {
		case it.Type == "tool_result":
			texts = append(texts, textOf(it.Content))
		case strings.HasSuffix(it.Type, "_call_output"):
			texts = append(texts, textOf(it.Output))
		}
	}
	return texts
}

// textOf is what a result says, in one text or several.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// A session of Claude Code with more than forty turns: files are read, some of them twice, and edited, and commands run, some of them twice.
func TestLongSessionOfClaudeCode(t *testing.T) {
	program := npmProgram(t, "@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude")
	t.Parallel()
	const files = 16
	dir, home := logs(t, 10), t.TempDir()
	modules(t, dir, files)
	var steps []step
	do := func(again int, says, tool, input string, args ...any) int {
		steps = append(steps, step{llm.Call{Name: tool, Input: fmt.Sprintf(input, args...)}, says, again})
		return len(steps) - 1
	}
	for i := range files {
		file, name := filepath.Join(dir, module(i)), function(i, 5*i%42)
		first := do(-1, "I look at "+name+".", "Read", `{"file_path":%q}`, file)
		if i%3 == 2 {
			do(first, "I need more of it.", "Read", `{"file_path":%q,"offset":%d,"limit":60}`, file, 1+8*(5*i%42))
		}
		do(-1, "I repair "+name+".", "Edit", `{"file_path":%q,"old_string":%q,"new_string":%q}`, file, "def "+name+"(order, amount):", "def "+name+"(order, amount=1):")
		if i < 10 {
			log := do(-1, "I look at the build.", "Bash", `{"command":"cat build-%d.log","description":"Reads a log"}`, i)
			if i%4 == 3 {
				do(log, "Once more.", "Bash", `{"command":"cat build-%d.log","description":"Reads it again"}`, i)
			}
		}
	}
	w := startWire(t, "anthropic", playing(steps), -1, -1)
	env := []string{
		"HOME=" + home, "ANTHROPIC_BASE_URL=" + w.url, "ANTHROPIC_API_KEY=sk-ant-client", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "ANTHROPIC_CUSTOM_HEADERS=X-Conversation: one",
	}
	const name = "claude-sonnet-4-5"
	out := w.run(t, dir, env, []string{program, "-p", "Repair the depots.", "--model", name, "--allowedTools", "Bash,Read,Edit"})
	if !strings.Contains(out, "All is repaired.") {
		t.Errorf("Claude Code says %s", out)
	}
	model, _ := llm.ModelNamed(name)
	h := w.judge(t, messagesPath, "one", model, steps)
	if h.requests < 40 || h.cut < 10 || h.reminders == 0 || h.again < 7 {
		t.Errorf("%+v: the session is too small to show anything", h)
	}
	if h.without >= 1 {
		t.Errorf("%.4f of the bill was paid", h.without)
	}
}

// The same with Codex, which has commands alone.
func TestLongSessionOfCodex(t *testing.T) {
	program := npmProgram(t, "@openai/codex-linux-*/vendor/*/bin/codex")
	t.Parallel()
	const files = 15
	dir, home := logs(t, 12), t.TempDir()
	modules(t, dir, files)
	var steps []step
	do := func(again int, says, command string) int {
		steps = append(steps, step{llm.Call{Name: "exec", Custom: true, Input: "// @exec: {\"yield_time_ms\": 240000}\n" +
			fmt.Sprintf(`const r = await tools.exec_command({cmd: %q, yield_time_ms: 240000}); text(r.output);`, command)}, says, again})
		return len(steps) - 1
	}
	for i := range files {
		name := function(i, 5*i%42)
		first := do(-1, "I look at "+name+".", "cat "+module(i))
		if i%3 == 2 {
			do(first, "Once more.", "cat "+module(i))
		}
		do(-1, "I repair "+name+".", "sed -i 's/def "+name+"(order, amount)/def "+name+"(order, amount=1)/' "+module(i)+" && echo done")
		if i < 12 {
			log := do(-1, "I look at the build.", fmt.Sprintf("cat build-%d.log", i))
			if i%4 == 3 {
				do(log, "Once more.", fmt.Sprintf("cat build-%d.log", i))
			}
		}
	}
	w := startWire(t, "openai", playing(steps), -1, -1)
	const name = "gpt-5.6-sol"
	config := "model = \"" + name + "\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n" + fmt.Sprintf("openai_base_url = %q\n", w.url+"/v1") + "[analytics]\nenabled = false\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out := w.run(t, dir, []string{"HOME=" + home, "CODEX_HOME=" + home, "CODEX_API_KEY=sk-client"}, []string{program, "exec", "--skip-git-repo-check", "Repair the depots."})
	if !strings.Contains(out, "All is repaired.") {
		t.Errorf("Codex says %s", out)
	}
	model, _ := llm.ModelNamed(name)
	h := w.judge(t, responsesPath, "", model, steps)
	if h.requests < 40 || h.cut < 10 || h.again < 7 {
		t.Errorf("%+v: the session is too small to show anything", h)
	}
	if h.without >= 1 {
		t.Errorf("%.4f of the bill was paid", h.without)
	}
}
