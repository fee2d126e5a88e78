package aggregate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/cutting"
	"secateur/internal/llm/tokens"
)

// as introduces the client under a name.
func (c *pipeClient) as(t *testing.T, name string) {
	t.Helper()
	c.asks(t, "initialize", strings.Replace(helloT, `"name":"t"`, `"name":"`+name+`"`, 1))
}

// rows is a JSON object with an array of n records.
func rows(word string, n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":%d,"name":"%s row %d","kind":"row"}`, i, word, i*31))
	}
	return `{"rows":[` + strings.Join(all, ",") + `]}`
}

const rowsTools = `{"tools":[{"name":"free","inputSchema":{"type":"object"}},` +
	`{"name":"open","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"rows":{"type":"array","items":` +
	`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id","name"]}}},"required":["rows"]}},` +
	`{"name":"closed","inputSchema":{"type":"object"},"outputSchema":{"type":"object","additionalProperties":false,"properties":{"rows":{"type":"array","items":` +
	`{"type":"object","required":["id"],"additionalProperties":false}}}}}]}`

// Clients that hand their model structuredContent alone get that cut, if its schema allows it.
func TestStructuredContentIsCutForThoseWhoReadIt(t *testing.T) {
	for _, client := range []string{"claude-code", "codex-mcp-client", "Visual Studio Code", "t"} {
		t.Run(client, func(t *testing.T) {
			p := newPuppet(t, nature{ID: "a", Lists: map[string]json.RawMessage{"tools/list": json.RawMessage(rowsTools)}})
			var made []cutting.Made
			c := newPipeClient(t, doorOptions{
				puppets: []*puppet{p}, masker: goalMasker(t, 4000), target: 2000, repeats: true, cut: func(m cutting.Made) { made = append(made, m) },
			})
			c.as(t, client)
			c.asks(t, "tools/list", `{}`)
			for _, tool := range []string{"free", "open", "closed"} {
				made = nil
				value := rows(tool, 300)
				_, got := c.calls(t, p, `{"name":"a::`+tool+`"}`, textResult("text: "+value, `,"structuredContent":`+value))
				var left struct {
					Rows []struct {
						ID *int `json:"id"`
					} `json:"rows"`
				}
				if err := json.Unmarshal(got.StructuredContent, &left); err != nil {
					t.Fatalf("%s: %v in %s", tool, err, got.StructuredContent)
				}
				isWhole := string(got.StructuredContent) == value
				if client == "t" {
					if !isWhole || len(made) != 1 || strings.Contains(got.Content[0].Text, "row 9269") {
						t.Errorf("%s: who reads the text gets %d characters, booked %d", tool, len(got.Content[0].Text), len(made))
					}
					continue
				}
				if isWhole != (tool == "closed") || isWhole == strings.Contains(string(got.StructuredContent), "⟦PRUNED items ") {
					t.Errorf("%s: %s", tool, got.StructuredContent)
				}
				if isWhole {
					if got.Content[0].Text != "text: "+value || len(made) != 0 || got.Meta != nil {
						t.Errorf("%s: the text is cut, or booked: %+v", tool, made)
					}
					continue
				}
				if len(made) != 1 || made[0].Chars != len(value) || made[0].Kept >= made[0].Chars {
					t.Errorf("%s: booked is %+v", tool, made)
				}
				for _, row := range left.Rows {
					if tool == "open" && row.ID == nil {
						t.Errorf("a row does not fit its schema: %s", got.StructuredContent)
					}
				}
			}
		})
	}
}

func TestAResultThatIsStructuredOnlyIsCut(t *testing.T) {
	p := newPuppet(t, nature{ID: "a", Lists: map[string]json.RawMessage{"tools/list": json.RawMessage(rowsTools)}})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: goalMasker(t, 4000), target: 2000, repeats: true})
	c.as(t, "t")
	c.asks(t, "tools/list", `{}`)
	for _, tool := range []string{"open", "closed"} {
		_, got := c.calls(t, p, `{"name":"a::`+tool+`"}`, `{"content":[],"structuredContent":`+rows(tool, 300)+`}`)
		if isWhole := len(got.StructuredContent) == len(rows(tool, 300)); isWhole != (tool == "closed") {
			t.Errorf("%s: %s", tool, got.StructuredContent)
		}
	}
}

