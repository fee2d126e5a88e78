package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"secateur/test/llm"
)

// claude is a client of Messages that writes its requests by hand, so that every byte is chosen.
type claude struct {
	t        *testing.T
	url      string
	model    string
	header   http.Header
	system   string   // JSON
	tools    string   // JSON
	extra    string   // members of the request, each followed by a comma
	messages []string // JSON
	calls    []string // ids of the last answer's calls
}

func newClaude(t *testing.T, url, model string) *claude {
	t.Helper()
	return &claude{
		t: t, url: url, model: model, system: `[{"type":"text","text":"` + strings.Repeat("You read logs. ", 300) + `","cache_control":{"type":"ephemeral"}}]`,
		header:   http.Header{"X-Api-Key": {"sk-ant-client"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}, "X-Conversation": {t.Name()}},
		tools:    `[{"name":"read_file","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},{"name":"memory","input_schema":{"type":"object"}}]`,
		messages: []string{`{"role":"user","content":[{"type":"text","text":"Why does the build fail?"}]}`},
	}
}

// fork returns the same conversation, to be continued differently.
func (c *claude) fork() *claude {
	d := *c
	d.messages = append([]string(nil), c.messages...)
	d.calls = append([]string(nil), c.calls...)
	return &d
}

// body returns the request, with a marker at its end.
func (c *claude) body() string {
	last := len(c.messages) - 1
	marked := append([]string(nil), c.messages...)
	if i := strings.LastIndex(marked[last], "}]}"); i >= 0 {
		marked[last] = marked[last][:i] + `,"cache_control":{"type":"ephemeral"}}]}`
	}
	return fmt.Sprintf(`{"model":%q, %s"max_tokens":1000,"system":%s,"tools":%s,"messages":[%s]}`, c.model, c.extra, c.system, c.tools, strings.Join(marked, ", "))
}

func (c *claude) post(path, body string) answer {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.header.Clone()
	return answerTo(req)
}

// ask sends the conversation and adds the answer to it.
func (c *claude) ask() answer {
	c.t.Helper()
	a := c.post("/v1/messages?beta=true", c.body())
	if a.status != http.StatusOK {
		c.t.Fatalf("answered %d: %s", a.status, a.body)
	}
	var said struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal([]byte(a.body), &said); err != nil {
		c.t.Fatal(err)
	}
	c.messages = append(c.messages, `{"role":"assistant","content":`+string(said.Content)+`}`)
	var blocks []struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	}
	_ = json.Unmarshal(said.Content, &blocks)
	c.calls = nil
	for _, b := range blocks {
		if b.Type == "tool_use" {
			c.calls = append(c.calls, b.ID)
		}
	}
	return a
}

// results answers the calls, each with these members of a tool_result.
func (c *claude) results(members ...string) {
	c.t.Helper()
	if len(members) != len(c.calls) {
		c.t.Fatalf("%d results for %d calls", len(members), len(c.calls))
	}
	var blocks []string
	for i, m := range members {
		blocks = append(blocks, `{"type":"tool_result","tool_use_id":"`+c.calls[i]+`",`+m+`}`)
	}
	c.messages = append(c.messages, `{"role":"user","content":[`+strings.Join(blocks, ",")+`]}`)
}

// text is a result of text: a member "content".
func text(s string) string { b, _ := json.Marshal(s); return `"content":` + string(b) }

// bigLog is a log that is pruned, with the reason of a failure in it; each number gives another.
func bigLog(n int) string {
	var b strings.Builder
	for line := range 120 {
		if line == 40+n%50 {
			fmt.Fprintf(&b, "src/parser_%d.go:%d: undefined: tokenTable\n", n, line)
			continue
		}
		fmt.Fprintf(&b, "2026-03-01 10:%02d:%02d INFO step %d of run %d: compiled package_%d in %d ms\n", line/60, line%60, line, n, line*7%83, line*31%997)
	}
	return b.String()
}

// calling is a model that thinks, says something and makes that many calls each time.
func calling(calls int) llm.Script {
	return func(turn llm.Turn) llm.Reply {
		r := llm.Reply{Think: []string{"why does it fail?", ""}, Redacted: turn.Calls%4 == 2, Text: "I look for tokenTable."}
		for i := range calls {
			r.Calls = append(r.Calls, llm.Call{Name: "read_file", Input: fmt.Sprintf(`{"path":"build-%d.log"}`, turn.Calls+i)})
		}
		return r
	}
}

// changedIn returns how many results of the i-th request to Messages were sent changed; -1: the
// last request.
func (w *chatRig) changedIn(t *testing.T, path string, i int) int {
	t.Helper()
	sent, got := w.tap.Requests(path), w.tap.Arrived(path)
	if i < 0 {
		i += len(sent)
	}
	changes, err := llm.Compare(sent[i].Body, got[i].Body)
	if err != nil {
		t.Error(err)
	}
	return len(changes)
}
