package pruner_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/mcp/wire"
	"secateur/internal/prune/pruner"
	"secateur/internal/store/originals"
)

// keep stores a text by asking for no cut, and returns its id.
func keep(tb testing.TB, s *pruner.Server, text string) string {
	tb.Helper()
	return pruneText(tb, s, asked{text: text}).PruneID
}

func TestRecoverText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		ranges     string
		numbers    bool
		want       string
		held       string // the ranges in the response
	}{
		{"one line with its ending", "a\nb\nc\n", "2-2", false, "b\n", "2-2"},
		{"first to last is the text", "a\nb\nc", "1-3", false, "a\nb\nc", "1-3"},
		{"first to last with a final line break", "a\nb\n", "1-2", false, "a\nb\n", "1-2"},
		{"the end alone may lie beyond", "a\nb\nc", "2-99", false, "b\nc", "2-3"},
		{"far beyond", "a\nb", "1-9007199254740993", false, "a\nb", "1-2"},
		{"ranges in the order asked", "a\nb\nc\n", "3-3 1-2", false, "c\na\nb\n", "3-3 1-2"},
		{"a line break between ranges where the text has none", "a\nb", "2-2 1-1", false, "b\na\n", "2-2 1-1"},
		{"no line break is added at the end", "a\nb", "1-1 2-2", false, "a\nb", "1-1 2-2"},
		{"ranges may overlap", "a\nb\nc\n", "1-2 2-3", false, "a\nb\nb\nc\n", "1-2 2-3"},
		{"CRLF stays", "a\r\nb\r\n", "1-2", false, "a\r\nb\r\n", "1-2"},
		{"numbers are the original's", "a\nb\nc\n", "2-3", true, "2│ b\n3│ c\n", "2-3"},
		{"numbers of several ranges", "a\nb\nc", "3-3 1-1", true, "3│ c\n1│ a\n", "3-3 1-1"},
		{"an empty line has a number too", "\n\n", "1-2", true, "1│ \n2│ \n", "1-2"},
		{"one huge line", strings.Repeat("x", 1<<17), "1-1", false, strings.Repeat("x", 1<<17), "1-1"},
		{"numbers that the text shows", "   101→a\n   102→b\n   103→c\n   104→d\n", "102-103", false, "   102→b\n   103→c\n", "102-103"},
		{"all of them, by any end", "head\n   101→a\n   102→b\n   103→c\n   104→d\n", "1-999", false, "head\n   101→a\n   102→b\n   103→c\n   104→d\n", "1-104"},
		{"numbers it does not show count lines", "   101→a\n   102→b\n   103→c\n   104→d\n", "2-3", false, "   102→b\n   103→c\n", "2-3"},
		{"NUL and BOM", "\ufeffa\x00\nb", "1-1", false, "\ufeffa\x00\n", "1-1"},
	} {
		for _, tool := range []string{"recover_text", "recover_range"} {
			t.Run(c.name+", "+tool, func(t *testing.T) {
				s := newServer(t, nil)
				id := keep(t, s, c.text)
				var r recovery
				result(t, call(t, s, tool, recoverArguments(id, c.ranges, c.numbers)), &r)
				var held []string
				for _, span := range r.Metadata.Ranges {
					held = append(held, fmt.Sprintf("%d-%d", span.Start, span.End))
				}
				if r.RawText != c.want || strings.Join(held, " ") != c.held {
					t.Errorf("lines %s of %.40q = %.40q as %v, want %.40q as %s", c.ranges, c.text, r.RawText, held, c.want, c.held)
				}
				if r.Metadata.PruneID != id || r.Metadata.LineNumbering != "original" {
					t.Errorf("metadata %+v", r.Metadata)
				}
			})
		}
	}
}