// A text that structuredContent says again is one cut, with the tokens of the text.
func TestWhatIsSaidTwiceIsBookedOnce(t *testing.T) {
	p := newPuppet(t, nature{ID: "a"})
	var made []cutting.Made
	c := newPipeClient(t, doorOptions{
		puppets: []*puppet{p}, masker: goalMasker(t, 4000), target: 2000, repeats: true, cut: func(m cutting.Made) { made = append(made, m) },
	})
	c.as(t, "t")
	again, _ := json.Marshal(map[string]string{"content": pages()})
	_, got := c.calls(t, p, `{"name":"a::t"}`, textResult(pages(), `,"structuredContent":`+string(again)))
	if strings.Contains(string(got.StructuredContent), "Section 17:") && strings.Contains(string(got.StructuredContent), "Section 141:") {
		t.Errorf("structuredContent is whole: %s", got.StructuredContent)
	}
	if most := tokens.Sample(pages(), tokens.Logs); len(made) != 1 || made[0].Tokens <= 0 || made[0].Tokens > most {
		t.Errorf("booked %+v of a text with %d tokens", made, most)
	}
	if about := got.Meta["secateur/cut"]; about.Original != len(pages()) {
		t.Errorf("_meta says %+v", about)
	}
}

func TestWhoCannotRecoverIsNotCut(t *testing.T) {
	rules, err := access.NewRules([]access.Rule{{Server: access.Globs{"pruner"}, Action: access.ActionDeny}}, false)
	if err != nil {
		t.Fatal(err)
	}
	control, err := admission.New(admission.Options{Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	for rule, o := range map[string]doorOptions{"no pruner": {noRecovery: true}, "a rule denies it": {control: control}} {
		p := newPuppet(t, nature{ID: "a", Lists: map[string]json.RawMessage{"tools/list": json.RawMessage(rowsTools)}})
		o.puppets, o.masker, o.target = []*puppet{p}, goalMasker(t, 4000), 2000
		c := newPipeClient(t, o)
		hello := c.asks(t, "initialize", helloT)
		if _, got := c.calls(t, p, `{"name":"a::free"}`, textResult(pages(), "")); got.Content[0].Text != pages() {
			t.Errorf("%s: cut to %d characters", rule, len(got.Content[0].Text))
		}
		if strings.Contains(hello, "shortened") {
			t.Errorf("%s: instructions speak of cuts: %s", rule, hello)
		}
	}
}

// max_chars bounds all texts of a result together; the longest go first.
func TestManyTextsAreBoundedTogether(t *testing.T) {
	p := newPuppet(t, nature{ID: "a"})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: goalMasker(t, 20_000), target: 8000})
	c.as(t, "t")
	blocks := []string{`{"type":"text","text":"short"}`}
	for i := range 50 {
		text, _ := json.Marshal(strings.ReplaceAll(pages()+pages()[:5000], "Section", fmt.Sprint("Part ", i)))
		blocks = append(blocks, `{"type":"text","text":`+string(text)+`}`)
	}
	_, got := c.calls(t, p, `{"name":"a::t"}`, `{"content":[`+strings.Join(blocks, ",")+`]}`)
	size := 0
	for _, block := range got.Content {
		size += len(block.Text)
	}
	if len(got.Content) != 51 || got.Content[0].Text != "short" || size > 90_000 || size < 20_000 {
		t.Errorf("%d texts of %d characters are left", len(got.Content), size)
	}
}

// Codex passes on 12 000 bytes of a result: its beginning and end. All markers have to be there.
func TestWhatCodexPassesOnHasTheMarkers(t *testing.T) {
	p := newPuppet(t, nature{ID: "a"})
	c := newPipeClient(t, doorOptions{puppets: []*puppet{p}, masker: goalMasker(t, 10_000), target: 8000})
	c.as(t, "codex-mcp-client")
	long := ""
	for i := range 10 {
		long += strings.ReplaceAll(pages(), "Section", fmt.Sprint("Part ", i))
	}
	_, got := c.calls(t, p, `{"name":"a::t"}`, textResult(long, ""))
	if sent, _ := json.Marshal(got.Content); len(sent) > 12_000 || !strings.Contains(string(sent), "id=prn_") {
		t.Errorf("%d bytes are left of %d", len(sent), len(long))
	}
}
