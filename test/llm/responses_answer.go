package llm

import (
	"encoding/json"
	"fmt"
	"maps"
)

// responsesAnswer is an answer of OpenAI Responses.
type responsesAnswer struct {
	id, model string
	counts    Counts
	items     []map[string]any
}

func (a *responsesAnswer) write(r Reply) {
	for i := range r.Think {
		id := fmt.Sprintf("rs_%s_%d", a.id[5:], i)
		a.items = append(a.items, map[string]any{"type": "reasoning", "id": id, "summary": []any{}, "encrypted_content": sealed(id)})
	}
	if r.Text != "" {
		a.items = append(a.items, map[string]any{
			"type": "message", "id": "msg_" + a.id[5:], "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": r.Text, "annotations": []any{}}},
		})
	}
	for i, c := range r.Calls {
		id := fmt.Sprintf("%s_%d", a.id[5:], i)
		if c.Custom {
			a.items = append(a.items, map[string]any{"type": "custom_tool_call", "id": "ctc_" + id, "call_id": "call_" + id, "name": c.Name, "input": c.Input, "status": "completed"})
			continue
		}
		a.items = append(a.items, map[string]any{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id, "name": c.Name, "arguments": c.Input, "status": "completed"})
	}
}

func (a *responsesAnswer) rawItems() (raw []json.RawMessage) {
	for _, it := range a.items {
		b, err := json.Marshal(it)
		if err != nil {
			panic(err)
		}
		raw = append(raw, b)
	}
	return raw
}

func (a *responsesAnswer) response(status string, items any) map[string]any {
	r := map[string]any{"id": a.id, "object": "response", "created_at": 1, "model": a.model, "status": status, "output": items, "error": nil, "incomplete_details": nil, "parallel_tool_calls": false, "tools": []any{}}
	if status == "completed" {
		r["usage"] = map[string]any{
			"input_tokens": a.counts.Total, "input_tokens_details": map[string]int{"cached_tokens": a.counts.Read, "cache_write_tokens": a.counts.Written},
			"output_tokens": outputTokens, "output_tokens_details": map[string]int{"reasoning_tokens": 5}, "total_tokens": a.counts.Total + outputTokens,
		}
	}
	return r
}

func (a *responsesAnswer) whole() []byte {
	b, err := json.Marshal(a.response("completed", a.items))
	if err != nil {
		panic(err)
	}
	return b
}

// events returns the stream of the answer, with an unknown event.
func (a *responsesAnswer) events() (all [][]byte) {
	say := func(name string, data map[string]any) {
		data["type"], data["sequence_number"] = name, len(all)
		all = append(all, event(name, data))
	}
	say("response.created", map[string]any{"response": a.response("in_progress", []any{})})
	say("response.in_progress", map[string]any{"response": a.response("in_progress", []any{})})
	say("response.news_of_tomorrow", map[string]any{"text": "not known yet"})
	for i, it := range a.items {
		say("response.output_item.added", map[string]any{"output_index": i, "item": begun(it)})
		switch it["type"] {
		case "message":
			text := it["content"].([]any)[0].(map[string]any)["text"]
			say("response.content_part.added", map[string]any{"output_index": i, "content_index": 0, "item_id": it["id"], "part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}}})
			say("response.output_text.delta", map[string]any{"output_index": i, "content_index": 0, "item_id": it["id"], "delta": text})
			say("response.output_text.done", map[string]any{"output_index": i, "content_index": 0, "item_id": it["id"], "text": text})
			say("response.content_part.done", map[string]any{"output_index": i, "content_index": 0, "item_id": it["id"], "part": it["content"].([]any)[0]})
		case "function_call":
			say("response.function_call_arguments.delta", map[string]any{"output_index": i, "item_id": it["id"], "delta": it["arguments"]})
			say("response.function_call_arguments.done", map[string]any{"output_index": i, "item_id": it["id"], "arguments": it["arguments"]})
		case "custom_tool_call":
			say("response.custom_tool_call_input.delta", map[string]any{"output_index": i, "item_id": it["id"], "delta": it["input"]})
			say("response.custom_tool_call_input.done", map[string]any{"output_index": i, "item_id": it["id"], "input": it["input"]})
		}
		say("response.output_item.done", map[string]any{"output_index": i, "item": it})
	}
	say("response.completed", map[string]any{"response": a.response("completed", a.items)})
	return all
}

// begun returns an item as a stream adds it.
func begun(it map[string]any) map[string]any {
	b := maps.Clone(it)
	switch it["type"] {
	case "message":
		b["content"], b["status"] = []any{}, "in_progress"
	case "function_call":
		b["arguments"], b["status"] = "", "in_progress"
	case "custom_tool_call":
		b["input"], b["status"] = "", "in_progress"
	}
	return b
}
