package replay

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// Shortened real files of Claude Code 2.1.325 and Codex 0.166.0.
func TestRealFilesAreRead(t *testing.T) {
	for _, c := range []struct {
		file     string
		format   chat.Format
		model    string
		requests int
		results  []int // in each request
		last     string
	}{
		{"claude-code.jsonl", chat.Messages, "claude-opus-5-5", 4, []int{0, 2, 4, 4}, "again"},
		{"codex.jsonl", chat.Responses, "gpt-5.6-sol", 5, []int{0, 1, 2, 3, 3}, "again"},
	} {
		t.Run(c.file, func(t *testing.T) {
			sessions, err := ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			if len(sessions) != 1 {
				t.Fatalf("%d sessions", len(sessions))
			}
			s := sessions[0]
			if s.format != c.format || s.Model != c.model || len(s.requests) != c.requests || s.counted == 0 || !s.timed {
				t.Errorf("%v of %q, %d requests, %v tokens in the first", s.format, s.Model, len(s.requests), s.counted)
			}
			p := newPlayer(&s, Options{})
			for i, q := range s.requests {
				results := 0
				for _, m := range p.whole[i] {
					if m.role == roleTool {
						results++
					}
				}
				if results != c.results[i] || len(q.answer) == 0 {
					t.Errorf("request %d has %d results, want %d; its answer has %d parts", i, results, c.results[i], len(q.answer))
				}
				if _, err := s.format.ReadOn(q.body(nil, s.format), func([]byte) chat.Known { return chat.Known{} }); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
			}
			last := p.whole[len(p.whole)-1]
			if m := last[len(last)-1]; m.said != c.last || m.role != "user" {
				t.Errorf("the last thing said is %q by %s, want %q", m.said, m.role, c.last)
			}
		})
	}
}

// user and assistant return lines of a transcript.
func user(uuid, parent, content string) string {
	return fmt.Sprintf(`{"type":"user","sessionId":"s","uuid":%q,"parentUuid":%q,"timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":%s}}`+"\n", uuid, parent, content)
}

func assistant(uuid, parent, id, block string) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":"s","uuid":%q,"parentUuid":%q,"timestamp":"2026-03-01T10:00:07Z","message":{"id":%q,"role":"assistant","model":"claude-opus-5","content":[%s],"usage":{"input_tokens":5,"cache_read_input_tokens":7}}}`+"\n", uuid, parent, id, block)
}

func TestTranscripts(t *testing.T) {
	const (
		callA, callB = `{"type":"tool_use","id":"a","name":"f","input":{}}`, `{"type":"tool_use","id":"b","name":"f","input":{}}`
		backA, backB = `[{"type":"tool_result","tool_use_id":"a","content":"A"}]`, `[{"type":"tool_result","tool_use_id":"b","content":"B"}]`
		yes          = `{"type":"text","text":"yes"}`
	)
	for name, c := range map[string]struct {
		text string
		want []string // each request's messages, shortened
	}{
		"blocks of one answer, and results between them": {
			user("1", "", `"go"`) + assistant("2", "1", "m1", callA) + user("3", "2", backA) + assistant("4", "2", "m1", callB) + user("5", "4", backB) + assistant("6", "5", "m2", yes),
			[]string{"u:go", "u:go a:a,b u:A,B"},
		},
		"the user goes back": {
			user("1", "", `"go"`) + assistant("2", "1", "m1", yes) + user("3", "2", `"more"`) + assistant("4", "3", "m2", yes) + user("5", "2", `"other"`) + assistant("6", "5", "m3", yes),
			[]string{"u:go", "u:go a:yes u:more", "u:go a:yes u:other"},
		},
		"an error that is shown": {
			user("1", "", `"go"`) + strings.Replace(assistant("2", "1", "m1", yes), "claude-opus-5", "<synthetic>", 1) + user("3", "2", `"again"`) + assistant("4", "3", "m2", yes),
			[]string{"u:go,again"},
		},
		"a compaction": {
			user("1", "", `"go"`) + assistant("2", "1", "m1", yes) + strings.Replace(user("3", "", `"a summary"`), `"user",`, `"user","isCompactSummary":true,`, 1) + assistant("4", "3", "m2", yes),
			[]string{"u:go", "u:a summary"},
		},
		"a sub-agent": {
			user("1", "", `"go"`) + strings.Replace(user("2", "", `"look"`), `"user",`, `"user","isSidechain":true,"agentId":"x",`, 1) +
				strings.Replace(assistant("3", "2", "m9", yes), `"assistant",`, `"assistant","isSidechain":true,"agentId":"x",`, 1) + assistant("4", "1", "m1", yes),
			[]string{"u:go", "u:look"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range readAll(t, `{"type":"summary","summary":"x","leafUuid":"y"}`+"\n"+c.text+`{"type":"file-history-snapshot","messageId":"z"}`) {
				for _, q := range s.requests {
					got = append(got, shortMessages(t, q))
				}
			}
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("requests %q, want %q", got, c.want)
			}
		})
	}
}