func recoverArguments(id, ranges string, numbers bool) string {
	var list []string
	for r := range strings.FieldsSeq(ranges) {
		start, end, _ := strings.Cut(r, "-")
		list = append(list, `{"start_line":`+start+`,"end_line":`+end+`}`)
	}
	return fmt.Sprintf(`{"prune_id":%q,"ranges":[%s],"include_line_numbers":%t}`, id, strings.Join(list, ","), numbers)
}

func TestRecoverTextRefusesRanges(t *testing.T) {
	s := newServer(t, nil)
	id := keep(t, s, "a\nb\nc\n")
	for _, c := range []struct{ name, ranges, path string }{
		{"start behind end", `[{"start_line":3,"end_line":2}]`, "/ranges/0"},
		{"a line below 1", `[{"start_line":0,"end_line":2}]`, "/ranges/0"},
		{"an end below 1", `[{"start_line":1,"end_line":-5}]`, "/ranges/0"},
		{"far below", `[{"start_line":-1e300,"end_line":1}]`, "/ranges/0"},
		{"wholly past the end", `[{"start_line":1,"end_line":1},{"start_line":4,"end_line":9}]`, "/ranges/1"},
		{"far past the end", `[{"start_line":1e300,"end_line":1e300}]`, "/ranges/0"},
		{"no range", `[]`, "/ranges"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := failed(t, call(t, s, "recover_text", `{"prune_id":"`+id+`","ranges":`+c.ranges+`,"include_line_numbers":true}`))
			if f.Code != -32005 || f.Message != "invalid_range" || f.Data.Code != "invalid_range" || f.Data.Path != c.path ||
				f.Data.PruneID != id || f.Data.Hint == "" || f.Data.TotalLines == nil || *f.Data.TotalLines != 3 {
				t.Errorf("%+v", f)
			}
		})
	}
	empty := keep(t, s, "")
	f := failed(t, call(t, s, "recover_text", recoverArguments(empty, "1-1", false)))
	if f.Code != -32005 || f.Data.TotalLines == nil || *f.Data.TotalLines != 0 {
		t.Errorf("line 1 of the empty text: %+v", f)
	}
}

func TestRecoveryIsBounded(t *testing.T) {
	s := newServer(t, nil)
	id := keep(t, s, strings.Repeat("\n", 1<<17))
	all := `{"start_line":1,"end_line":131072}`
	for name, c := range map[string]struct {
		ranges  string
		numbers bool
		refused bool
	}{
		"the whole":                              {all, true, false},
		"many times the whole":                   {strings.Repeat(all+",", 9) + all, false, false},
		"more than an answer holds":              {strings.Repeat(all+",", 299) + all, false, true},
		"more than an answer holds with numbers": {strings.Repeat(all+",", 39) + all, true, true},
	} {
		answer := call(t, s, "recover_text", fmt.Sprintf(`{"prune_id":%q,"ranges":[%s],"include_line_numbers":%t}`, id, c.ranges, c.numbers))
		if refused := answer.Error != nil; refused != c.refused {
			t.Errorf("%s: refused = %t, want %t: %s", name, refused, c.refused, answer.Error)
		} else if refused && failed(t, answer).Code != -32005 {
			t.Errorf("%s: %s", name, answer.Error)
		}
	}
}

func TestUnknownIDs(t *testing.T) {
	s := newServer(t, nil)
	for _, id := range []string{"prn_does_not_exist", "", "prn_00000000000000000000000000", "../../etc/passwd", strings.Repeat("x", 1<<16), "\\ud800"} {
		for tool, rest := range map[string]string{
			"recover_text":  `"ranges":[{"start_line":1,"end_line":2}],"include_line_numbers":false`,
			"recover_chars": `"start":0,"end":5`,
			"search_text":   `"pattern":"x"`,
		} {
			f := failed(t, call(t, s, tool, `{"prune_id":"`+id+`",`+rest+`}`))
			if f.Code != -32004 || f.Message != "prune_id_not_found" || f.Data.Code != "prune_id_not_found" || f.Data.Hint == "" {
				t.Errorf("%s of %.30q: %+v", tool, id, f)
			}
			if len(id) < 100 && id != "\\ud800" && f.Data.PruneID != id {
				t.Errorf("%s of %.30q names %q", tool, id, f.Data.PruneID)
			}
		}
	}
}

