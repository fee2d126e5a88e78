package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// block holds the rendered members of a block of the Messages format or of a Responses item.
type block struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	CallID    string         `json:"call_id"`
	ToolUseID string         `json:"tool_use_id"`
	Text      string         `json:"text"`
	Arguments string         `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Content   jsontext.Value `json:"content"`
	Output    jsontext.Value `json:"output"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	Data      string         `json:"data"`
	Encrypted string         `json:"encrypted_content"`
}

// readBlock reads a block of a message with the given role, or a message whose content is no list
// of blocks.
func (m *rendered) readBlock(role string, raw []byte) {
	var b block
	if json.Unmarshal(raw, &b, lenient) != nil {
		m.text = "\x01" + string(raw)
		return
	}
	m.role = role
	switch b.Type {
	case "tool_result":
		m.role, m.id, m.said = roleTool, b.ToolUseID, partsText(b.Content)
		m.text = "\x01result\n" + b.ToolUseID + "\n" + m.said
	case "tool_use", "server_tool_use":
		m.calls = []string{string(b.Input)}
		m.text = "\x02" + b.ID + " " + b.Name + " " + spread(b.Input)
	case "text":
		m.said = b.Text
		m.text = "\x01" + role + "\n" + b.Text
	case "thinking", "redacted_thinking":
		m.text = "\x03" + sealed(b.Thinking, b.Signature+b.Data)
	case "": // a message with a string as content
		m.role, m.said = b.Role, partsText(b.Content)
		m.text = "\x01" + b.Role + "\n" + m.said
	default:
		m.said = partText(raw)
		m.text = "\x01" + role + "\n" + m.said
	}
}

// readItem reads a Responses item.
func (m *rendered) readItem(raw []byte) {
	var b block
	if json.Unmarshal(raw, &b, lenient) != nil {
		m.text = "\x01" + string(raw)
		return
	}
	switch {
	case strings.HasSuffix(b.Type, "_call_output"):
		m.role, m.id, m.said = roleTool, b.CallID+b.ID, partsText(b.Output)
		if b.CallID != "" {
			m.id = b.CallID
		}
		m.text = "\x01result\n" + m.id + "\n" + m.said
	case strings.HasSuffix(b.Type, "_call"):
		arguments := b.Arguments + partsText(b.Input)
		m.role, m.calls = "assistant", []string{arguments}
		m.text = "\x02" + b.CallID + " " + b.Name + " " + arguments
	case b.Type == "reasoning" || b.Type == "compaction":
		m.role, m.text = "assistant", "\x03"+sealed("", b.Encrypted)
	case b.Type == "message" || b.Type == "":
		m.role, m.said = b.Role, partsText(b.Content)
		m.text = "\x01" + b.Role + "\n" + m.said
	default:
		m.role, m.said = b.Role, spread(raw)
		m.text = "\x01" + m.said
	}
}

// sealed returns the text of reasoning. Encrypted reasoning is about four times as long as its
// text, so a quarter of it is used instead.
func sealed(text, encrypted string) string {
	if text != "" {
		return text
	}
	const perCharacter = 4
	return encrypted[:len(encrypted)/perCharacter]
}

// partsText returns the text of a string or of a list of parts. Images and documents are
// represented by their hash.
func partsText(v jsontext.Value) string {
	if v.Kind() != '[' {
		return contentText(v)
	}
	var parts []jsontext.Value
	if json.Unmarshal(v, &parts, lenient) != nil {
		return string(v)
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		var b block
		if json.Unmarshal(p, &b, lenient) == nil && (b.Type == "image" || b.Type == "input_image" || b.Type == "document" || b.Type == "input_file") {
			sum := sha256.Sum256(p)
			texts[i] = "[" + b.Type + " " + hex.EncodeToString(sum[:8]) + "]"
			continue
		}
		texts[i] = partText(p)
	}
	return strings.Join(texts, "\n")
}
