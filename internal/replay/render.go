package replay

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// rendered is a message as the characters that count for its size and for the
// cache. Equal messages of a session are the same *rendered.
type rendered struct {
	text  string
	raw   string // one of the ways it was written
	chars int
	size  float64 // as the ruler measures it
	id    string  // of the call that a tool's result answers
	role  string
	calls bool

	words map[string]bool // see identifiers
	msg   message
}

// message is what of a message is rendered.
type message struct {
	Role       string         `json:"role"`
	Content    jsontext.Value `json:"content"`
	ToolCallID string         `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// renderer renders messages, each one once.
type renderer struct {
	byRaw  map[string]*rendered
	byText map[string]*rendered
	ruler  Ruler
}

func newRenderer(ruler Ruler) *renderer {
	return &renderer{byRaw: make(map[string]*rendered), byText: make(map[string]*rendered), ruler: ruler}
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// render renders a message. What is not shaped like one counts by its bytes.
func (r *renderer) render(raw []byte) *rendered {
	if m, ok := r.byRaw[string(raw)]; ok {
		return m
	}
	var msg message
	var b strings.Builder
	b.WriteByte(1)
	if err := json.Unmarshal(raw, &msg, lenient); err != nil {
		b.Write(raw)
	} else {
		b.WriteString(msg.Role)
		b.WriteByte('\n')
		if msg.ToolCallID != "" {
			b.WriteString(msg.ToolCallID)
			b.WriteByte('\n')
		}
		b.WriteString(contentText(msg.Content))
		for _, c := range msg.ToolCalls {
			b.WriteString("\n\x02" + c.ID + " " + c.Function.Name + " " + c.Function.Arguments)
		}
	}
	text := b.String()
	m, ok := r.byText[text]
	if !ok {
		m = &rendered{
			text: text, raw: string(raw), chars: utf8.RuneCountInString(text), id: msg.ToolCallID, role: msg.Role,
			calls: len(msg.ToolCalls) > 0, msg: msg, size: r.ruler(text),
		}
		r.byText[text] = m
	}
	r.byRaw[string(raw)] = m
	return m
}

// contentText is the text of a content: a string, or a list of parts.
func contentText(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		var s string
		if json.Unmarshal(v, &s, lenient) == nil {
			return s
		}
	case '[':
		var parts []jsontext.Value
		if json.Unmarshal(v, &parts, lenient) == nil {
			texts := make([]string, len(parts))
			for i, p := range parts {
				texts[i] = partText(p)
			}
			return strings.Join(texts, "\n")
		}
	}
	return ""
}

func partText(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		return contentText(v)
	case '{':
		var t struct {
			Text string `json:"text"`
		}
		if json.Unmarshal(v, &t, lenient) == nil && t.Text != "" {
			return t.Text
		}
	}
	return spread(v)
}

// spread writes a value with its members in order and a space behind each comma
// and colon.
func spread(v jsontext.Value) string {
	switch v.Kind() {
	case '{':
		var members map[string]jsontext.Value
		if json.Unmarshal(v, &members, lenient) != nil {
			return string(v)
		}
		names := make([]string, 0, len(members))
		for n := range members {
			names = append(names, n)
		}
		sort.Strings(names)
		for i, n := range names {
			quoted, _ := jsontext.AppendQuote(nil, n)
			names[i] = string(quoted) + ": " + spread(members[n])
		}
		return "{" + strings.Join(names, ", ") + "}"
	case '[':
		var items []jsontext.Value
		if json.Unmarshal(v, &items, lenient) != nil {
			return string(v)
		}
		texts := make([]string, len(items))
		for i, it := range items {
			texts[i] = spread(it)
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	return string(v)
}