func TestAStoreThatIsDownIsSaid(t *testing.T) {
	s := newServer(t, func(o *pruner.Options) { o.Originals = broken{err: originals.ErrUnavailable} })
	f := failed(t, call(t, s, "recover_text", recoverArguments("prn_x", "1-2", false)))
	if f.Code != -32006 || f.Message != "recovery_unavailable" || f.Data.Code != "recovery_unavailable" || f.Data.Hint == "" || f.Data.PruneID != "prn_x" {
		t.Errorf("%+v", f)
	}
}

func TestRecoverChars(t *testing.T) {
	s := newServer(t, nil)
	long := strings.Repeat("aé😀", 50_000) // 150 000 characters in one line
	type answer struct {
		RawText  string `json:"raw_text"`
		Metadata struct {
			PruneID    string `json:"prune_id"`
			Start, End int
			TotalChars int `json:"total_chars"`
			Truncated  bool
		}
	}
	get := func(id string, start, end int) (a answer) {
		result(t, call(t, s, "recover_chars", fmt.Sprintf(`{"prune_id":%q,"start":%d,"end":%d}`, id, start, end)), &a)
		return a
	}
	id := keep(t, s, long)
	runes := []rune(long)
	for _, c := range []struct {
		name              string
		start, end        int
		wantEnd           int
		wantTruncatedness bool
	}{
		{"the first character", 0, 1, 1, false},
		{"within", 4, 9, 9, false},
		{"the end alone may lie beyond", 149_990, 1 << 60, 150_000, false},
		{"more than one answer holds", 10, 150_000, 100_010, true},
	} {
		a := get(id, c.start, c.end)
		m := a.Metadata
		if a.RawText != string(runes[c.start:c.wantEnd]) || m.Start != c.start || m.End != c.wantEnd || m.TotalChars != 150_000 || m.Truncated != c.wantTruncatedness || m.PruneID != id {
			t.Errorf("%s: %d characters, %+v", c.name, len([]rune(a.RawText)), m)
		}
	}
	var whole strings.Builder
	for at := 0; at < len(runes); {
		a := get(id, at, len(runes))
		whole.WriteString(a.RawText)
		at = a.Metadata.End
	}
	if whole.String() != long {
		t.Error("the parts do not add up to the text")
	}
	for _, c := range []struct{ start, end string }{
		{"-1", "5"}, {"5", "5"}, {"6", "5"}, {"150000", "150001"}, {"0", "0"}, {"1e300", "1e301"}, {"0", "-1"},
	} {
		f := failed(t, call(t, s, "recover_chars", `{"prune_id":"`+id+`","start":`+c.start+`,"end":`+c.end+`}`))
		if f.Code != -32005 || f.Message != "invalid_range" || f.Data.TotalChars == nil || *f.Data.TotalChars != 150_000 || f.Data.TotalLines == nil || *f.Data.TotalLines != 1 {
			t.Errorf("characters %s to %s: %+v", c.start, c.end, f)
		}
	}
}

