package llm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"secateur/test/provider"
)

// responsesRequest is a validated request of OpenAI Responses.
type responsesRequest struct {
	Model        string            `json:"model"`
	Instructions json.RawMessage   `json:"instructions"`
	Input        json.RawMessage   `json:"input"`
	Tools        []json.RawMessage `json:"tools"`
	Stream       bool              `json:"stream"`
	Store        *bool             `json:"store"`
	Previous     string            `json:"previous_response_id"`
	Reasoning    json.RawMessage   `json:"reasoning"`
	Text         json.RawMessage   `json:"text"`
	CacheKey     string            `json:"prompt_cache_key"`

	items  []json.RawMessage // including those of earlier responses
	prompt prompt
	turn   Turn
}

// item is a part of a conversation.
type item struct {
	Type      string            `json:"type"`
	Role      string            `json:"role"`
	Name      string            `json:"name"`
	CallID    string            `json:"call_id"`
	ID        string            `json:"id"`
	Content   json.RawMessage   `json:"content"`
	Output    json.RawMessage   `json:"output"`
	Encrypted string            `json:"encrypted_content"`
	Tools     []json.RawMessage `json:"tools"`
}

// failure is a problem with its own code.
type failure struct {
	status     int
	code, text string
}

func (f *failure) Error() string { return f.text }

