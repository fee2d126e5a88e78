package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"secateur/test/llm"
)

var (
	reminder  = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	lineMark  = regexp.MustCompile(`⟦PRUNED lines (\d+)-(\d+)`)
	toldShell = regexp.MustCompile("run `([^`]+)` in a shell")
)

// Claude Code reads a part of a file in a directory with rules, then a part of that part, and a log
// twice. Its own text in results arrives whole, and so do repeated requests. Markers have the line
// numbers that the model sees, and the command they name prints these lines.
func TestClaudeCodeIsToldAndReadsAgain(t *testing.T) {
	program := npmProgram(t, "@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code-linux-arm64/claude")
	t.Parallel()
	dir, home := logs(t, 1), t.TempDir()
	var code strings.Builder
	for i := range 600 {
		fmt.Fprintf(&code, "def function_%d(argument): return argument + %d\n", i+1, i*37)
	}
	for name, said := range map[string]string{"pkg/big.py": code.String(), "pkg/CLAUDE.md": "Never edit generated files.\nAlways run make gen.\n"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(said), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(from, lines int) llm.Call {
		return llm.Call{Name: "Read", Input: fmt.Sprintf(`{"file_path":%q,"offset":%d,"limit":%d}`, filepath.Join(dir, "pkg", "big.py"), from, lines)}
	}
	cat := func(why string) llm.Call {
		return llm.Call{Name: "Bash", Input: fmt.Sprintf(`{"command":"cat build-0.log","description":%q}`, why)}
	}
	calls := []llm.Call{read(101, 300), read(150, 200), cat("Reads a log"), cat("Reads it again")}
	w := startWire(t, "anthropic", func(turn llm.Turn) llm.Reply {
		if turn.Calls >= len(calls) {
			return llm.Reply{Text: "tokenTable is not defined."}
		}
		return llm.Reply{Text: "I look for function_333.", Calls: calls[turn.Calls : turn.Calls+1]}
	}, -1, -1)
	env := []string{
		"HOME=" + home, "ANTHROPIC_BASE_URL=" + w.url, "ANTHROPIC_API_KEY=sk-ant-client", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}
	w.run(t, dir, env, []string{program, "-p", "Why does the build fail?", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash,Read"})
	if n := w.checkAll(t, messagesPath); n != 2 {
		t.Errorf("%d results went out cut, want 2: the first of each", n)
	}
	sent, got := w.tap.Requests(messagesPath), w.tap.Arrived(messagesPath)
	changes, err := llm.Compare(sent[len(sent)-1].Body, got[len(got)-1].Body)
	if err != nil || len(changes) == 0 {
		t.Fatalf("%v, %d changes", err, len(changes))
	}
	told := 0
	for i, c := range changes {
		was, is := unquoted(t, c.Was), unquoted(t, c.Is)
		for _, words := range reminder.FindAllString(was, -1) {
			if !strings.Contains(is, words) {
				t.Errorf("result %d: %q is not whole in %s", i, words, is)
			}
		}
		told += strings.Count(is, "left out to save context")
		if i > 0 {
			continue
		}
		for _, m := range lineMark.FindAllStringSubmatch(is, -1) {
			first, _ := strconv.Atoi(m[1])
			last, _ := strconv.Atoi(m[2])
			if first < 101 || last > 400 || strings.Contains(is, fmt.Sprintf("def function_%d(", first)) || strings.Contains(is, fmt.Sprintf("def function_%d(", last)) {
				t.Errorf("%s stands for other lines", m[0])
			}
		}
		command, first := toldShell.FindStringSubmatch(is), lineMark.FindStringSubmatch(is)
		if command == nil || first == nil {
			t.Fatalf("no command in %.600s", is)
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", command[1]).Output()
		if err != nil || !strings.Contains(string(out), "def function_"+first[1]+"(") || !strings.Contains(string(out), "def function_"+first[2]+"(") {
			t.Errorf("%s prints %.300s, %v", command[1], out, err)
		}
	}
	if told != 1 {
		t.Errorf("the model is told %d times how to get more, want once", told)
	}
}

func unquoted(t *testing.T, raw string) (s string) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &s); err != nil {
		t.Fatal(err)
	}
	return s
}
