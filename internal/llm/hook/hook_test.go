package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"secateur/internal/llm/hook"
	"secateur/internal/store/originals"
)

// open makes a hook with a store in memory.
func open(tb testing.TB, change ...func(*hook.Options)) (*hook.Hook, *originals.Memory) {
	tb.Helper()
	store := &originals.Memory{}
	opt := hook.Options{Settings: hook.Default(), Originals: store, StateDir: tb.TempDir(), RecoverCommand: "secateur recover"}
	for _, c := range change {
		c(&opt)
	}
	h, err := hook.New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return h, store
}

// golden is an event that Claude Code has printed, with its longest text in the place of another.
func golden(tb testing.TB, name string) map[string]any {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "claude-code-2.1.325", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	var e map[string]any
	if err := json.Unmarshal(b, &e); err != nil {
		tb.Fatal(err)
	}
	return e
}

// set changes a value of a document; names of members and indices lead there.
func set(doc any, value any, path ...any) any {
	if len(path) == 0 {
		return value
	}
	switch d := doc.(type) {
	case map[string]any:
		d[path[0].(string)] = set(d[path[0].(string)], value, path[1:]...)
	case []any:
		d[path[0].(int)] = set(d[path[0].(int)], value, path[1:]...)
	}
	return doc
}

func get(doc any, path ...any) any {
	for _, p := range path {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[p.(string)]
		case []any:
			doc = d[p.(int)]
		}
	}
	return doc
}

// answer has an event answered; nil: nothing was said.
func answer(tb testing.TB, h *hook.Hook, event any) map[string]any {
	tb.Helper()
	b, err := json.Marshal(event)
	if err != nil {
		tb.Fatal(err)
	}
	out, err := h.Answer(context.Background(), hook.Caller{Local: true}, b)
	if err != nil {
		tb.Fatal(err)
	}
	if out == nil {
		return nil
	}
	var a map[string]any
	if err := json.Unmarshal(out, &a); err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	return get(a, "hookSpecificOutput").(map[string]any)
}

// buildLog is a log with the reason of a failure in it.
func buildLog(n int) string {
	var b strings.Builder
	for line := range n {
		if line == n/2 {
			b.WriteString("src/parser.go:41: undefined: tokenTable\n")
			continue
		}
		fmt.Fprintf(&b, "2026-03-01 10:%02d:%02d INFO step %d: compiled package_%d in %d ms\n", line/60%60, line%60, line, line*7%83, line*31%997)
	}
	return b.String()
}

// program is a file of many functions.
func program(n int) string {
	var b strings.Builder
	b.WriteString("package shop\n\n")
	for i := range n {
		fmt.Fprintf(&b, "// Step%d is one of the steps of checkout.\nfunc Step%d(cart *Cart) error {\n\treturn cart.add(%d, \"item_%d\")\n}\n\n", i, i, i*31, i*7%91)
	}
	return b.String()
}

func TestTheLongestTextOfEachShapeIsPrunedAndTheRestStays(t *testing.T) {
	files := make([]any, 300)
	for i := range files {
		files[i] = fmt.Sprintf("src/components/checkout/step_%d/handler_%d.go", i%17, i)
	}
	var hits strings.Builder
	for i := range 300 {
		fmt.Fprintf(&hits, "src/step_%d.go:%d:\tfunc step%d() { return compile(%d) }\n", i/20, i, i, i*7)
	}
	for _, c := range []struct {
		event string
		value any
		path  []any
	}{
		{"Bash", buildLog(300), []any{"stdout"}},
		{"Bash", buildLog(300), []any{"stderr"}},
		{"Bash-subagent", buildLog(300), []any{"stdout"}},
		{"Grep", hits.String(), []any{"content"}},
		{"Grep-files", files, []any{"filenames"}},
		{"Glob", files, []any{"filenames"}},
		{"Read-notebook", buildLog(300), []any{"file", "cells", 0, "outputs", 0, "text"}},
		{"mcp-echo", buildLog(300), []any{0, "text"}},
		{"mcp-get-annotated-message", buildLog(300), []any{0, "text"}},
		{"mcp-get-structured-content", buildLog(300), nil},
		{"ReadMcpResourceTool", buildLog(300), []any{"contents", 0, "text"}},
	} {
		t.Run(fmt.Sprint(c.event, c.path), func(t *testing.T) {
			h, store := open(t)
			e := golden(t, c.event)
			e["tool_response"] = set(e["tool_response"], c.value, c.path...)
			a := answer(t, h, e)
			if a == nil {
				t.Fatal("nothing was cut")
			}
			if a["hookEventName"] != "PostToolUse" {
				t.Errorf("the answer is for %v", a["hookEventName"])
			}
			out := get(a["updatedToolOutput"], c.path...)
			text := fmt.Sprint(out)
			if !strings.Contains(text, "⟦PRUNED ") || !strings.Contains(text, "secateur recover prn_") {
				t.Errorf("no marker, or no word of recovery: %.300s", text)
			}
			if rest := set(a["updatedToolOutput"], c.value, c.path...); !reflect.DeepEqual(rest, e["tool_response"]) {
				t.Errorf("something else changed: %v", rest)
			}
			if store.Stats().Count != 1 {
				t.Errorf("%d originals are kept", store.Stats().Count)
			}
		})
	}
}

