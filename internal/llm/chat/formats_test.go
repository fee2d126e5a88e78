package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"secateur/internal/llm/bill"
)

// seen is what a reader finds in a message.
type seen struct {
	Role    Role
	CallID  string
	Calls   []string // id, name and arguments
	IsError bool
	Text    string // the text that can be cut
	Cut     bool   // it has such a text
	Signed  bool
	Summary bool
	Follows bool
}

// seenBy returns what the reader of a format finds.
func seenBy(c *Conversation) (all []seen) {
	for i := range c.Messages {
		m := &c.Messages[i]
		s := seen{
			Role: m.Role, CallID: m.CallID, IsError: m.IsError, Text: c.Text(i), Cut: c.isResult(i), Signed: m.signed,
			Summary: m.special == summary, Follows: m.follows,
		}
		for _, call := range m.Calls {
			s.Calls = append(s.Calls, call.ID+" "+call.Name+" "+string(c.bytes(call.arguments)))
		}
		all = append(all, s)
	}
	return all
}

// object is a JSON object; nil: not one.
type object map[string]json.RawMessage

func objectOf(raw json.RawMessage) (o object) {
	if len(raw) > 0 && raw[0] == '{' {
		_ = json.Unmarshal(raw, &o)
	}
	return o
}

func listOf(raw json.RawMessage) (list []json.RawMessage, ok bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return list, json.Unmarshal(raw, &list) == nil
}

func (o object) text(name string) (s string, ok bool) {
	raw := o[name]
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return s, json.Unmarshal(raw, &s) == nil
}

func (o object) says(name, word string) bool {
	s, ok := o.text(name)
	return ok && s == word
}

func slowRole(o object) Role {
	s, _ := o.text("role")
	return map[string]Role{"user": User, "assistant": Assistant, "tool": Tool}[s]
}

// longest returns the text of a result that can be cut.
func longest(raw json.RawMessage, kinds ...string) (text string, ok bool) {
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &text)
		return text, true
	}
	list, _ := listOf(raw)
	take := func(s string) {
		if !ok || utf8.RuneCountInString(s) > utf8.RuneCountInString(text) {
			text, ok = s, true
		}
	}
	for _, part := range list {
		o := objectOf(part)
		if o.says("type", "tool_reference") {
			return "", false
		}
		kind, isKind := o.text("type")
		if s, is := o.text("text"); is && slices.Contains(kinds, kind) {
			take(s)
		} else if len(kinds) > 1 && !isKind {
			for _, name := range []string{"stdout", "stderr"} {
				if s, is := o.text(name); is {
					take(s)
				}
			}
		}
	}
	return text, ok
}

func slowMessages(body []byte) (all []seen) {
	list, _ := listOf(objectOf(body)["messages"])
	for _, raw := range list {
		o := objectOf(raw)
		role := slowRole(o)
		blocks, isList := listOf(o["content"])
		if o == nil || !isList {
			all = append(all, seen{Role: role})
			continue
		}
		open := -1
		first := len(all)
		for _, raw := range blocks {
			b := objectOf(raw)
			if b.says("type", "tool_result") {
				s := seen{Role: Tool, IsError: string(b["is_error"]) == "true"}
				s.CallID, _ = b.text("tool_use_id")
				s.Text, s.Cut = longest(b["content"], "text")
				if role != User {
					s.Role, s.Text, s.Cut = Other, "", false
				}
				all, open = append(all, s), -1
				continue
			}
			if open < 0 {
				open = len(all)
				all = append(all, seen{Role: role})
			}
			s := &all[open]
			id, hasID := b.text("id")
			name, _ := b.text("name")
			switch kind, _ := b.text("type"); {
			case kind == "tool_use" && hasID:
				s.Calls = append(s.Calls, id+" "+name+" "+string(b["input"]))
			case kind == "thinking" || kind == "redacted_thinking":
				s.Signed = true
			case kind == "compaction":
				s.Summary = true
			}
		}
		if len(all) == first {
			all = append(all, seen{Role: role})
		}
	}
	return all
}