func shortMessages(t *testing.T, q request) string {
	t.Helper()
	var all []string
	for _, raw := range q.list {
		var m struct {
			Role    string  `json:"role"`
			Content []block `json:"content"`
		}
		if err := json.Unmarshal(raw, &m, lenient); err != nil {
			t.Fatal(err)
		}
		var parts []string
		for _, b := range m.Content {
			parts = append(parts, b.Text+b.ID+partsText(b.Content))
		}
		all = append(all, m.Role[:1]+":"+strings.Join(parts, ","))
	}
	return strings.Join(all, " ")
}

// After a compaction, a rollout continues with the replacement.
func TestRolloutsAreCompacted(t *testing.T) {
	item := func(payload string) string {
		return `{"timestamp":"2026-03-01T10:00:00Z","type":"response_item","payload":` + payload + "}\n"
	}
	sessions := readAll(t, `{"timestamp":"2026-03-01T10:00:00Z","type":"session_meta","payload":{"id":"s"}}`+
		item(`{"type":"message","role":"user","content":"go"}`)+item(`{"type":"reasoning","id":"r"}`)+item(`{"type":"message","role":"assistant","content":"yes"}`)+
		`{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"x"}]}}`+
		item(`{"type":"message","role":"user","content":"more"}`)+item(`{"type":"message","role":"assistant","content":"yes"}`))
	if len(sessions) != 2 || sessions[0].ID != "s" || sessions[1].ID != "s#1" {
		t.Fatalf("%d sessions", len(sessions))
	}
	if a, b := sessions[0].requests, sessions[1].requests; len(a) != 1 || len(a[0].list) != 1 || len(a[0].answer) != 2 || len(b) != 1 || len(b[0].list) != 2 {
		t.Errorf("requests %v and %v", a, b)
	}
}