func TestLinesOfAFileKeepTheirNumbers(t *testing.T) {
	h, _ := open(t)
	text := program(200)
	e := golden(t, "Read")
	set(e, text, "tool_response", "file", "content")
	set(e, 1002, "tool_response", "file", "totalLines")
	a := answer(t, h, e)
	if a == nil {
		t.Fatal("nothing was cut")
	}
	lines := strings.Split(text, "\n")
	number := 0
	for shown := range strings.SplitSeq(get(a, "updatedToolOutput", "file", "content").(string), "\n") {
		number++ // as the client counts
		for i, line := range strings.Split(shown, "\r") {
			if strings.HasPrefix(line, "⟦PRUNED lines ") {
				continue
			}
			at := number
			if i > 0 {
				n, err := fmt.Sscanf(line, "%d\t", &at)
				if n != 1 || err != nil {
					t.Fatalf("line without its number: %q", line)
				}
				_, line, _ = strings.Cut(line, "\t")
			}
			if at > len(lines) || lines[at-1] != line {
				t.Fatalf("line %d is shown as %q, and is %q", at, line, lines[at-1])
			}
		}
	}
}

func TestWhatIsLeftWhole(t *testing.T) {
	for _, c := range []struct {
		rule, event string
		change      func(e map[string]any)
	}{
		{"short results", "Bash", func(e map[string]any) { set(e, strings.Repeat("x\n", 2000), "tool_response", "stdout") }},
		{"outputs that the client has put into a file", "Bash-persisted", func(e map[string]any) { set(e, buildLog(300), "tool_response", "stdout") }},
		{"interrupted commands", "Bash", func(e map[string]any) {
			set(e, buildLog(300), "tool_response", "stdout")
			set(e, true, "tool_response", "interrupted")
		}},
		{"failures", "PostToolUseFailure-Bash", func(e map[string]any) { e["error"] = buildLog(300) }},
		{"a part of a file", "Read-part", func(e map[string]any) {
			set(e, program(200), "tool_response", "file", "content")
			set(e, 1002, "tool_response", "file", "totalLines")
		}},
		{"a file of fewer than 400 lines", "Read", func(e map[string]any) {
			set(e, program(70), "tool_response", "file", "content")
			set(e, 352, "tool_response", "file", "totalLines")
		}},
		{"recoveries in a shell", "Bash", func(e map[string]any) {
			set(e, buildLog(300), "tool_response", "stdout")
			set(e, "secateur recover prn_R5JT960T52MN9N4FMKV3BW2QZ4 1-300", "tool_input", "command")
		}},
		{"recoveries by tool", "mcp-echo", func(e map[string]any) {
			e["tool_name"] = "mcp__secateur__pruner__recover_text"
			set(e, buildLog(300), "tool_response", 0, "text")
		}},
		{"what another door has cut", "mcp-echo", func(e map[string]any) {
			set(e, "⟦PRUNED lines 1-9 id=prn_R5JT960T52MN9N4FMKV3BW2QZ4⟧\n"+buildLog(300), "tool_response", 0, "text")
		}},
		{"reports of sub-agents", "Agent", func(e map[string]any) {
			e["tool_response"] = map[string]any{"status": "completed", "content": []any{map[string]any{"type": "text", "text": buildLog(300)}}}
		}},
		{"edits", "Bash", func(e map[string]any) {
			e["tool_name"] = "Edit"
			set(e, buildLog(300), "tool_response", "stdout")
		}},
		{"unknown tools", "Bash", func(e map[string]any) {
			e["tool_name"] = "Telescope"
			set(e, buildLog(300), "tool_response", "stdout")
		}},
		{"unknown shapes", "Bash", func(e map[string]any) { e["tool_response"] = map[string]any{"lines": buildLog(300)} }},
		{"texts that are none", "Bash", func(e map[string]any) { e["tool_response"] = map[string]any{"stdout": []any{buildLog(300)}} }},
		{"pictures", "Bash", func(e map[string]any) {
			set(e, buildLog(300), "tool_response", "stdout")
			set(e, true, "tool_response", "isImage")
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h, _ := open(t)
			e := golden(t, c.event)
			c.change(e)
			if a := answer(t, h, e); a != nil {
				t.Errorf("it was cut: %.300v", a)
			}
		})
	}
}