func slowResponses(body []byte) (all []seen) {
	list, _ := listOf(objectOf(body)["input"])
	for _, raw := range list {
		o := objectOf(raw)
		kind, _ := o.text("type")
		after := len(all) > 0 && all[len(all)-1].Role == Assistant
		var s seen
		id, hasID := o.text("call_id")
		if !hasID && (strings.HasPrefix(kind, "local_shell_call") || strings.HasSuffix(kind, "_output")) {
			id, hasID = o.text("id")
		}
		switch {
		case o == nil:
		case slices.Contains([]string{"function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output", "apply_patch_call_output"}, kind):
			s.Role, s.CallID = Tool, id
			s.Text, s.Cut = longest(o["output"], "input_text", "output_text", "text")
			s.IsError = o.says("status", "failed") || badOutcome(o["output"]) || badExit(s.Text)
		case kind == "reasoning", strings.HasSuffix(kind, "_call"), (kind == "message" || kind == "") && slowRole(o) == Assistant:
			s.Role, s.Follows = Assistant, after
			if name, _ := o.text("name"); hasID {
				input := ""
				for _, member := range []string{"arguments", "input", "action"} {
					if raw, ok := o[member]; ok {
						input = string(raw)
					}
				}
				s.Calls = []string{id + " " + name + " " + input}
			}
		case kind == "message" || kind == "":
			s.Role = slowRole(o)
		}
		s.Summary = kind == "compaction" || kind == "context_compaction"
		all = append(all, s)
	}
	return all
}

func badOutcome(output json.RawMessage) bool {
	list, _ := listOf(output)
	for _, raw := range list {
		outcome := objectOf(objectOf(raw)["outcome"])
		code := string(outcome["exit_code"])
		if outcome.says("type", "timeout") || code != "" && code != "0" && code != "null" {
			return true
		}
	}
	return false
}

func badExit(text string) bool {
	head, _, ok := strings.Cut(text, "\nOutput:\n")
	_, code, isShell := strings.Cut(head, "Process exited with code ")
	return ok && isShell && len(head) < 400 && !strings.HasPrefix(code, "0")
}

// messagesParts are blocks as clients send them, and others.
var messagesParts = []string{
	`{"type":"text","text":"hello"}`, `{"text":"late","cache_control":{"type":"ephemeral","ttl":"1h"},"type":"text"}`,
	`{"type":"thinking","thinking":"","signature":"s=="}`, `{"type":"redacted_thinking","data":"x"}`, `{"type":"compaction","content":"all of it"}`,
	`{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}}`, `{"input":{},"name":"memory","id":"c2","type":"tool_use"}`,
	`{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}`, `{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}`,
	`{"type":"image","source":{"type":"base64","data":"AAAA"}}`, `{"type":7}`, `7`, `null`, `{}`, `{"type":"tool_use","id":3}`,
	`{"type":"tool_result","tool_use_id":"c2"}`, `{"type":"tool_result","content":"","tool_use_id":"c2"}`,
	`{"type":"tool_result","tool_use_id":"c1","content":[{"type":"tool_reference","tool_name":"x"},{"type":"text","text":"BIG"}]}`,
	`{"type":"tool_result","tool_use_id":"c1","content":[{"type":"image","source":{}},{"type":"text","text":"BIG"},{"text":"é","type":"text"}],"is_error":false}`,
	`{"is_error":true,"content":"BIG","tool_use_id":"c1","type":"tool_result","cache_control":{"type":"ephemeral"}}`,
	`{"type":"tool_result","tool_use_id":"c1","content":"BIG"}`, `{"type":"tool_result","tool_use_id":"c2","content":[{"type":"text","text":"BIG"}]}`,
}

func drawBig(t *rapid.T) string {
	line := rapid.SampledFrom([]string{"some_name = value_1\\n", "ligne é \\\"x\\\"\\n", "Error: no\\n", "x"}).Draw(t, "line")
	return strings.Repeat(line, rapid.IntRange(0, 200).Draw(t, "lines"))
}

