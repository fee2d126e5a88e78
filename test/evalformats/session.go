package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// session is a recorded agent run, as chat completions.
type session struct {
	ID       string            `json:"id"`
	Messages []json.RawMessage `json:"messages"`
}

// message is a message of a chat completion.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	CallID  string          `json:"tool_call_id"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// readSessions reads the runs of all files below a directory whose name contains a word.
func readSessions(dir, only string) (all []session, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		if !strings.Contains(filepath.Base(path), only) {
			continue
		}
		f, err := os.Open(path) //nolint:gosec // the user names the folder on the command line
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(f)
		for d := json.NewDecoder(z); err == nil; {
			var s session
			if err = d.Decode(&s); err == nil {
				all = append(all, s)
			}
		}
		_ = f.Close()
		if !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no run in %s: EVALDATA names the directory above, -run a part of a file's name", dir)
	}
	return all, nil
}

// The formats.
const (
	chat      = "chat"
	messages  = "messages"
	responses = "responses"
)

// lane is a format and a model.
type lane struct{ format, model string }

// path returns the path of a format's requests.
func (l lane) path() string {
	return map[string]string{chat: "/v1/chat/completions", messages: "/v1/messages", responses: "/v1/responses"}[l.format]
}

// body writes the request with these messages.
func (l lane) body(list []message) ([]byte, error) {
	req := map[string]any{"model": l.model}
	switch l.format {
	case chat:
		req["messages"] = list
		req["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "tools", "description": filler}}}
	case messages:
		system, msgs := toMessages(list)
		req["system"], req["messages"], req["max_tokens"] = system, msgs, 1000
		req["tools"] = []any{map[string]any{"name": "tools", "description": filler, "input_schema": map[string]any{"type": "object"}}}
	case responses:
		req["input"], req["store"] = toItems(list), false
		req["tools"] = []any{map[string]any{"type": "function", "name": "tools", "description": filler}}
	}
	return json.Marshal(req)
}

// filler stands for what is sent before every conversation and was not recorded.
var filler = strings.Repeat(" reads the lines of a path", 400)

type object = map[string]any

// toMessages converts messages to Anthropic's, with markers where Claude Code sets them: on the
// system prompt and at the end.
func toMessages(list []message) (system []any, out []object) {
	mark := object{"type": "ephemeral"}
	add := func(role string, block object) {
		if n := len(out); n == 0 || out[n-1]["role"] != role {
			out = append(out, object{"role": role, "content": []any{}})
		}
		last := out[len(out)-1]
		last["content"] = append(last["content"].([]any), block)
	}
	for _, m := range list {
		switch m.Role {
		case "system":
			system = append(system, object{"type": "text", "text": text(m.Content), "cache_control": mark})
		case "tool":
			add("user", object{"type": "tool_result", "tool_use_id": m.CallID, "content": text(m.Content)})
		case "assistant":
			if t := text(m.Content); t != "" {
				add("assistant", object{"type": "text", "text": t})
			}
			for _, c := range m.Calls {
				add("assistant", object{"type": "tool_use", "id": c.ID, "name": c.Function.Name, "input": input(c.Function.Arguments)})
			}
		default:
			add("user", object{"type": "text", "text": text(m.Content)})
		}
	}
	last := out[len(out)-1]["content"].([]any)
	last[len(last)-1].(object)["cache_control"] = mark
	return system, out
}

// toItems converts messages to items of Responses.
func toItems(list []message) (out []object) {
	for _, m := range list {
		switch m.Role {
		case "tool":
			out = append(out, object{"type": "function_call_output", "call_id": m.CallID, "output": text(m.Content)})
		case "assistant":
			if t := text(m.Content); t != "" {
				out = append(out, object{"type": "message", "role": "assistant", "content": []any{object{"type": "output_text", "text": t}}})
			}
			for _, c := range m.Calls {
				out = append(out, object{"type": "function_call", "call_id": c.ID, "name": c.Function.Name, "arguments": c.Function.Arguments})
			}
		default:
			out = append(out, object{"type": "message", "role": m.Role, "content": []any{object{"type": "input_text", "text": text(m.Content)}}})
		}
	}
	return out
}

// input returns a call's arguments as an object.
func input(arguments string) any {
	var v object
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return object{"arguments": arguments}
	}
	return v
}

// text returns a content as a string.
func text(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &parts)
	for _, p := range parts {
		s += p.Text
	}
	return s
}