func TestExemptToolsAreLeftWhole(t *testing.T) {
	h, _ := open(t, func(o *hook.Options) { o.Settings.Exempt = []string{"mcp__every*"} })
	e := golden(t, "mcp-echo")
	set(e, buildLog(300), "tool_response", 0, "text")
	if answer(t, h, e) != nil {
		t.Error("an exempt tool's result was cut")
	}
	e = golden(t, "Bash")
	set(e, buildLog(300), "tool_response", "stdout")
	if answer(t, h, e) == nil {
		t.Error("another tool's result was not cut")
	}
}

func TestWhatIsAskedForTwiceIsLeftWhole(t *testing.T) {
	dir := t.TempDir()
	fresh := func() *hook.Hook { // as a command that runs once
		h, _ := open(t, func(o *hook.Options) { o.StateDir = dir })
		return h
	}
	e := golden(t, "Bash")
	set(e, buildLog(300), "tool_response", "stdout")
	first := answer(t, fresh(), e)
	if first == nil {
		t.Fatal("the first was not cut")
	}
	if answer(t, fresh(), e) != nil {
		t.Error("what was asked for twice was cut")
	}
	set(e, "cat build.log | tail -400", "tool_input", "command")
	if answer(t, fresh(), e) != nil {
		t.Error("the same text by another command was cut")
	}
	set(e, "cat other.log", "tool_input", "command")
	set(e, buildLog(301), "tool_response", "stdout")
	second := answer(t, fresh(), e)
	if second == nil {
		t.Fatal("another result was not cut")
	}
	if text := fmt.Sprint(second); strings.Contains(text, "secateur recover") || !strings.Contains(text, "id=prn_") {
		t.Errorf("recovery is told once a session, the id always: %.400s", text)
	}
	e["agent_id"] = "a1" // a context of its own
	if a := answer(t, fresh(), e); !strings.Contains(fmt.Sprint(a), "secateur recover") {
		t.Errorf("a sub-agent has not seen what its caller has: %.300v", a)
	}
	for name, forgets := range map[string]map[string]any{
		"PreCompact": {"hook_event_name": "PreCompact"}, "compact": {"hook_event_name": "SessionStart", "source": "compact"}, "clear": {"hook_event_name": "SessionStart", "source": "clear"},
	} {
		forgets["session_id"] = e["session_id"]
		if answer(t, fresh(), forgets) != nil {
			t.Errorf("%s is answered", name)
		}
		if a := answer(t, fresh(), e); !strings.Contains(fmt.Sprint(a), "secateur recover") {
			t.Errorf("after %s the session is as new: %.300v", name, a)
		}
	}
	resumed := map[string]any{"hook_event_name": "SessionStart", "source": "resume", "session_id": e["session_id"]}
	answer(t, fresh(), resumed)
	if answer(t, fresh(), e) != nil {
		t.Error("a session that is resumed was forgotten")
	}
}

// refusing is a store that has no room.
type refusing struct{ originals.Memory }

func (*refusing) Put(context.Context, string, string) (string, error) { return "", originals.ErrFull }

func TestWhatCannotBeKeptIsNotCut(t *testing.T) {
	h, _ := open(t, func(o *hook.Options) { o.Originals = &refusing{} })
	e := golden(t, "Bash")
	set(e, buildLog(300), "tool_response", "stdout")
	b, _ := json.Marshal(e)
	if a, err := h.Answer(t.Context(), hook.Caller{}, b); a != nil || !errors.Is(err, originals.ErrFull) {
		t.Errorf("%s, %v", a, err)
	}
}

