package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// talk is a client of Messages that plays an agent's loop: each call gets a result.
type talk struct {
	t        *testing.T
	p        *Provider
	now      time.Time
	model    string
	header   http.Header
	messages []map[string]any
	marks    []int // messages whose last block is marked; nil: the last one
	ttl      string
	extra    map[string]any // further fields of the request
}

func newTalk(t *testing.T, model string) *talk {
	t.Helper()
	k := &talk{t: t, model: model, now: time.Unix(1_800_000_000, 0)}
	k.p = &Provider{Now: func() time.Time { return k.now }, Say: func(turn Turn) Reply {
		return Reply{Think: []string{"so", "and so"}, Text: "next", Calls: []Call{{Name: "read", Input: fmt.Sprintf(`{"n":%d}`, turn.Calls)}}}
	}}
	k.header = http.Header{"X-Api-Key": {"sk-ant-x"}, "Anthropic-Version": {"2023-06-01"}}
	k.messages = []map[string]any{{"role": "user", "content": []any{text("go")}}}
	return k
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

// prose makes a text of that many tokens.
func prose(n int) string { return strings.Repeat(" word", n) }

func (k *talk) body() []byte {
	marked := k.marks
	if marked == nil {
		marked = []int{len(k.messages) - 1}
	}
	for _, i := range marked {
		blocks := k.messages[i]["content"].([]any)
		blocks[len(blocks)-1].(map[string]any)["cache_control"] = map[string]string{"type": "ephemeral", "ttl": k.ttl}
	}
	req := map[string]any{
		"model": k.model, "max_tokens": 100, "messages": k.messages,
		"system": []any{text(prose(2000))}, "tools": []any{map[string]any{"name": "read", "input_schema": map[string]any{"type": "object"}}},
	}
	maps.Copy(req, k.extra)
	b, err := json.Marshal(req)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, i := range marked {
		blocks := k.messages[i]["content"].([]any)
		delete(blocks[len(blocks)-1].(map[string]any), "cache_control")
	}
	return b
}

// post sends the conversation.
func (k *talk) post() (int, map[string]any) {
	k.t.Helper()
	return k.send("/v1/messages", k.body())
}

func (k *talk) send(path string, body []byte) (int, map[string]any) {
	k.t.Helper()
	req := httptest.NewRequestWithContext(k.t.Context(), http.MethodPost, path, bytes.NewReader(body))
	req.Header = k.header
	rec := httptest.NewRecorder()
	k.p.ServeHTTP(rec, req)
	var v map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &v); err != nil {
		k.t.Fatalf("%v: %s", err, rec.Body)
	}
	return rec.Code, v
}

// turn sends the conversation and appends the answer and a result for its call.
func (k *talk) turn(result string) map[string]any {
	k.t.Helper()
	status, answer := k.post()
	if status != http.StatusOK {
		k.t.Fatalf("answered %d: %v", status, answer)
	}
	content := answer["content"].([]any)
	k.messages = append(k.messages, map[string]any{"role": "assistant", "content": content})
	var results []any
	for _, b := range content {
		if b := b.(map[string]any); b["type"] == "tool_use" {
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": b["id"], "content": result})
		}
	}
	k.messages = append(k.messages, map[string]any{"role": "user", "content": results})
	return answer["usage"].(map[string]any)
}

// refused sends the conversation and expects a 400 with this text.
func (k *talk) refused(want string) {
	k.t.Helper()
	status, answer := k.post()
	if said := fmt.Sprint(answer["error"]); status != http.StatusBadRequest || !strings.Contains(said, want) {
		k.t.Errorf("answered %d: %s, want 400: %s", status, said, want)
	}
}

// accepted sends the conversation and expects an answer.
func (k *talk) accepted() map[string]any {
	k.t.Helper()
	status, answer := k.post()
	if status != http.StatusOK {
		k.t.Errorf("answered %d: %v", status, answer)
	}
	return answer
}

// block returns the j-th block of the i-th message.
func (k *talk) block(i, j int) map[string]any {
	return k.messages[i]["content"].([]any)[j].(map[string]any)
}