// readResponses reads and validates a request. kept has the items of earlier responses.
func readResponses(body []byte, kept map[string][]json.RawMessage) (*responsesRequest, error) {
	r := &responsesRequest{}
	if err := json.Unmarshal(body, r); err != nil {
		return nil, problem("We could not parse the JSON body of your request: %v", err)
	}
	if _, known := ModelNamed(r.Model); !known {
		return nil, &failure{http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist", r.Model)}
	}
	own, err := inputItems(r.Input)
	if err != nil {
		return nil, problem("Invalid 'input': %v", err)
	}
	if r.Previous != "" {
		before, ok := kept[r.Previous]
		if !ok {
			return nil, &failure{http.StatusBadRequest, "previous_response_not_found", fmt.Sprintf("Previous response with id '%s' not found.", r.Previous)}
		}
		r.items = append(r.items, before...)
	}
	r.items = append(r.items, own...)
	r.turn.Model = r.Model
	r.prompt.scope = fmt.Sprintf("%s %s %s %s", r.Model, r.Reasoning, r.Text, r.CacheKey)
	for _, raw := range r.Tools {
		r.prompt.add(raw)
		r.turn.Tools = append(r.turn.Tools, toolNames(raw)...)
	}
	if len(r.Instructions) > 0 && string(r.Instructions) != "null" {
		r.prompt.add(r.Instructions).ending = true
	}
	return r, r.readItems()
}

// calls maps the items that make a call to the items that end it.
var calls = map[string]string{
	"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output", "local_shell_call": "local_shell_call_output",
	"shell_call": "shell_call_output", "apply_patch_call": "apply_patch_call_output",
}

func (r *responsesRequest) readItems() error {
	open := map[string]string{} // the output that each call waits for, by its id
	for i, raw := range r.items {
		var it item
		if err := json.Unmarshal(raw, &it); err != nil {
			return problem("Invalid 'input[%d]': %v", i, err)
		}
		if it.Type == "" {
			it.Type = "message"
		}
		at := r.prompt.add(raw)
		at.run = it.Type
		switch {
		case it.Type == "message":
			at.ending = it.Role == "user" || it.Role == "developer" && !r.follows(i, "developer")
			if it.Role == "user" {
				r.turn.User, r.turn.Results = contentText(it.Content), nil
			}
			if it.Role == "assistant" {
				r.turn.Results = nil
			}
		case calls[it.Type] != "":
			open[it.CallID] = calls[it.Type]
			r.turn.Calls++
			r.turn.Results = nil
		case strings.HasSuffix(it.Type, "_call_output"):
			id := it.CallID
			if id == "" {
				id = it.ID
			}
			if open[id] != it.Type {
				return problem("No tool call found for %s with call_id %s.", strings.ReplaceAll(strings.TrimSuffix(it.Type, "_output"), "_", " "), id)
			}
			delete(open, id)
			at.ending = !r.outputFollows(i)
			r.turn.Results = append(r.turn.Results, contentText(it.Output))
		case it.Type == "reasoning":
			if it.Encrypted != "" && it.Encrypted != sealed(it.ID) {
				return &failure{http.StatusBadRequest, "invalid_encrypted_content", "The encrypted content for item " + it.ID + " could not be verified."}
			}
		case it.Type == "additional_tools":
			if i != 0 {
				return problem("Invalid 'input[%d]': 'additional_tools' must be the first item", i)
			}
			for _, t := range it.Tools {
				r.turn.Tools = append(r.turn.Tools, toolNames(t)...)
			}
		case it.Type == "compaction_trigger":
			if i != len(r.items)-1 {
				return problem("Invalid 'input[%d]': 'compaction_trigger' must be the last item", i)
			}
			r.turn.Compact = true
		}
	}
	for id := range open {
		return problem("No tool output found for function call %s.", id)
	}
	return nil
}

// follows reports whether the next item is a message of the role.
func (r *responsesRequest) follows(i int, role string) bool {
	var next item
	return i+1 < len(r.items) && json.Unmarshal(r.items[i+1], &next) == nil && next.Role == role
}

func (r *responsesRequest) outputFollows(i int) bool {
	var next item
	return i+1 < len(r.items) && json.Unmarshal(r.items[i+1], &next) == nil && strings.HasSuffix(next.Type, "_call_output")
}

// sealed returns the content of a reasoning item that only this provider can have made.
func sealed(id string) string { return "gAAAAA" + sign(id) }

// inputItems returns the items of an input: a string is a user message.
func inputItems(raw json.RawMessage) (items []json.RawMessage, err error) {
	if len(raw) > 0 && raw[0] == '"' {
		return []json.RawMessage{json.RawMessage(`{"type":"message","role":"user","content":` + string(raw) + `}`)}, nil
	}
	err = json.Unmarshal(raw, &items)
	return items, err
}

func toolNames(raw json.RawMessage) (names []string) {
	var t item
	_ = json.Unmarshal(raw, &t)
	names = append(names, t.Name)
	for _, inner := range t.Tools {
		names = append(names, toolNames(inner)...)
	}
	return names
}

// contentText returns the text of a content or an output.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

func responsesError(status int, code, text string) output {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	b, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": code}})
	return output{status: status, body: b}
}

func refused(err error) output {
	if f, ok := err.(*failure); ok { //nolint:errorlint // it is made here and never wrapped
		return responsesError(f.status, f.code, f.text)
	}
	return responsesError(http.StatusBadRequest, "", err.Error())
}

func (p *Provider) responses(h http.Header, body []byte) output {
	if !strings.HasPrefix(h.Get("Authorization"), "Bearer ") {
		return responsesError(http.StatusUnauthorized, "invalid_api_key", "You didn't provide an API key.")
	}
	r, err := readResponses(body, p.kept)
	if err != nil {
		return refused(err)
	}
	counts, err := p.paid.take(r.Model, h.Get(provider.Header), r.prompt, p.now())
	if err != nil {
		return refused(err)
	}
	p.answers++
	a := responsesAnswer{id: fmt.Sprintf("resp_%04d", p.answers), model: r.Model, counts: counts}
	if r.turn.Compact {
		a.items = append(a.items, map[string]any{"type": "compaction", "id": "cmp_1", "encrypted_content": sealed("cmp_1")})
	} else {
		a.write(p.Say(r.turn))
	}
	if r.Store == nil || *r.Store {
		if p.kept == nil {
			p.kept = map[string][]json.RawMessage{}
		}
		p.kept[a.id] = append(slices.Clone(r.items), a.rawItems()...)
	}
	out := output{status: http.StatusOK, counts: counts, header: map[string]string{"X-Codex-Turn-State": "turn-" + a.id, "X-Request-Id": "req-" + a.id, "Openai-Model": r.Model}}
	if r.Stream {
		out.events = a.events()
		out.failed = event("response.failed", map[string]any{"type": "response.failed", "sequence_number": 99, "response": map[string]any{
			"id": a.id, "object": "response", "status": "failed", "error": map[string]string{"code": "server_is_overloaded", "message": "Overloaded"},
		}})
		return out
	}
	out.body = a.whole()
	return out
}

func (p *Provider) compact(h http.Header, body []byte) output {
	r, err := readResponses(body, p.kept)
	if err != nil {
		return refused(err)
	}
	_, _ = p.paid.take(r.Model, h.Get(provider.Header), r.prompt, p.now())
	b, _ := json.Marshal(map[string]any{"id": "resp_compact", "object": "response.compaction", "output": []any{
		map[string]any{"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": r.turn.User}}},
		map[string]any{"type": "compaction", "id": "cmp_1", "encrypted_content": sealed("cmp_1")},
	}})
	return output{status: http.StatusOK, body: b}
}

func (p *Provider) inputTokens(_ http.Header, body []byte) output {
	r, err := readResponses(body, p.kept)
	if err != nil {
		return refused(err)
	}
	return output{status: http.StatusOK, body: fmt.Appendf(nil, `{"object":"response.input_tokens","input_tokens":%d}`, r.prompt.total())}
}