func TestEveryViolationIsNamed(t *testing.T) {
	s := newServer(t, nil)
	id := keep(t, s, "a\nb")
	options := func(change string) string {
		all := map[string]string{"max_prune_ratio": "0.5", "min_keep_lines": "1", "timeout_ms": "1", "annotate_lines": "true", "include_markers": "false"}
		name, value, _ := strings.Cut(change, "=")
		all[name] = value
		var list []string
		for n, v := range all {
			if v != "" {
				list = append(list, fmt.Sprintf("%q:%s", n, v))
			}
		}
		return `{"text":"a","goal_hint":"","source_type":"code","options":{` + strings.Join(list, ",") + `}}`
	}
	for _, c := range []struct{ tool, arguments, path string }{
		{"prune_text", options("max_prune_ratio=1.01"), "/options/max_prune_ratio"},
		{"prune_text", options("max_prune_ratio=-0.1"), "/options/max_prune_ratio"},
		{"prune_text", options(`max_prune_ratio="0.5"`), "/options/max_prune_ratio"},
		{"prune_text", options("max_prune_ratio=null"), "/options/max_prune_ratio"},
		{"prune_text", options("max_prune_ratio="), "/options/max_prune_ratio"},
		{"prune_text", options("min_keep_lines=-1"), "/options/min_keep_lines"},
		{"prune_text", options("min_keep_lines=1.5"), "/options/min_keep_lines"},
		{"prune_text", options("timeout_ms=0"), "/options/timeout_ms"},
		{"prune_text", options("timeout_ms="), "/options/timeout_ms"},
		{"prune_text", options("annotate_lines=1"), "/options/annotate_lines"},
		{"prune_text", options("include_markers=\"true\""), "/options/include_markers"},
		{"prune_text", options("surprise=1"), "/options/surprise"},
		{"prune_text", strings.Replace(options(""), `"code"`, `"prose"`, 1), "/source_type"},
		{"prune_text", strings.Replace(options(""), `"code"`, `"Code"`, 1), "/source_type"},
		{"prune_text", strings.Replace(options(""), `"text":"a"`, `"text":["a"]`, 1), "/text"},
		{"prune_text", strings.Replace(options(""), `"goal_hint":"",`, ``, 1), "/goal_hint"},
		{"prune_text", strings.Replace(options(""), `"goal_hint"`, `"extra":1,"goal_hint"`, 1), "/extra"},
		{"prune_text", `{}`, "/text"},
		{"prune_text", `[]`, ""},
		{"recover_text", `{"prune_id":1,"ranges":[],"include_line_numbers":true}`, "/prune_id"},
		{"recover_text", `{"prune_id":"x","ranges":{},"include_line_numbers":true}`, "/ranges"},
		{"recover_text", `{"prune_id":"x","ranges":[7],"include_line_numbers":true}`, "/ranges/0"},
		{"recover_text", `{"prune_id":"x","ranges":[{"start_line":"1","end_line":2}],"include_line_numbers":true}`, "/ranges/0/start_line"},
		{"recover_text", `{"prune_id":"x","ranges":[{"start_line":1.5,"end_line":2}],"include_line_numbers":true}`, "/ranges/0/start_line"},
		{"recover_text", `{"prune_id":"x","ranges":[{"start_line":0}],"include_line_numbers":true}`, "/ranges/0/end_line"},
		{"recover_text", `{"prune_id":"x","ranges":[{"start_line":1,"end_line":2,"step":2}],"include_line_numbers":true}`, "/ranges/0/step"},
		{"recover_text", `{"prune_id":"x","ranges":[{"start_line":1,"end_line":2}]}`, "/include_line_numbers"},
		{"recover_range", `{"prune_id":"x","ranges":[{"start_line":1,"end_line":2}]}`, "/include_line_numbers"},
		{"recover_chars", `{"prune_id":"x","start":"0","end":1}`, "/start"},
		{"recover_chars", `{"prune_id":"x","start":0}`, "/end"},
		{"search_text", `{"prune_id":"` + id + `"}`, "/pattern"},
		{"search_text", `{"prune_id":"` + id + `","pattern":""}`, "/pattern"},
		{"search_text", `{"prune_id":"` + id + `","pattern":"(","regex":true}`, "/pattern"},
		{"search_text", `{"prune_id":"` + id + `","pattern":"((a{100}){9}b{100}){9}","regex":true}`, "/pattern"},
		{"search_text", `{"prune_id":"` + id + `","pattern":"(abcdefghij){999}","regex":true}`, "/pattern"},
		{"search_text", `{"prune_id":"` + id + `","pattern":"` + strings.Repeat("x", 1001) + `"}`, "/pattern"},
		{"search_text", `{"prune_id":"` + id + `","pattern":"\ud800"}`, "/pattern"},
		{"search_text", `{"prune_id":"` + id + `","pattern":"x","max_matches":0}`, "/max_matches"},
		{"search_text", `{"prune_id":"` + id + `","pattern":"x","max_matches":1001}`, "/max_matches"},
		{"health", `{"x":1}`, "/x"},
	} {
		t.Run(c.tool+c.path, func(t *testing.T) {
			answer := call(t, s, c.tool, c.arguments)
			f := failed(t, answer)
			var data struct {
				Data map[string]json.RawMessage `json:"data"`
			}
			_ = json.Unmarshal(answer.Error, &data)
			if _, there := data.Data["path"]; !there || f.Code != wire.CodeInvalidParams || f.Data.Code != "invalid_params" || f.Data.Path != c.path {
				t.Errorf("%s %s: %s, want -32602 with path %q", c.tool, c.arguments, answer.Error, c.path)
			}
		})
	}
	f := failed(t, call(t, s, "prune_text", `{"text":1,"options":{"max_prune_ratio":7,"x":0}}`))
	var paths []string
	for _, v := range f.Data.Errors {
		paths = append(paths, v.Path)
		if v.Message == "" {
			t.Errorf("no message for %s", v.Path)
		}
	}
	want := "/text /options/max_prune_ratio /options/x /options/min_keep_lines /options/timeout_ms /options/annotate_lines /options/include_markers /goal_hint /source_type"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("data.errors names\n%s, want\n%s", got, want)
	}
}