func drawMessages(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
		return rapid.SampledFrom([]string{
			`{"role":"user","content":"q"}`, `{"content":[],"role":"user"}`, `{"role":"assistant"}`, `7`, `{"role":"system","content":"s"}`, `{"role":"user","content":null}`,
		}).Draw(t, "message")
	}
	blocks := rapid.SliceOfN(rapid.SampledFrom(messagesParts), 0, 5).Draw(t, "blocks")
	content := strings.ReplaceAll(strings.Join(blocks, ", "), "BIG", drawBig(t))
	if rapid.Bool().Draw(t, "order") {
		return `{"content":[` + content + `],"role":"` + rapid.SampledFrom([]string{"user", "assistant"}).Draw(t, "role") + `"}`
	}
	return `{"role":"` + rapid.SampledFrom([]string{"user", "user", "assistant"}).Draw(t, "role") + `", "content": [` + content + `]}`
}

// responsesItems are items as clients send them, and others.
var responsesItems = []string{
	`{"type":"message","role":"user","content":[{"type":"input_text","text":"q"}]}`, `{"role":"user","content":"q"}`, `{"role":"assistant","content":"a"}`,
	`{"type":"message","role":"developer","content":[{"type":"input_text","text":"q","prompt_cache_breakpoint":{}}]}`, `{"type":"additional_tools","tools":[]}`,
	`{"type":"reasoning","summary":[],"encrypted_content":"gAAA","id":"rs_1"}`, `{"type":"web_search_call","id":"w","status":"failed"}`, `7`, `{}`, `{"type":3}`,
	`{"type":"function_call","name":"exec","arguments":"{\"cmd\":\"ls\"}","call_id":"c1"}`, `{"call_id":"c2","input":"*** Begin","name":"apply_patch","type":"custom_tool_call"}`,
	`{"type":"local_shell_call","id":"l1","action":{"command":["ls"]}}`, `{"type":"local_shell_call_output","id":"l1","output":"BIG"}`,
	`{"type":"function_call_output","call_id":"c1","output":"BIG"}`, `{"output":"BIG","call_id":"c2","type":"custom_tool_call_output"}`,
	`{"type":"function_call_output","call_id":"c1","output":[{"type":"input_image","image_url":"data:"},{"type":"input_text","text":"BIG"}]}`,
	`{"type":"function_call_output","call_id":"c1","output":"Wall time: 1.2 seconds\nProcess exited with code 3\nOutput:\nBIG"}`,
	`{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"BIG","stderr":"e","outcome":{"type":"exit","exit_code":1}}]}`,
	`{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a","stderr":"BIG","outcome":{"type":"exit","exit_code":0}}],"max_output_length":9}`,
	`{"type":"apply_patch_call_output","call_id":"c1","status":"failed","output":"BIG"}`, `{"type":"mcp_call","id":"m","output":"BIG"}`,
	`{"type":"compaction","encrypted_content":"x"}`, `{"type":"item_reference","id":"x"}`, `{"type":"function_call_output","call_id":7}`,
}

func drawItem(t *rapid.T) string {
	return strings.ReplaceAll(rapid.SampledFrom(responsesItems).Draw(t, "item"), "BIG", drawBig(t))
}

// formatCase is a format as these tests use it.
type formatCase struct {
	format Format
	draw   func(t *rapid.T) string
	slow   func(body []byte) []seen
	body   func(items []string) []byte
}

var formatCases = []formatCase{
	{Messages, drawMessages, slowMessages, func(items []string) []byte {
		return []byte(`{"model":"claude-opus-5","system":[{"type":"text","text":"s"}],"messages":[` + strings.Join(items, ",") + `],"max_tokens":9}`)
	}},
	{Responses, drawItem, slowResponses, func(items []string) []byte {
		return []byte(`{"model":"gpt-5.6","instructions":"i","input":[` + strings.Join(items, ",") + `],"store":false}`)
	}},
}

func TestReadersFindWhatSlowOnesFind(t *testing.T) {
	for _, f := range formatCases {
		t.Run(f.format.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				items := rapid.SliceOfN(rapid.Custom(f.draw), 0, 20).Draw(rt, "items")
				agree(rt, f, f.body(items), f.body(items[:len(items)/2]))
			})
		})
	}
}