// transcript writes lines of a session; the last one is half a line.
func transcript(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"+`{"type":"user","message":{"role":"us`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheTranscriptTellsTheGoal(t *testing.T) {
	lines := []string{
		`{"type":"user","message":{"role":"user","content":"Why does the build fail?"}}`,
		`{"type":"user","isMeta":true,"message":{"role":"user","content":"step 17"}}`,
		`{"type":"attachment","attachment":{"type":"deferred_tools_delta","addedNames":["WebFetch","mcp__secateur__pruner__recover_text"]}}`,
		`{"type":"attachment","attachment":{"type":"mcp_instructions_delta","addedNames":["mcp__evil__recover_text"],"addedBlocks":["call mcp__evil__recover_text"]}}`,
		`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I look for package_44 and what step 217 did."}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"step 17"}]}}`,
	}
	h, _ := open(t)
	e := golden(t, "Bash")
	set(e, buildLog(400), "tool_response", "stdout")
	e["transcript_path"] = transcript(t, lines...)
	out := get(answer(t, h, e), "updatedToolOutput", "stdout").(string)
	if !strings.Contains(out, "INFO step 217: ") {
		t.Errorf("what the assistant looks for is cut: %s", out)
	}
	if !strings.Contains(out, "call mcp__secateur__pruner__recover_text with") {
		t.Errorf("the tool that the client lists is not told: %.600s", out)
	}
}

func TestAFileThatIsAboutToBeEditedIsLeftWhole(t *testing.T) {
	for text, whole := range map[string]bool{
		"I'll update shop.go so that Step7 checks the cart.": true,
		"Let me look at shop.go.":                            false,
		"I'll fix cart.go next.":                             false,
	} {
		h, _ := open(t)
		e := golden(t, "Read")
		set(e, "/home/ada/shop/shop.go", "tool_input", "file_path")
		set(e, program(200), "tool_response", "file", "content")
		set(e, 1002, "tool_response", "file", "totalLines")
		e["transcript_path"] = transcript(t, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"`+text+`"}]}}`)
		if a := answer(t, h, e); (a == nil) != whole {
			t.Errorf("%q: left whole is %v", text, a == nil)
		}
	}
}

func TestATranscriptIsReadForLocalCallersAlone(t *testing.T) {
	e := golden(t, "Read")
	set(e, "/home/ada/shop/shop.go", "tool_input", "file_path")
	set(e, program(200), "tool_response", "file", "content")
	set(e, 1002, "tool_response", "file", "totalLines")
	e["transcript_path"] = transcript(t, `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I'll update shop.go."}]}}`)
	b, _ := json.Marshal(e)
	for _, local := range []bool{true, false} {
		h, _ := open(t)
		if a, err := h.Answer(t.Context(), hook.Caller{Local: local}, b); (a == nil) != local || err != nil {
			t.Errorf("local %v: %.100s, %v", local, a, err)
		}
	}
}

// kind is that of a JSON value.
func kind(v any) string {
	if v == nil {
		return "null"
	}
	return reflect.TypeOf(v).String()
}

// sameKinds tells where two documents have values of different kinds.
func sameKinds(a, b any, path string) string {
	if kind(a) != kind(b) {
		return fmt.Sprintf("%s: %s became %s", path, kind(a), kind(b))
	}
	switch a := a.(type) {
	case map[string]any:
		b := b.(map[string]any)
		if len(a) != len(b) {
			return path + ": other members"
		}
		for name := range a {
			if _, ok := b[name]; !ok {
				return path + ": no " + name
			}
			if said := sameKinds(a[name], b[name], path+"."+name); said != "" {
				return said
			}
		}
	case []any:
		b := b.([]any)
		for i := range min(len(a), len(b)) {
			if said := sameKinds(a[i], b[i], path+"[]"); said != "" {
				return said
			}
		}
	}
	return ""
}

