package pruner_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/prune/pruner"
)

// askBriefly asks as the aggregate does for its clients.
func askBriefly(tb testing.TB, s *pruner.Server, request string) wire.Message {
	tb.Helper()
	msg, bad := wire.ParseRequest([]byte(request), wire.MaxRequestDepth)
	if bad != nil {
		tb.Fatalf("request %.200s: %v", request, bad)
	}
	answer, err := wire.ParseServer(s.Serve(toolserver.WithBrief(tb.Context(), pruner.BriefChars), &msg), 0)
	if err != nil {
		tb.Fatal(err)
	}
	return answer
}

// part is what a recovery gives back at once.
type part struct {
	RawText  string `json:"raw_text"`
	Metadata struct {
		Truncated bool `json:"truncated"`
		Next      *struct {
			Tool      string          `json:"tool"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"next"`
	} `json:"metadata"`
}

// recoverBriefly calls a tool as the aggregate does.
func recoverBriefly(t *testing.T, s *pruner.Server, tool, arguments string) part {
	t.Helper()
	m := askBriefly(t, s, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
	var r struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Content) != 1 || r.Structured != nil {
		t.Fatalf("%s %s: %v %.300s %s", tool, arguments, err, m.Result, m.Error)
	}
	var p part
	if err := json.Unmarshal([]byte(r.Content[0].Text), &p); err != nil {
		t.Fatal(err)
	}
	if n := utf8.RuneCountInString(p.RawText); n > pruner.BriefChars && !strings.Contains(arguments, "max_chars") {
		t.Fatalf("%s %s returns %d characters", tool, arguments, n)
	}
	return p
}

func TestClientsOfTheAggregateListThreeTools(t *testing.T) {
	for tools, want := range map[string][]string{
		pruner.ToolsRecover: {"recover_text", "recover_chars", "search_text"},
		pruner.ToolsAll:     {"recover_text", "recover_chars", "search_text", "prune_text", "health"},
	} {
		s := newServer(t, func(o *pruner.Options) { o.Tools = tools })
		var r struct {
			Tools []struct {
				Name string `json:"name"`
			} `json:"tools"`
		}
		if err := json.Unmarshal(askBriefly(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Result, &r); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tool := range r.Tools {
			got = append(got, tool.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tools, got, want)
		}
		if m := askBriefly(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"health"}}`); m.Error != nil {
			t.Errorf("%s: health cannot be called: %s", tools, m.Error)
		}
	}
}

// The calls in next return the original in parts of at most 20 000 characters.
func TestALongRecoveryGoesOnWhereItEnded(t *testing.T) {
	var shown strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&shown, "%6d→line é %d of a file\n", i+501, i)
	}
	for name, c := range map[string]struct{ text, arguments string }{
		"JSON on one line":     {`{"rows":["` + strings.Repeat("é value", 30_000) + `"]}`, ``},
		"lines":                {strings.Repeat("a line of words\n", 9_000), ``},
		"lines by their range": {strings.Repeat("a line of words\n", 9_000), `,"ranges":[{"start_line":1,"end_line":200000}],"include_line_numbers":false`},
		"lines with numbers":   {shown.String(), `,"ranges":[{"start_line":501}]`},
		"a long line within":   {"first\n" + strings.Repeat("x", 50_000) + "\nlast\n" + strings.Repeat("more\n", 9_000), ``},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, nil)
			id := keep(t, s, c.text)
			tool, arguments, got := "recover_text", `{"prune_id":"`+id+`"`+c.arguments+`}`, ""
			for range 100 {
				p := recoverBriefly(t, s, tool, arguments)
				got += p.RawText
				if p.Metadata.Truncated != (p.Metadata.Next != nil) {
					t.Fatalf("truncated %t, next %+v", p.Metadata.Truncated, p.Metadata.Next)
				}
				if p.Metadata.Next == nil {
					break
				}
				tool, arguments = p.Metadata.Next.Tool, strings.Replace(string(p.Metadata.Next.Arguments), `,"max_chars":20000`, "", 1)
			}
			if got != c.text {
				t.Errorf("the parts have %d bytes, want %d", len(got), len(c.text))
			}
		})
	}
}

func TestMaxCharsAllowsMoreOrLess(t *testing.T) {
	s := newServer(t, nil)
	id := keep(t, s, strings.Repeat("0123456789", 10_000))
	for tool, rest := range map[string]string{"recover_text": "", "recover_chars": `,"start":0,"end":100000`} {
		for most, want := range map[int]int{1: 1, 500: 500, 60_000: 60_000, 1_000_000: 100_000} {
			p := recoverBriefly(t, s, tool, fmt.Sprintf(`{"prune_id":%q%s,"max_chars":%d}`, id, rest, most))
			if len(p.RawText) != want || p.Metadata.Truncated != (want < 100_000) {
				t.Errorf("%s of %d: %d characters, truncated %t", tool, most, len(p.RawText), p.Metadata.Truncated)
			}
		}
	}
	var r part
	arguments := recoverArguments(id, "1-1", false)
	result(t, call(t, s, "recover_text", arguments), &r)
	if len(r.RawText) != 100_000 {
		t.Errorf("the pruner's own door returns %d characters", len(r.RawText))
	}
	result(t, call(t, s, "recover_text", strings.TrimSuffix(arguments, "}")+`,"max_chars":70}`), &r)
	if len(r.RawText) != 70 || r.Metadata.Next == nil || r.Metadata.Next.Tool != "recover_chars" {
		t.Errorf("with max_chars it returns %d characters, next %+v", len(r.RawText), r.Metadata.Next)
	}
	if f := failed(t, call(t, s, "recover_text", strings.TrimSuffix(arguments, "}")+`,"max_chars":"many"}`)); f.Code != -32602 || f.Data.Path != "/max_chars" {
		t.Errorf("max_chars that is no number: %+v", f)
	}
}

func TestASearchIsBoundedForClientsOfTheAggregate(t *testing.T) {
	s := newServer(t, nil)
	id := keep(t, s, strings.Repeat("needle "+strings.Repeat("hay ", 100)+"\n", 2000))
	m := askBriefly(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_text","arguments":{"prune_id":"`+id+`","pattern":"needle"}}}`)
	if len(m.Result) > 25_000 || !strings.Contains(string(m.Result), `\"truncated\":true`) {
		t.Errorf("%d bytes: %.300s", len(m.Result), m.Result)
	}
}

