package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"go.uber.org/goleak"

	"secateur/internal/llm/chat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// messages is an agent's run with that many tool turns.
func messages(turns int) []string {
	out := []string{`{"role":"user","content":"do it"}`}
	for i := range turns {
		out = append(out,
			fmt.Sprintf(`{"role":"assistant","content":"step %d uses name_%d","tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d\"}"}}]}`, i, max(0, i-20), i, i),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"name_%d %s"}`, i, i, strings.Repeat("some text ", 300)))
	}
	return append(out, `{"role":"assistant","content":"done"}`)
}

func sessionLine(id string, turns int) string {
	return fmt.Sprintf(`{"id":%q,"model":"m","messages":[%s]}`, id, strings.Join(messages(turns), ","))
}

func TestReadTakesSessionsAndBodies(t *testing.T) {
	all := messages(3)
	body := func(n int) string {
		return `{"model":"m","tools":[{"type":"function"}],"messages":[` + strings.Join(all[:n], ",") + `]}`
	}
	for name, c := range map[string]struct {
		text     string
		sessions int
		requests int
		fails    bool
	}{
		"sessions, one a line":        {sessionLine("a", 3) + "\n" + sessionLine("b", 2) + "\n", 2, 4 + 3, false},
		"a list of bodies":            {"[" + body(1) + ",\n" + body(3) + "]", 1, 2, false},
		"bodies, one a line":          {body(1) + "\n" + body(3) + "\n" + body(5), 1, 3, false},
		"both":                        {sessionLine("a", 3) + body(1), 2, 4 + 1, false},
		"nothing":                     {"", 0, 0, false},
		"a session without an answer": {`{"id":"x","messages":[{"role":"user","content":"q"}]}`, 1, 0, false},
		"not JSON":                    {"hello", 0, 0, true},
		"half a line":                 {sessionLine("a", 3)[:50], 0, 0, true},
		"messages of another type":    {`{"id":"x","messages":7}`, 0, 0, true},
		"a number":                    {`7`, 0, 0, true},
	} {
		got, err := Read(strings.NewReader(c.text), "file")
		requests := 0
		for _, s := range got {
			requests += len(s.requests)
		}
		if (err != nil) != c.fails || !c.fails && (len(got) != c.sessions || requests != c.requests) {
			t.Errorf("%s: %d sessions, %d requests, %v; want %d, %d", name, len(got), requests, err, c.sessions, c.requests)
		}
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	plain, zipped := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "a.jsonl.gz")
	if err := os.WriteFile(plain, []byte(sessionLine("a", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, sessionLine("a", 3))
	z.Close()
	if err := os.WriteFile(zipped, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{plain, zipped} {
		if s, err := ReadFile(f); err != nil || len(s) != 1 || s[0].ID != "a" {
			t.Errorf("ReadFile(%s) = %v, %v", f, s, err)
		}
	}
	for _, text := range []string{"", "\n", `{"events":[1,2]}`, `[{"model":"m"}]`} {
		odd := filepath.Join(dir, "odd")
		if err := os.WriteFile(odd, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(odd); err == nil {
			t.Errorf("%q was read as conversations", text)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}

func runAll(t *testing.T, text string) *Report {
	t.Helper()
	sessions, err := Read(strings.NewReader(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), sessions, Options{Strategies: Strategies(chat.Default(), chat.DefaultPruning()), Tables: Tables()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunComparesStrategies(t *testing.T) {
	r := runAll(t, sessionLine("long", 60)+sessionLine("short", 5))
	if r.Sessions != 2 || r.Requests != 61+6 {
		t.Errorf("%d sessions, %d requests", r.Sessions, r.Requests)
	}
	ratio := map[string]map[string]TableReport{}
	for _, s := range r.Strategies {
		ratio[s.Name] = map[string]TableReport{}
		for _, total := range s.Totals {
			ratio[s.Name][total.Table] = total
		}
	}
	if x := ratio["sliding"]["claude/gpt-5.6"]; x.Ratio <= 1 || x.WorstID != "long" || x.Dearer != 1 {
		t.Errorf("sliding at Claude's prices: %+v, want it dearer", x.Ratio)
	}
	if x := ratio["sliding"]["no-cache"]; x.Ratio >= 1 {
		t.Errorf("sliding without a cache: %v, want it cheaper", x.Ratio)
	}
	for table, x := range ratio["priced"] {
		if x.Worst > 1.0005 {
			t.Errorf("priced at %s: worst %v", table, x.Worst)
		}
	}
	if f := ratio["sliding"]["kimi"].Faults; f.Results != 65 || f.Changed == 0 || f.Lost == 0 || f.Blind == 0 {
		t.Errorf("faults of sliding: %+v", f)
	}
}

func TestBodiesArePlayedAsOneConversation(t *testing.T) {
	all := messages(30)
	var bodies []string
	for i := 1; i < len(all); i += 2 {
		bodies = append(bodies, `{"model":"m","messages":[`+strings.Join(all[:i], ",")+`]}`)
	}
	a := runAll(t, "["+strings.Join(bodies, ",")+"]")
	b := runAll(t, sessionLine("a", 30))
	for i := range a.Strategies {
		for j := range a.Strategies[i].Totals {
			x, y := a.Strategies[i].Totals[j], b.Strategies[i].Totals[j]
			if x.Ratio != y.Ratio {
				t.Errorf("%s at %s: %v as bodies, %v as a session", a.Strategies[i].Name, x.Table, x.Ratio, y.Ratio)
			}
		}
	}
}

func TestOddMessagesAreCountedAndPassed(t *testing.T) {
	text := `[{"messages":[1,null,"x",{"role":7},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}},"b",3]}]},
		{"messages":[]},{"model":"m"}]`
	r := runAll(t, text)
	for _, s := range r.Strategies {
		for _, total := range s.Totals {
			if total.Ratio != 1 {
				t.Errorf("%s at %s: %v", s.Name, total.Table, total.Ratio)
			}
		}
	}
}

func TestReportsAreWritten(t *testing.T) {
	r := runAll(t, sessionLine("first", 12))
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"first", "sliding", "priced + pruning", "claude/gpt-5.6", "1 sessions, 13 requests"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &text)
		}
	}
	if strings.Contains(text.String(), "some text") {
		t.Errorf("words of the conversation are in\n%s", &text)
	}
	b, err := json.Marshal(r)
	if err != nil || !bytes.Contains(b, []byte(`"worst_session":"first"`)) {
		t.Errorf("JSON: %v %s", err, b)
	}
}