// agree compares the reader with the slow one, and with itself when it continues an earlier
// request.
func agree(t failer, f formatCase, body, before []byte) {
	t.Helper()
	c, err := f.format.Read(body)
	if err != nil {
		return
	}
	if got, want := seenBy(c), f.slow(body); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s is read as\n%+v, want\n%+v", body, got, want)
	}
	earlier, err := f.format.Read(before)
	if err != nil {
		return
	}
	on, err := f.format.ReadOn(body, func(list []byte) Known {
		same := 0
		for from := earlier.List(); same < min(len(from), len(list)) && from[same] == list[same]; same++ {
		}
		known := 0
		for known < len(earlier.Messages) && earlier.Messages[known].End() <= same {
			known++
		}
		return earlier.Known().First(known)
	})
	if err != nil || !reflect.DeepEqual(on, c) {
		t.Fatalf("after %s, %s is read as %+v, %v, alone as %+v", before, body, on, err, c)
	}
}

func FuzzMessages(f *testing.F)  { fuzzFormat(f, formatCases[0], messagesParts) }
func FuzzResponses(f *testing.F) { fuzzFormat(f, formatCases[1], responsesItems) }

func fuzzFormat(f *testing.F, fc formatCase, parts []string) {
	f.Helper()
	for _, part := range parts {
		item := part
		if fc.format == Messages {
			item = `{"role":"user","content":[` + part + `]}`
		}
		f.Add(fc.body([]string{item, item}))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if bytes.Contains(bytes.ToLower(body), []byte(`\ud`)) {
			return // the slow reader loses lone surrogates
		}
		agree(t, fc, body, body[:len(body)/2])
	})
}

// TestOnlyTextsOfResultsChange compares decoded documents: whatever is cut, everything else is the
// client's.
func TestOnlyTextsOfResultsChange(t *testing.T) {
	for _, f := range formatCases {
		t.Run(f.format.String(), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				body := f.body(rapid.SliceOfN(rapid.Custom(f.draw), 0, 40).Draw(rt, "items"))
				pruning := drawPruning(rt)
				pruning.Arguments = ArgumentsOff
				out, _ := (&sender{format: f.format, masking: drawSettings(rt), pruning: pruning}).send(rt, body)
				var a, b any
				if json.Unmarshal(body, &a) != nil || json.Unmarshal(out, &b) != nil {
					rt.Fatalf("%s became %s", body, out)
				}
				sameBut(rt, f.format, a, b, nil)
			})
		})
	}
}

var smallPruning = Pruning{Enabled: true, MinChars: 600, TargetChars: 300, MaxPruneRatio: 0.95, MinKeepLines: 1}

// sameBut compares two documents. Strings may differ if the path, outermost first, is a result's
// text.
func sameBut(t failer, format Format, a, b any, path []any) {
	t.Helper()
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			t.Fatalf("%v: %v became %v", path, a, b)
		}
		for name := range x {
			sameBut(t, format, x[name], y[name], append(slices.Clone(path), x, name))
		}
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			t.Fatalf("%v: %v became %v", path, a, b)
		}
		for i := range x {
			sameBut(t, format, x[i], y[i], path)
		}
	default:
		if !reflect.DeepEqual(a, b) && !isResultText(format, path) {
			t.Fatalf("%v: %v became %v", path, a, b)
		}
	}
}

// isResultText reports whether a path leads to the text of a result. A path has pairs of an object
// and the name of its member.
func isResultText(format Format, path []any) bool {
	var names []string
	var inside []map[string]any
	for i := 0; i+1 < len(path); i += 2 {
		inside, names = append(inside, path[i].(map[string]any)), append(names, path[i+1].(string))
	}
	switch way := strings.Join(names, "."); format {
	case Messages:
		if way != "messages.content.content" && way != "messages.content.content.text" {
			return false
		}
		return inside[1]["role"] == "user" && inside[2]["type"] == "tool_result" && (len(inside) == 3 || inside[3]["type"] == "text")
	default:
		kind, _ := inside[min(1, len(inside)-1)]["type"].(string)
		isResult := slices.Contains([]string{"input.output", "input.output.text", "input.output.stdout", "input.output.stderr"}, way)
		return isResult && strings.HasSuffix(kind, "_call_output")
	}
}

