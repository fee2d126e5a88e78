package chat

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
)

// asks is a tool call with arguments.
func asks(id, tool, arguments string) string {
	return fmt.Sprintf(`raw:{"role":"assistant","content":null,"tool_calls":[{"id":%q,"function":{"name":%q,"arguments":%s}}]}`, id, tool, quote(arguments))
}

func TestWhatIsAskedForAgainPassesWhole(t *testing.T) {
	s := DefaultPruning()
	s.Enabled, s.Repeats = true, false
	file, other := bigFile(200), bigFile(300)
	codex := func(chunk string, seconds float64, text string) string {
		return fmt.Sprintf("Chunk ID: %s\nWall time: %.4f seconds\nProcess exited with code 0\nOriginal token count: %d\nOutput:\n%s", chunk, seconds, len(text)/4, text)
	}
	left := func(n int) string {
		return fmt.Sprintf("\n<system-reminder>\nToken usage: %d/200000; %d remaining\n</system-reminder>", n, 200000-n)
	}
	for name, c := range map[string]struct {
		first, second string // calls
		was, is       string // results
		whole         bool
	}{
		"a counter behind it":         {asks("1", "Bash", `{"command":"cat a"}`), asks("2", "Bash", `{"command":"cat ./a"}`), file + left(1000), file + left(14000), true},
		"a chunk id and a time":       {asks("1", "exec_command", `{"cmd":"cat a"}`), asks("2", "exec_command", `{"cmd":"cat ./a"}`), codex("a1b2c3", .01, file), codex("ffee00", 1.5, file), true},
		"the same file, changed":      {asks("1", "Read", `{"file_path":"/a.py"}`), asks("2", "Read", `{"file_path":"/a.py"}`), file, other, true},
		"a range of it":               {asks("1", "Read", `{"file_path":"/a.py"}`), asks("2", "Read", `{"file_path":"/a.py","offset":101,"limit":400}`), shownFile(1, 400), shownFile(101, 300), true},
		"the next part of it":         {asks("1", "Read", `{"file_path":"/a.py","offset":1,"limit":100}`), asks("2", "Read", `{"file_path":"/a.py","offset":101,"limit":100}`), shownFile(1, 100), shownFile(101, 100), false},
		"another file":                {asks("1", "Read", `{"file_path":"/a.py"}`), asks("2", "Read", `{"file_path":"/b.py"}`), file, other, false},
		"the same command":            {asks("1", "Bash", `{"command":"go test ./...","description":"Run the tests"}`), asks("2", "Bash", `{"command":"go test ./...","description":"Run them again"}`), file, other, true},
		"another command":             {asks("1", "Bash", `{"command":"go test ./..."}`), asks("2", "Bash", `{"command":"go vet ./..."}`), file, other, false},
		"what names nothing":          {asks("1", "write_stdin", `{"session_id":7,"chars":""}`), asks("2", "write_stdin", `{"session_id":7,"chars":""}`), file, other, false},
		"what Codex runs as a script": {asks("1", "exec", `text(await tools.exec_command({cmd:"cat a"}))`), asks("2", "exec", `text(await tools.exec_command({cmd:"cat a"}))`), file, other, true},
	} {
		_, at := jobs(t, s, nil, "u:q", c.first, "t:1="+c.was, c.second, "t:2="+c.is)
		want := "[4]"
		if c.whole {
			want = "[]"
		}
		if fmt.Sprint(at) != want {
			t.Errorf("%s: jobs %v, want %s", name, at, want)
		}
	}
}

// A file that was read again after a cut is not cut any more, in any of its parts. Other results of
// the tool are.
func TestAFileThatIsReadTwiceIsNotCutAgain(t *testing.T) {
	s := DefaultPruning()
	s.Enabled, s.Repeats = true, false
	part := func(id string, from int) string {
		return asks(id, "Read", fmt.Sprintf(`{"file_path":"/a.py","offset":%d,"limit":200}`, from))
	}
	cut := &Record{Messages: 5, Cuts: []Sent{{Message: 2, Kind: Pruned, ID: someID}}}
	for name, c := range map[string]struct {
		second, third, is string
		want              string
	}{
		"another part of the file":         {part("2", 1), part("3", 401), shownFile(401, 200), "[2]"},
		"another file":                     {part("2", 1), asks("3", "Read", `{"file_path":"/b.py"}`), bigFile(300), "[2 6]"},
		"only other parts were read":       {part("2", 201), part("3", 401), shownFile(401, 200), "[2 6]"},
		"the file was edited, not read":    {asks("2", "Edit", `{"file_path":"/a.py"}`), part("3", 401), shownFile(401, 200), "[2 6]"},
		"a search in the file, not a read": {asks("2", "Grep", `{"path":"/a.py","pattern":"x"}`), part("3", 401), shownFile(401, 200), "[2 6]"},
	} {
		_, at := jobs(t, s, cut, "u:q", part("1", 1), "t:1="+shownFile(1, 200), c.second, "t:2=short, since the file has changed", c.third, "t:3="+c.is)
		if fmt.Sprint(at) != c.want {
			t.Errorf("%s: jobs %v, want %s", name, at, c.want)
		}
	}
}

// A cut result that comes again is owed, even if the client has added something new. A changed file
// is not.
func TestWhatComesAgainIsOwed(t *testing.T) {
	file := bigFile(200)
	first, again := asks("1", "Read", `{"file_path":"/a.py"}`), asks("2", "Read", `{"file_path":"/a.py"}`)
	for name, c := range map[string]struct {
		was, is string
		owed    bool
	}{
		"the same":           {file, file, true},
		"with a counter":     {file + "\n<total_tokens>1000 tokens left</total_tokens>", file + "\n<total_tokens>900 tokens left</total_tokens>", true},
		"another text of it": {file, bigFile(300)[500:], false},
	} {
		rec := &Record{Messages: 3, Cached: 3, Cuts: []Sent{{Message: 2, Kind: Pruned, ID: someID}}}
		_, plan := decideWith(t, talk("u:q", first, "t:1="+c.was, again, "t:2="+c.is), Default(), rec, claude, map[int]string{2: "⟦PRUNED lines 1-600 id=" + someID + "⟧"})
		if got := plan.owed > 0; got != c.owed {
			t.Errorf("%s: owed %v, want %v", name, plan.owed, c.owed)
		}
	}
}

// The first model's refetched results are in the account. A second model, which sees all of it for
// the first time, owes nothing.
func TestAnotherModelOwesNothingForWhatWasPruned(t *testing.T) {
	file := bigFile(200)
	c, err := Read(talk("u:q", "a:1", "t:1="+file, "a:2", "t:2="+file, "a:3", "t:3=ok"))
	if err != nil {
		t.Fatal(err)
	}
	sibling := &Record{Messages: 5, Cached: 5, Cuts: []Sent{{Message: 2, Kind: Pruned, ID: someID, Removed: bill.Size{Tokens: 1000}}}}
	plan := Decide(Input{
		Past: Past{Sibling: sibling, Alone: true}, Conversation: c, Model: "m", Masking: Default(), Prices: claude, Now: 1,
		Pruned: map[int]string{2: "⟦PRUNED lines 1-600 id=" + someID + "⟧"}, ID: func(string) string { return someID },
	})
	if plan.owed != 0 || plan.Record(nil).Off {
		t.Errorf("owed %v", plan.owed)
	}
	if n := strings.Count(string(plan.Append(nil)), "function_7("); n != 1 {
		t.Errorf("the file goes out whole %d times, want 1", n)
	}
}