// In a response, control characters are thirteen times their size: as a value and again as text.
func TestAnAnswerIsBoundedAsItIsEncoded(t *testing.T) {
	store := &originals.Memory{}
	s := newServer(t, func(o *pruner.Options) { o.Originals = store })
	line := strings.Repeat("\x01", 999_999) + "\n"
	text := strings.Repeat(line, 4)
	id, err := store.Put(t.Context(), "", text)
	if err != nil {
		t.Fatal(err)
	}
	f := failed(t, call(t, s, "recover_text", recoverArguments(id, "1-4", false)))
	if f.Code != -32005 || !strings.Contains(f.Data.Hint, "32 MiB") {
		t.Errorf("52 MB of an answer: %+v, want to be told to ask for less", f)
	}
	f = failed(t, call(t, s, "recover_text", recoverArguments(id, strings.Repeat("1-1 ", 300), true)))
	if f.Code != -32005 || f.Data.Path != "/ranges/2" {
		t.Errorf("one line again and again: %+v, want it refused at the third", f)
	}
	if a := call(t, s, "recover_text", recoverArguments(id, "1-2", false)); a.Error != nil || len(a.Raw) < 26_000_000 || len(a.Raw) > 32<<20 {
		t.Errorf("half of it is %d bytes, %s", len(a.Raw), a.Error)
	}
	got, err := pruner.FromDaemon(http.DefaultClient, serveHTTP(t, s)+"/rpc", nil)(t.Context(), id)
	if err != nil || got != text {
		t.Errorf("a daemon's original in parts: %d bytes, %v, want %d", len(got), err, len(text))
	}
}

// A text with many small cuts gives a response full of markers. Its size is bounded too.
func TestAPrunedTextIsBoundedAsItIsEncoded(t *testing.T) {
	s := newServer(t, nil)
	text := strings.Repeat("needle\n\n\n\n", 200_000)
	a := call(t, s, "prune_text", asked{text: text, goal: "needle", ratio: 0.74, timeout: 600_000, annotate: true, markers: true}.json())
	t.Logf("%d bytes of %d", len(a.Raw), len(text))
	if a.Error != nil || len(a.Raw) > 64<<20 {
		t.Errorf("%d bytes, %s", len(a.Raw), a.Error)
	}
}