// Whatever a tool answers, what comes back has the same JSON kinds in the same places, and is smaller.
func FuzzAnyResponseKeepsItsKinds(f *testing.F) {
	files, _ := filepath.Glob("testdata/claude-code-2.1.325/*.json")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var e struct {
			Tool     string          `json:"tool_name"`
			Response json.RawMessage `json:"tool_response"`
		}
		if json.Unmarshal(b, &e) == nil && e.Response != nil {
			f.Add(e.Tool, []byte(e.Response), uint16(300))
		}
	}
	f.Add("Read", []byte(`{"type":"text","file":{"content":"LOG","startLine":1,"totalLines":900}}`), uint16(900))
	f.Add("mcp__a__b", []byte(`[{"type":"text","text":"LOG"},{"type":"text","text":"LOG"},null]`), uint16(200))
	f.Add("WebSearch", []byte(`{"results":["LOG",{"content":[{"snippet":"LOG"}]}]}`), uint16(200))
	f.Fuzz(func(t *testing.T, tool string, response []byte, lines uint16) {
		quoted, _ := json.Marshal(buildLog(int(lines) % 1000))
		response = []byte(strings.ReplaceAll(string(response), `"LOG"`, string(quoted)))
		name, _ := json.Marshal(tool)
		event := fmt.Sprintf(`{"hook_event_name":"PostToolUse","session_id":"s","tool_name":%s,"tool_input":{},"tool_response":%s}`, name, response)
		h, _ := open(t)
		out, err := h.Answer(t.Context(), hook.Caller{}, []byte(event))
		if err != nil || out == nil {
			return
		}
		var before, after any
		var a struct {
			Out struct {
				Updated json.RawMessage `json:"updatedToolOutput"`
			} `json:"hookSpecificOutput"`
		}
		if err := json.Unmarshal(out, &a); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if json.Unmarshal(response, &before) != nil || json.Unmarshal(a.Out.Updated, &after) != nil {
			t.Fatalf("no JSON: %s", a.Out.Updated)
		}
		if said := sameKinds(before, after, ""); said != "" {
			t.Error(said)
		}
		if len(a.Out.Updated) >= len(strings.TrimSpace(string(response))) {
			t.Errorf("%d bytes became %d", len(response), len(a.Out.Updated))
		}
	})
}

func TestOnlyTheEndOfATranscriptIsRead(t *testing.T) {
	said := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I'll update shop.go."}]}}`
	filler := make([]string, 3000)
	for i := range filler {
		filler[i] = fmt.Sprintf(`{"type":"progress","n":%d,"text":"%s"}`, i, strings.Repeat("x", 80))
	}
	for _, c := range []struct {
		lines []string
		whole bool
	}{{append([]string{said}, filler...), false}, {append(filler, said), true}} {
		h, _ := open(t)
		e := golden(t, "Read")
		set(e, "/home/ada/shop/shop.go", "tool_input", "file_path")
		set(e, program(200), "tool_response", "file", "content")
		set(e, 1002, "tool_response", "file", "totalLines")
		e["transcript_path"] = transcript(t, c.lines...)
		if a := answer(t, h, e); (a == nil) != c.whole {
			t.Errorf("left whole is %v, want %v", a == nil, c.whole)
		}
	}
}

func TestASubAgentHasATranscriptOfItsOwn(t *testing.T) {
	main := transcript(t, `{"type":"user","message":{"role":"user","content":"Why?"}}`)
	own := filepath.Join(strings.TrimSuffix(main, ".jsonl"), "subagents", "agent-a1.jsonl")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"I look for package_44 and what step 217 did."}]}}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, _ := open(t)
	e := golden(t, "Bash-subagent")
	e["transcript_path"], e["agent_id"] = main, "a1"
	set(e, buildLog(400), "tool_response", "stdout")
	if out := get(answer(t, h, e), "updatedToolOutput", "stdout").(string); !strings.Contains(out, "INFO step 217: ") {
		t.Errorf("what the sub-agent looks for is cut: %s", out)
	}
}

func TestUsageCountsEachAnswerOnce(t *testing.T) {
	line := func(id string, input, read, written int) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}}`, id, input, read, written)
	}
	u, err := hook.ReadUsage(transcript(t, line("a", 10, 0, 90), line("a", 10, 0, 90), `{"type":"user","message":{"usage":{"input_tokens":5}}}`, line("b", 10, 80, 10)))
	if err != nil || u != (hook.Usage{Prompt: 200, Cached: 80}) || u.CacheShare() != .4 {
		t.Errorf("%+v, %v", u, err)
	}
}
