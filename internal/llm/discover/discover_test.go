package discover

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/replay"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recorded returns a file that a real version of an agent wrote.
func recorded(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../replay/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// home makes a home with these files.
func home(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func options() Options {
	pruning := chat.DefaultPruning()
	pruning.Enabled = true
	return Options{Prices: bill.LookupAt, Pruning: replay.Strategy{Pruning: pruning}, Both: replay.Strategy{Masking: chat.Default(), Pruning: pruning}}
}

func run(t *testing.T, dir string) *Report {
	t.Helper()
	files, skipped := Find(Stores(dir, func(string) (string, bool) { return "", false }))
	r, err := Run(t.Context(), files, skipped, options())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	claudeFile = ".claude/projects/-home-user-project/one.jsonl"
	codexFile  = ".codex/sessions/2026/11/15/rollout-one.jsonl"
)

// The files are recordings of Claude Code 2.1.325 and Codex 0.166.0.
func TestReportOfRealTranscripts(t *testing.T) {
	dir := home(t, map[string][]byte{claudeFile: recorded(t, "claude-code.jsonl"), codexFile: recorded(t, "codex.jsonl")})
	var text bytes.Buffer
	if err := run(t, dir).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/report.txt"
	got := strings.ReplaceAll(text.String(), dir, "~")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the report is\n%s\nwant\n%s", got, want)
	}
}

// Claude Code writes a line for each block of an answer, and a resumed session may repeat earlier ones in another file.
func TestAnswersArePaidOnce(t *testing.T) {
	data := recorded(t, "claude-code.jsonl")
	one := run(t, home(t, map[string][]byte{claudeFile: data})).Together
	two := run(t, home(t, map[string][]byte{claudeFile: data, ".claude/projects/-home-user-project/two.jsonl": data})).Together
	if one.Paid <= 0 || two.Paid != one.Paid || two.Requests != one.Requests || two.Sessions != 1 {
		t.Errorf("once: %+v, twice: %+v", one, two)
	}
}

func TestCodexCountsThatAreToldAgainArePaidOnce(t *testing.T) {
	const turn = `{"timestamp":"2026-11-15T10:00:00Z","type":"turn_context","payload":{"model":"gpt-6.1-sol"}}`
	count := func(total int) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-15T10:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"total_tokens":%d},"last_token_usage":{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":100}}}}`, total)
	}
	l := &ledger{}
	if err := l.read(strings.NewReader(strings.Join([]string{turn, count(1100), count(1100), count(2200)}, "\n")), func(int) {}); err != nil {
		t.Fatal(err)
	}
	if len(l.requests) != 2 || l.agent != Codex {
		t.Fatalf("%d requests of %s", len(l.requests), l.agent)
	}
	prices, _ := bill.Lookup("gpt-6.1-sol")
	for tier, times := range map[string]float64{"": 1, "priority": 2, "flex": 0.5} {
		a := l.requests[0]
		a.tier = tier
		input, output := a.cost(prices)
		if math.Abs(input-times*(600*0.1+400*2.5)/1e6) > 1e-12 || math.Abs(output-times*100*10/1e6) > 1e-12 {
			t.Errorf("%q: %v and %v dollars", tier, input, output)
		}
	}
}

func TestUnreadableFilesAreNamedAndSkipped(t *testing.T) {
	dir := home(t, map[string][]byte{
		claudeFile: recorded(t, "claude-code.jsonl"), ".claude/projects/p/torn.jsonl": []byte("\x00\x01 nothing\n"),
		".local/share/opencode/opencode.db": []byte("SQLite format 3"),
	})
	if err := os.Symlink("nowhere", filepath.Join(dir, ".claude/projects/p/gone.jsonl")); err != nil {
		t.Fatal(err)
	}
	r := run(t, dir)
	if r.Together.Requests != 4 {
		t.Errorf("%d requests", r.Together.Requests)
	}
	for name, why := range map[string]string{"torn.jsonl": "no session", "gone.jsonl": "no such file", "opencode.db": "opencode export"} {
		found := false
		for _, s := range r.Skipped {
			found = found || strings.HasSuffix(s.Path, name) && strings.Contains(s.Why, why)
		}
		if !found {
			t.Errorf("%s is not in %v", name, r.Skipped)
		}
	}
}

func TestATornLineCostsNothingElse(t *testing.T) {
	data := recorded(t, "claude-code.jsonl")
	whole := run(t, home(t, map[string][]byte{claudeFile: data})).Together
	r := run(t, home(t, map[string][]byte{claudeFile: append(bytes.Clone(data), `{"type":"assistant","message":{"usage"`...)}))
	if torn := r.Together; torn.Paid != whole.Paid || torn.Pruning != whole.Pruning || r.Broken == 0 || len(r.Skipped) != 0 {
		t.Errorf("%+v, %d broken lines, skipped %v; want %+v", torn, r.Broken, r.Skipped, whole)
	}
}

