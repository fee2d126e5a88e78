package replay

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// shape says what an object of a file is.
type shape uint8

const (
	stranger       shape = iota
	wholeSession         // a line of a file of sessions
	requestBody          // of any format
	transcriptLine       // of Claude Code
	rolloutLine          // of Codex
)

// outline holds the members that tell shapes apart.
type outline struct {
	ID         jsontext.Value `json:"id"`
	Model      jsontext.Value `json:"model"`
	Messages   jsontext.Value `json:"messages"`
	Input      jsontext.Value `json:"input"`
	Type       string         `json:"type"`
	Payload    jsontext.Value `json:"payload"`
	Timestamp  string         `json:"timestamp"`
	SessionID  string         `json:"sessionId"`
	UUID       string         `json:"uuid"`
	LeafUUID   string         `json:"leafUuid"`
	MessageID  string         `json:"messageId"`
	System     jsontext.Value `json:"system"`
	Tools      jsontext.Value `json:"tools"`
	Thinking   jsontext.Value `json:"thinking"`
	Containing jsontext.Value `json:"context_management"`
}

// shapeOf returns the shape of an object.
func shapeOf(v jsontext.Value) (shape, outline) {
	var o outline
	if json.Unmarshal(v, &o, lenient) != nil {
		// A member has another type than in a transcript or a rollout, so this is a session or a
		// body.
		var b struct {
			ID       jsontext.Value `json:"id"`
			Messages jsontext.Value `json:"messages"`
		}
		if json.Unmarshal(v, &b, lenient) != nil || len(b.Messages) == 0 {
			return stranger, o
		}
		o = outline{ID: b.ID, Messages: b.Messages}
	}
	switch {
	case len(o.Messages) > 0 && o.ID.Kind() == '"' && string(o.ID) != `""`:
		return wholeSession, o
	case o.Type != "" && o.Payload.Kind() == '{':
		return rolloutLine, o
	case o.Type != "" && o.SessionID+o.UUID+o.LeafUUID+o.MessageID != "":
		return transcriptLine, o
	case len(o.Messages) > 0 || len(o.Input) > 0 || len(o.Model) > 0:
		return requestBody, o
	}
	return stranger, o
}

// format returns the format of a request body.
func (o *outline) format() chat.Format {
	switch {
	case len(o.Input) > 0 && len(o.Messages) == 0:
		return chat.Responses
	case len(o.System) > 0 || len(o.Thinking) > 0 || len(o.Containing) > 0 || bytes.Contains(o.Tools, []byte(`"input_schema"`)):
		return chat.Messages
	}
	var messages []struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	}
	if json.Unmarshal(o.Messages, &messages, lenient) != nil {
		return chat.Completions
	}
	for _, m := range messages {
		if m.Role == roleTool {
			return chat.Completions
		}
		var blocks []struct {
			Type string `json:"type"`
		}
		if m.Content.Kind() != '[' || json.Unmarshal(m.Content, &blocks, lenient) != nil {
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document":
				return chat.Messages
			}
		}
	}
	var model string
	if json.Unmarshal(o.Model, &model, lenient) == nil && strings.HasPrefix(model, "claude") {
		return chat.Messages
	}
	return chat.Completions
}
