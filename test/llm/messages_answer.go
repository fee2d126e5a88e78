package llm

import (
	"encoding/json"
	"fmt"
)

// messagesAnswer is an answer of Anthropic Messages.
type messagesAnswer struct {
	id, model string
	counts    Counts
	dropped   []string
	content   []map[string]any
	stop      string
}

// write makes the blocks of the model's output. Thinking is bound to everything before it.
func (a *messagesAnswer) write(r Reply, b binding) {
	b.so.add("role", json.RawMessage(`"assistant"`))
	for i, text := range r.Think {
		s := signature{b.so.String(), b.last, a.id, fmt.Sprintf("%d/%d", i+1, len(r.Think))}.String()
		b.last = proof(s)
		if r.Redacted && i == len(r.Think)-1 {
			a.content = append(a.content, map[string]any{"type": "redacted_thinking", "data": s})
			continue
		}
		a.content = append(a.content, map[string]any{"type": "thinking", "thinking": text, "signature": s})
	}
	a.stop = "end_turn"
	if r.Text != "" {
		a.content = append(a.content, map[string]any{"type": "text", "text": r.Text})
	}
	for i, c := range r.Calls {
		a.content = append(a.content, map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%s_%d", a.id[4:], i), "name": c.Name, "input": json.RawMessage(c.Input)})
		a.stop = "tool_use"
	}
}

// outputTokens is the output count of every answer.
const outputTokens = 25

func (a *messagesAnswer) usage(out int) map[string]any {
	c := a.counts
	return map[string]any{
		"input_tokens": c.Total - c.Read - c.Written - c.WrittenFor, "cache_read_input_tokens": c.Read,
		"cache_creation_input_tokens": c.Written + c.WrittenFor,
		"cache_creation":              map[string]int{"ephemeral_5m_input_tokens": c.Written, "ephemeral_1h_input_tokens": c.WrittenFor},
		"output_tokens":               out, "service_tier": "standard",
	}
}

func (a *messagesAnswer) message(content any, stop any, out int) map[string]any {
	m := map[string]any{"id": a.id, "type": "message", "role": "assistant", "model": a.model, "content": content, "stop_reason": stop, "stop_sequence": nil, "usage": a.usage(out)}
	if a.dropped != nil {
		m["input_transformations"] = []any{map[string]any{"type": "thinking_dropped", "blocks": a.dropped}}
	}
	return m
}

func (a *messagesAnswer) whole() []byte {
	b, err := json.Marshal(a.message(a.content, a.stop, outputTokens))
	if err != nil {
		panic(err)
	}
	return b
}

// events returns the stream of the answer, with a ping and an unknown event.
func (a *messagesAnswer) events() (all [][]byte) {
	say := func(name string, data map[string]any) {
		data["type"] = name
		all = append(all, event(name, data))
	}
	say("message_start", map[string]any{"message": a.message([]any{}, nil, 1)})
	say("ping", map[string]any{})
	for i, c := range a.content {
		start, deltas := streamed(c)
		say("content_block_start", map[string]any{"index": i, "content_block": start})
		for _, d := range deltas {
			say("content_block_delta", map[string]any{"index": i, "delta": d})
		}
		say("content_block_stop", map[string]any{"index": i})
	}
	say("news_of_tomorrow", map[string]any{"text": "not known yet"})
	say("ping", map[string]any{})
	say("message_delta", map[string]any{"delta": map[string]any{"stop_reason": a.stop, "stop_sequence": nil}, "usage": a.usage(outputTokens)})
	say("message_stop", map[string]any{})
	return all
}

// streamed returns a block as a stream begins it, and its deltas.
func streamed(c map[string]any) (start map[string]any, deltas []map[string]any) {
	halves := func(kind, name, text string) {
		half := len(text) / 2
		// Not split within a character here; the network may do so.
		for half > 0 && text[half]&0xc0 == 0x80 {
			half--
		}
		for _, part := range []string{text[:half], text[half:]} {
			if part != "" {
				deltas = append(deltas, map[string]any{"type": kind, name: part})
			}
		}
	}
	switch c["type"] {
	case "text":
		halves("text_delta", "text", c["text"].(string))
		return map[string]any{"type": "text", "text": ""}, deltas
	case "thinking":
		halves("thinking_delta", "thinking", c["thinking"].(string))
		deltas = append(deltas, map[string]any{"type": "signature_delta", "signature": c["signature"]})
		return map[string]any{"type": "thinking", "thinking": "", "signature": ""}, deltas
	case "tool_use":
		halves("input_json_delta", "partial_json", string(c["input"].(json.RawMessage)))
		return map[string]any{"type": "tool_use", "id": c["id"], "name": c["name"], "input": map[string]any{}}, deltas
	}
	return c, nil
}
