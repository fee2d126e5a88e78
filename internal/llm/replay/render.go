package replay

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/chat"
)

// rendered is a piece of a prompt as the text that determines its size and its cache identity.
// Equal pieces of a session share one *rendered.
type rendered struct {
	text  string
	raw   string // one of its spellings
	chars int
	size  float64 // measured by the ruler
	id    string  // of the call that a tool result answers
	role  string  // roleTool for every result

	said  string          // its content
	calls []string        // arguments of the calls in it
	words map[string]bool // see identifiers
}

// roleTool is the role of results in every format.
const roleTool = "tool"

// message holds the rendered members of a chat completion's message.
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

// renderer renders each piece once.
type renderer struct {
	byRaw  map[string]*rendered
	byText map[string]*rendered
	ruler  Ruler
}

func newRenderer(ruler Ruler) *renderer {
	return &renderer{byRaw: make(map[string]*rendered), byText: make(map[string]*rendered), ruler: ruler}
}

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// render renders a message or an item. A value of another shape counts by its bytes.
func (r *renderer) render(format chat.Format, raw []byte) *rendered {
	if m, ok := r.byRaw[string(raw)]; ok {
		return m
	}
	m := &rendered{raw: string(raw)}
	switch format {
	case chat.Responses:
		m.readItem(raw)
	case chat.Messages:
		m.readBlock("", raw)
	default:
		m.readMessage(raw)
	}
	return r.known(m, string(raw))
}

// renderBlock renders a block of a message.
func (r *renderer) renderBlock(role string, raw []byte) *rendered {
	name := role + "\n" + string(raw)
	if m, ok := r.byRaw[name]; ok {
		return m
	}
	m := &rendered{raw: string(raw)}
	m.readBlock(role, raw)
	return r.known(m, name)
}

// known returns an existing piece with the same text, or measures the new one.
func (r *renderer) known(m *rendered, name string) *rendered {
	if old, ok := r.byText[m.text]; ok {
		m = old
	} else {
		m.chars, m.size = utf8.RuneCountInString(m.text), r.ruler(m.text)
		r.byText[m.text] = m
	}
	r.byRaw[name] = m
	return m
}

// readMessage reads a message of a chat completion.
func (m *rendered) readMessage(raw []byte) {
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
		m.said = contentText(msg.Content)
		b.WriteString(m.said)
		for _, c := range msg.ToolCalls {
			b.WriteString("\n\x02" + c.ID + " " + c.Function.Name + " " + c.Function.Arguments)
			m.calls = append(m.calls, c.Function.Arguments)
		}
	}
	m.text, m.id, m.role = b.String(), msg.ToolCallID, msg.Role
}

// contentText returns the text of a content: a string or a list of parts.
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

// spread writes a value with its members sorted and a space after each comma and colon.
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
