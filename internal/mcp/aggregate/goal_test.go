package aggregate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/cut/mask"
)

// goalMasker finds texts of more than so many characters.
func goalMasker(t *testing.T, most int) *mask.Masker {
	t.Helper()
	set := mask.Default()
	set.MaxChars, set.HeadChars, set.TailChars = most, 0, 0
	masker, err := mask.New(set)
	if err != nil {
		t.Fatal(err)
	}
	return masker
}

// pages is a text of many lines, each about something else.
func pages() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "Section %d: topic%d explains detail number %d of the whole matter.\n", i, i, i*37)
	}
	return b.String()
}

// toolResult is what a call of a tool gives.
type toolResult struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
	StructuredContent json.RawMessage `json:"structuredContent"`
	Meta              map[string]struct {
		IDs      []string `json:"ids"`
		Original int      `json:"original_chars"`
		Kept     int      `json:"kept_chars"`
		Goal     string   `json:"goal"`
	} `json:"_meta"`
}

// calls has the client call a tool and the server answer with a result. It returns what the server was sent and what the client gets.
func (c *pipeClient) calls(t *testing.T, p *puppet, params, result string) (string, toolResult) {
	t.Helper()
	c.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`)
	asked := p.hears(t)
	p.say(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, asked.ID, result))
	var answer struct {
		Result toolResult `json:"result"`
	}
	if err := json.Unmarshal([]byte(c.hears(t)), &answer); err != nil {
		t.Fatal(err)
	}
	return string(asked.Params), answer.Result
}

func textResult(text, more string) string {
	quoted, _ := json.Marshal(text)
	return `{"content":[{"type":"text","text":` + string(quoted) + `}]` + more + `}`
}

func TestLongTextsArePrunedForTheGoalOfTheirCall(t *testing.T) {
	p := newPuppet(t, nature{ID: "a"})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: goalMasker(t, 4000), target: 2000, repeats: true})
	c.asks(t, "initialize", helloT)
	text := pages()
	_, got := c.calls(t, p, `{"name":"a::t","arguments":{"query":"topic123"}}`, textResult(text, ""))
	out := got.Content[0].Text
	if len(out) > 7*len(text)/10 || !strings.Contains(out, "topic123 explains") || !strings.Contains(out, "⟦PRUNED lines ") {
		t.Errorf("%d of %d characters are left: %s", len(out), len(text), out)
	}
	about := got.Meta["secateur/cut"]
	if len(about.IDs) != 1 || !strings.Contains(out, "id="+about.IDs[0]) || about.Original != len(text) || about.Kept < 100 || about.Goal != "call" {
		t.Errorf("_meta says %+v", about)
	}
	if _, again := c.calls(t, p, `{"name":"a::t","arguments":{"query":"other"}}`, textResult(text, "")); again.Content[0].Text != text {
		t.Error("the same text is cut again in the session")
	}
	other := strings.ReplaceAll(text, "Section", "Chapter")
	if _, next := c.calls(t, p, `{"name":"a::t","arguments":{}}`, textResult(other, "")); !strings.Contains(next.Content[0].Text, "topic123 explains") {
		t.Error("calls before are no part of the goal")
	}
	if _, failed := c.calls(t, p, `{"name":"a::t"}`, textResult("x"+text, `,"isError":true`)); failed.Content[0].Text != "x"+text {
		t.Error("an error is cut")
	}
	if _, failed := c.calls(t, p, `{"name":"a::t"}`, textResult("y"+strings.Repeat(text, 3), `,"isError":true`)); len(failed.Content[0].Text) > 30_000 {
		t.Error("a huge error is not cut")
	}
}

func TestStructuredContentFollowsTheTextThatItRepeats(t *testing.T) {
	lists := map[string]json.RawMessage{"tools/list": json.RawMessage(
		`{"tools":[{"name":"free","inputSchema":{"type":"object"}},{"name":"bound","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}]}`)}
	p := newPuppet(t, nature{ID: "a", Lists: lists})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: goalMasker(t, 4000), target: 2000, repeats: true})
	c.asks(t, "initialize", helloT)
	c.asks(t, "tools/list", `{}`)
	for _, tool := range []string{"free", "bound"} {
		var rows []map[string]any
		for i := range 300 {
			rows = append(rows, map[string]any{"id": i, "name": fmt.Sprintf("%s row %d", tool, i*31), "kind": "row"})
		}
		value, _ := json.Marshal(map[string]any{"rows": rows})
		pretty, _ := json.MarshalIndent(map[string]any{"rows": rows}, "", "  ")
		_, got := c.calls(t, p, `{"name":"a::`+tool+`"}`, textResult(string(pretty), `,"structuredContent":`+string(value)))
		if text := got.Content[0].Text; !json.Valid([]byte(text)) || !strings.Contains(text, "⟦PRUNED ") {
			t.Errorf("%s: the text is %s", tool, text)
		}
		same := string(got.StructuredContent) == got.Content[0].Text
		if whole := string(got.StructuredContent) == string(value); same != (tool == "free") || whole != (tool == "bound") {
			t.Errorf("%s: structuredContent is %s", tool, got.StructuredContent)
		}
	}
}

func TestTheFocusIsOursAlone(t *testing.T) {
	lists := map[string]json.RawMessage{"tools/list": json.RawMessage(
		`{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}},` +
			`{"name":"own","inputSchema":{"type":"object","properties":{"secateur_focus":{"type":"number"}}}},` +
			`{"name":"closed","inputSchema":{"type":"object","properties":{},"additionalProperties":false}}]}`)}
	p := newPuppet(t, nature{ID: "a", Lists: lists, Focus: true})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: goalMasker(t, 4000), target: 2000})
	c.asks(t, "initialize", helloT)
	want := `"properties":{"q":{"type":"string"},"secateur_focus":{"type":"string","description":"What you look for in the result; longer results are pruned for it."}}`
	if got := c.asks(t, "tools/list", `{}`); !strings.Contains(got, want) || strings.Count(got, "secateur_focus") != 2 {
		t.Errorf("tools: %s", got)
	}
	sent, got := c.calls(t, p, `{"name":"a::t","arguments":{"q":"x","secateur_focus":"topic77"}}`, textResult(pages(), ""))
	if sent != `{"name":"t","arguments":{"q":"x"}}` {
		t.Errorf("the server gets %s", sent)
	}
	if !strings.Contains(got.Content[0].Text, "topic77 explains") || got.Meta["secateur/cut"].Goal != "focus" {
		t.Errorf("left is %s, %+v", got.Content[0].Text, got.Meta)
	}
	if sent, _ := c.calls(t, p, `{"name":"a::own","arguments":{"secateur_focus":7}}`, `{"content":[]}`); sent != `{"name":"own","arguments":{"secateur_focus":7}}` {
		t.Errorf("a tool that has the argument itself gets %s", sent)
	}
}