func TestFormatsAreToldApart(t *testing.T) {
	for body, want := range map[string]chat.Format{
		`{"model":"gpt-4o","messages":[{"role":"user","content":"a"}]}`:                                                 chat.Completions,
		`{"model":"anthropic/claude","messages":[{"role":"tool","content":"a"}]}`:                                       chat.Completions,
		`{"model":"claude-opus-5","max_tokens":7,"messages":[{"role":"user","content":"a"}]}`:                           chat.Messages,
		`{"model":"m","system":"s","messages":[]}`:                                                                      chat.Messages,
		`{"model":"m","tools":[{"name":"f","input_schema":{}}],"messages":[]}`:                                          chat.Messages,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]}`: chat.Messages,
		`{"model":"m","input":"a"}`: chat.Responses,
		`{"model":"m","instructions":"i","input":[{"type":"message","role":"user","content":"a"}]}`: chat.Responses,
	} {
		sessions := readAll(t, body)
		if len(sessions) != 1 || sessions[0].format != want || len(sessions[0].requests) != 1 {
			t.Errorf("%s: %v, want %v", body, sessions, want)
		}
	}
}

// Bills computed by hand for each kind of cache; a token is a byte.
func TestCachesBillByHand(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	r := newRenderer(bytesRuler)
	block := func(s, control string) piece {
		return r.blocks(nil, []byte(`{"role":"user","content":[{"type":"text","text":"`+s+`"`+control+`}]}`))[0]
	}
	const mark, hour = `,"cache_control":{"type":"ephemeral"}`, `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	c := &cache{Cache: bill.Cache{Kind: bill.Markers}, ruler: bytesRuler, perToken: 1, timed: true}
	head := float64(len("\x01user\n"))
	ask := func(at float64, prompt ...piece) bill.Prompt {
		return c.request(prompt, marks(prompt, cacheControl{}, cacheControl{}), at)
	}
	a, b := text(2000), text(300)
	one, two := 2000+head, 2300+2*head
	for i, step := range []struct{ got, want bill.Prompt }{
		{ask(0, block(a, mark)), bill.Prompt{Total: one}},
		{ask(60, block(a, ""), block(b, mark)), bill.Prompt{Total: two, Cached: one}},
		{ask(120, block(a, ""), block(b, "")), bill.Prompt{Total: two, Plain: two}},
		{ask(180, block(a, ""), block(b, mark)), bill.Prompt{Total: two, Cached: two}},
		{ask(481, block(a, ""), block(b, mark)), bill.Prompt{Total: two}},
		// Too short.
		{ask(482, block(text(100), ""), block(b, mark)), bill.Prompt{Total: 400 + 2*head, Plain: 400 + 2*head}},
		{ask(900, block(a, hour), block(b, mark)), bill.Prompt{Total: two, Hour: one}},
		{ask(3000, block(a, hour), block(text(200), mark)), bill.Prompt{Total: one + 200 + head, Cached: one}},
	} {
		if step.got != step.want {
			t.Errorf("request %d counts %+v, want %+v", i, step.got, step.want)
		}
	}
}

// The report has a table for each format that was read, with the generations that use it.
func TestReportOfAllFormats(t *testing.T) {
	var sessions []Session
	for _, f := range []string{"claude-code.jsonl", "codex.jsonl"} {
		more, err := ReadFile(filepath.Join("testdata", f))
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, more...)
	}
	sessions = append(sessions, readAll(t, sessionLine("chat", 3))...)
	done, of := 0, 0
	r, err := Run(t.Context(), sessions, Options{
		Strategies: Strategies(chat.Default(), chat.DefaultPruning()), Tables: Tables(), Ruler: bytesRuler,
		Progress: func(d, o int) { done, of = max(done, d), o },
		Prices:   bill.LookupAt,
	})
	if err != nil {
		t.Fatal(err)
	}
	if done != of || of == 0 {
		t.Errorf("%d of %d requests were played", done, of)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chat completions", "Messages (Claude Code)", "Responses (Codex)", "opus 5.5", "gpt-5.6, gpt-6", "fable 5.1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &text)
		}
	}
	for _, s := range r.Strategies {
		for _, total := range s.Totals {
			// At GPT-5.5 these prompts would become too short for the cache.
			if s.Name == "pruning" && total.Format != "chat" && total.Table != "gpt-5.5" && (total.Ratio >= 1 || total.Faults.Changed == 0) {
				t.Errorf("%s at %s: %v, %d results changed", s.Name, total.Table, total.Ratio, total.Faults.Changed)
			}
			if strings.HasPrefix(s.Name, "priced") && !strings.Contains(s.Name, "loss") && total.Worst > 1.0005 {
				t.Errorf("%s at %s: %v", s.Name, total.Table, total.Worst)
			}
		}
	}
}

// The error for an unreadable file names its first bad line.
func TestStrangersAreNamedByLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(file, []byte(`{"messages":[{"role":"user","content":"hi"}]}`+"\n"+`{"events":[1],"version":2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFile(file)
	if want := file + `:2: found an object with "events", "version"; known are`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