// What is not played is paid all the same, and saves as much as what is.
func TestASampleIsPlayed(t *testing.T) {
	data := recorded(t, "claude-code.jsonl")
	other := bytes.ReplaceAll(data, []byte(`"id":"msg_`), []byte(`"id":"other_`))
	dir := home(t, map[string][]byte{claudeFile: data, ".claude/projects/p/other.jsonl": other})
	files, _ := Find([]Store{{ClaudeCode, dir}})
	whole := run(t, dir).Together
	if whole.Requests != 8 {
		t.Fatalf("%d requests", whole.Requests)
	}
	for share, played := range map[float64]float64{0: 0, 1: 1} {
		r := &reader{Options: options(), share: share, seen: map[uint64]struct{}{}, report: newReport(nil)}
		r.file(t.Context(), files[0])
		r.share = 0
		r.file(t.Context(), files[1])
		r.report.finish()
		got := r.report.Together
		if math.Abs(got.Paid-whole.Paid) > 1e-9 || math.Abs(got.Played-played/2) > 0.01 || math.Abs(got.Pruning.Dollars-played*whole.Pruning.Dollars) > 1e-6 {
			t.Errorf("share %v: %+v, want %+v", share, got, whole)
		}
	}
}

func TestOpenCodeFolderIsReadLikeItsExport(t *testing.T) {
	result := strings.Repeat("INFO compiled a package in 12 ms\\n", 400)
	user := `{"id":"msg_1","role":"user","time":{"created":1763200000000}}`
	said := `{"id":"prt_1","type":"text","text":"why does it fail?"}`
	call := `{"id":"msg_2","role":"assistant","modelID":"claude-opus-5-5","providerID":"anthropic","time":{"created":1763200001000},"tokens":{"input":10,"output":20,"reasoning":5,"cache":{"read":0,"write":3000}}}`
	tool := `{"id":"prt_2","type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"make"},"output":"` + result + `"}}`
	last := `{"id":"msg_3","role":"assistant","modelID":"claude-opus-5-5","providerID":"anthropic","time":{"created":1763200002000},"tokens":{"input":10,"output":20,"cache":{"read":3010,"write":4000}}}`
	const storage = ".local/share/opencode/storage/"
	folder := run(t, home(t, map[string][]byte{
		storage + "message/ses_1/msg_1.json": []byte(user), storage + "message/ses_1/msg_2.json": []byte(call), storage + "message/ses_1/msg_3.json": []byte(last),
		storage + "part/msg_1/prt_1.json": []byte(said), storage + "part/msg_2/prt_2.json": []byte(tool),
	}))
	file := filepath.Join(t.TempDir(), "session.json")
	export := fmt.Sprintf(`{"info":{"id":"ses_1"},"messages":[{"info":%s,"parts":[%s]},{"info":%s,"parts":[%s]},{"info":%s,"parts":[]}]}`, user, said, call, tool, last)
	if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	files, skipped := Find([]Store{{Dir: file}})
	exported, err := Run(t.Context(), files, skipped, options())
	if err != nil {
		t.Fatal(err)
	}
	a, b := folder.Together, exported.Together
	if a.Requests != 2 || a.Paid <= 0 || a.Paid != b.Paid || a.Pruning != b.Pruning || a.Pruning.Tokens <= 0 {
		t.Errorf("the folder: %+v, its export: %+v; skipped %v %v", a, b, folder.Skipped, exported.Skipped)
	}
	prices, _ := bill.LookupAt("claude-opus-5-5", "2025-11-15")
	want := (20*prices.Input + 7000**prices.CacheWrite + 3010**prices.CachedInput + 45*prices.Output) / 1e6
	if math.Abs(a.Paid-want) > 1e-12 || len(folder.Tools) != 1 || folder.Tools[0].Name != "bash" {
		t.Errorf("paid %v, want %v; tools %v", a.Paid, want, folder.Tools)
	}
}

func TestThePageLoadsNothing(t *testing.T) {
	r := run(t, home(t, map[string][]byte{claudeFile: recorded(t, "claude-code.jsonl")}))
	r.Tools[0].Name, r.Examples[0].Was = "<script>alert(1)</script>", "<img onerror=x>"
	var page strings.Builder
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "http://", "https://", " src=", "@import", "url("} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if strings.Count(page.String(), "<svg") != 2 || !strings.Contains(page.String(), "&lt;script&gt;") {
		t.Errorf("plots or names are missing in\n%s", page.String())
	}
}

// BenchmarkReading reads a transcript that is not played.
func BenchmarkReading(b *testing.B) {
	data, err := os.ReadFile("../replay/testdata/claude-code.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := (&ledger{}).read(bytes.NewReader(data), func(int) {}); err != nil {
			b.Fatal(err)
		}
	}
}