func TestHintsAreInTheMessage(t *testing.T) {
	s := newServer(t, nil)
	id := keep(t, s, "a\nb\n")
	past := `{"prune_id":"` + id + `","ranges":[{"start_line":7}]}`
	for arguments, want := range map[string]string{
		`{"prune_id":"prn_x"}`: "prune_id_not_found: the original has expired",
		past:                   "invalid_range: start_line 7 is past the end; the text has 2 lines",
	} {
		m := askBriefly(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recover_text","arguments":`+arguments+`}}`)
		if f := failed(t, m); !strings.HasPrefix(f.Message, want) || f.Data.Hint == "" {
			t.Errorf("%s: %+v", arguments, f)
		}
	}
}

// A recovery is reported with the part that came back, not with the whole original.
func TestWhatCameBackIsReported(t *testing.T) {
	var got []string
	s := newServer(t, func(o *pruner.Options) {
		o.Recovered = func(_, returned string) { got = append(got, returned) }
	})
	id := keep(t, s, "one\ntwo\nthree\nfour\n")
	call(t, s, "recover_text", recoverArguments(id, "2-3", false))
	call(t, s, "recover_chars", `{"prune_id":"`+id+`","start":0,"end":3}`)
	call(t, s, "search_text", `{"prune_id":"`+id+`","pattern":"fou"}`)
	call(t, s, "recover_text", recoverArguments(id, "9-9", false))
	if want := []string{"two\nthree\n", "one", "four\n"}; !slices.Equal(got, want) {
		t.Errorf("reported %q, want %q", got, want)
	}
}