// sender does what a door does, in memory.
type sender struct {
	format  Format
	masking Settings
	pruning Pruning
	model   string
	store   map[Key][]byte
	frozen  map[Key]string
	forget  bool // the records are lost, but not the frozen bytes
}

func (s *sender) send(t failer, body []byte) ([]byte, *Plan) {
	t.Helper()
	if s.store == nil {
		s.store, s.frozen = map[Key][]byte{}, map[Key]string{}
	}
	c, err := s.format.Read(body)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	past := Past{Frozen: len(s.frozen) > 0, Engine: s.pruning.Engine()}
	for _, place := range c.Places() {
		if b, ok := s.store[place.Key]; ok && !s.forget {
			past.Record = new(Record)
			if err := past.Record.UnmarshalBinary(b); err != nil {
				t.Fatalf("record: %v", err)
			}
			break
		}
	}
	pruned, keys := map[int]string{}, map[int]Key{}
	for _, job := range c.Jobs(s.pruning, past) {
		text, ok := s.frozen[job.Key]
		if !ok && !job.Frozen {
			job.Sent = pruned
			text, ok = c.Prune(s.pruning, job, someID, nil)
		}
		if ok {
			pruned[job.Message], keys[job.Message] = text, job.Key
		}
	}
	read := 0.1
	prices := bill.Prices{Input: 1, CachedInput: &read}
	p := Decide(Input{
		Conversation: c, Model: s.model, Masking: s.masking, Past: past, Prices: prices, Pruned: pruned, Now: 1,
		ID: func(string) string { return someID },
	})
	for _, cut := range p.Cuts {
		if cut.Kind == Pruned {
			s.frozen[keys[cut.Message]] = cut.Text
		}
	}
	rec := p.Record(nil)
	b, err := rec.AppendBinary(nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	s.store[c.Key()] = b
	return p.Append(nil), p
}

// TestASentPrefixNeverChangesWhereThinkingIsBound grows conversations with thinking, moves marks,
// omits thinking and loses records. A form that was sent once is always used again.
func TestASentPrefixNeverChangesWhereThinkingIsBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := sender{format: Messages, masking: drawSettings(rt), pruning: drawPruning(rt), model: "claude-opus-5-5"}
		var items []string
		items = append(items, `{"role":"user","content":"find some_name"}`)
		before := map[int]string{} // replacement of each result
		for turn := range rapid.IntRange(1, 20).Draw(rt, "turns") {
			thought := ""
			if turn == 0 || rapid.IntRange(0, 3).Draw(rt, "thinks") > 0 {
				thought = fmt.Sprintf(`{"type":"thinking","thinking":"","signature":"s%d"},`, turn)
			}
			items = append(items, fmt.Sprintf(`{"role":"assistant","content":[%s{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"%d%s"}}]}`, thought, turn, turn, drawBig(rt)))
			items = append(items, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d","content":"%d %s"}]}`, turn, turn, drawBig(rt)))
			s.forget = rapid.IntRange(0, 4).Draw(rt, "forget") == 0
			out, plan := s.send(rt, formatCases[0].body(items))
			if plan.Masked() > 0 {
				rt.Fatalf("turn %d: %d results are masked", turn, plan.Masked())
			}
			c, err := Messages.Read(out)
			if err != nil {
				rt.Fatalf("%v", err)
			}
			for i := range c.Messages {
				if c.Messages[i].Role == Assistant {
					said := string(c.callRaw(i))
					if was, ok := before[-i]; ok && was != said {
						rt.Fatalf("turn %d: call %d went out as %q, before as %q", turn, i, said, was)
					}
					before[-i] = said
				}
			}
			for i, m := range slowMessages(out) {
				if m.Role != Tool {
					continue
				}
				if was, ok := before[i]; ok && was != m.Text {
					rt.Fatalf("turn %d: result %d went out as %q, before as %q", turn, i, m.Text, was)
				}
				before[i] = m.Text
			}
		}
	})
}
