package chat

import (
	"secateur/internal/rawjson"
)

// MaxDepth is how many containers a request may have within each other.
const MaxDepth = 1000

// Conversation is the body of a chat completion request, read without losing a
// byte of it: everything below is offsets into Body.
type Conversation struct {
	Body     []byte
	Messages []Message
	Model    string // "" where there is none, or it is no string
	Stream   bool   // the answer is wanted as server-sent events

	model span  // of the model's value, quotes included; empty where there is none
	tools Key   // of all that stands before the messages in a provider's prompt
	extra int   // characters of that
	chain []Key // see keys
}

// Role says who a message is from.
type Role uint8

// The roles that matter here; all others are Other.
const (
	Other Role = iota
	User
	Assistant
	Tool
)

// Message is one message of a conversation.
type Message struct {
	Role    Role
	CallID  string // the call that a tool's result answers
	Calls   []Call // the tools an assistant calls; empty ones and such without an id left out
	IsError bool   // marked as such by the client
	Chars   int    // characters of the content, where it is a string

	at      span   // the whole message
	content span   // its content, where that is a string; else empty
	text    span   // a string to quote from: the content, or its first text part
	size    int    // characters that a provider is likely to count
	digest  digest // of the message
	said    digest // of its content
}

// Call is a tool call with an id.
type Call struct {
	ID   string
	Name string // "" where it has none

	arguments span
}

// noteChars is how long a string must be for the walker to jump over it.
const noteChars = 96

// Read reads the body of a request. It fails where the body is not one strict JSON
// object: names that come twice, bytes that are not UTF-8 and nesting past MaxDepth
// are refused everywhere. What it does not understand it leaves alone: a body
// without a list of messages is a conversation without messages.
func Read(body []byte) (*Conversation, error) {
	c := &Conversation{Body: body}
	s := rawjson.NewScanner(body, MaxDepth)
	s.Unique = true
	if err := s.Enter(); err != nil {
		return nil, err
	}
	tools := newDigest()
	var list span
	for {
		name, err := s.Next()
		if err != nil {
			return nil, err
		}
		if name == nil {
			break
		}
		isList := is(name, "messages")
		note := maxChars
		if isList {
			note = noteChars
		}
		raw, err := s.SkipNoting(note)
		if err != nil {
			return nil, err
		}
		at := span{s.Pos() - len(raw), s.Pos()}
		switch {
		case isList:
			list = at
		case is(name, "model") && raw[0] == '"':
			c.model, c.Model = at, rawjson.Unquote(raw)
		case is(name, "stream"):
			c.Stream = string(raw) == "true"
		case is(name, "tools"), is(name, "functions"), is(name, "response_format"):
			tools.write(name)
			tools.write(raw)
			c.extra += len(raw)
		}
	}
	if err := s.End(); err != nil {
		return nil, err
	}
	c.tools = tools.sum()
	if list.end > list.start && body[list.start] == '[' {
		w := walker{doc: body, pos: list.start, long: s.Long()}
		n := min(2*len(w.long), (list.end-list.start)/minMessage) + 4
		c.Messages, w.calls = make([]Message, 0, n), make([]Call, 0, n/2)
		c.readMessages(&w)
	}
	return c, nil
}

const maxChars = int(^uint(0) >> 1)

// minMessage is a size below which messages are not expected to be: room is made for
// as many as there can be of that size, so that a body of long strings alone takes no
// more memory for them than for itself.
const minMessage = 256

func (c *Conversation) readMessages(w *walker) {
	for w.enter(); !w.done(); {
		c.Messages = append(c.Messages, Message{})
		m := &c.Messages[len(c.Messages)-1]
		if w.peek() == '{' {
			m.read(w)
			continue
		}
		m.at = w.value()
		d := newDigest()
		d.write(m.at.of(w.doc))
		m.digest, m.size = d, m.at.end-m.at.start
	}
}

// read reads one message. Its digest leaves out what clients move from message to
// message without meaning another conversation: marks for the cache, and whether a
// text stands alone or as the only part of a list.
func (m *Message) read(w *walker) {
	m.at.start, m.size = w.pos, 8
	d := newDigest()
	for w.enter(); !w.done(); {
		name := w.value().of(w.doc)
		word := decoded(name)
		switch string(word) {
		case "content":
			m.readContent(w)
			d.take(m.said)
			continue
		case "tool_calls":
			m.readCalls(w, &d)
			continue
		}
		raw := w.value().of(w.doc)
		if string(word) == "cache_control" {
			continue
		}
		d.write(name)
		d.write(raw)
		switch string(word) {
		case "role":
			m.Role = roleOf(raw)
		case "is_error":
			m.IsError = string(raw) == "true"
		case "tool_call_id":
			if raw[0] == '"' {
				m.CallID = w.name(raw)
			}
			m.size += len(raw)
		default:
			m.size += len(raw)
		}
	}
	m.at.end = w.pos
	m.digest = d
}

func roleOf(raw []byte) Role {
	switch {
	case is(raw, "tool"):
		return Tool
	case is(raw, "assistant"):
		return Assistant
	case is(raw, "user"):
		return User
	}
	return Other
}

// maxMedia is what a part that is no text counts at most: a picture's data says
// nothing about its tokens.
const maxMedia = 4000

func (m *Message) readContent(w *walker) {
	d := newDigest()
	switch w.peek() {
	case '"':
		at := w.value()
		m.content, m.text = at, at
		m.Chars = w.chars(at)
		m.size += m.Chars
		d.write(at.of(w.doc))
	case '[':
		for w.enter(); !w.done(); {
			m.readPart(w, &d)
		}
	default:
		d.write(w.value().of(w.doc))
	}
	m.said = d
}

func (m *Message) readPart(w *walker, d *digest) {
	if w.peek() != '{' {
		at := w.value()
		d.write([]byte("part"))
		d.write(at.of(w.doc))
		m.size += min(at.end-at.start, maxMedia)
		return
	}
	whole := span{start: w.pos}
	var text span
	var chars int
	isText := false
	for w.enter(); !w.done(); {
		name := decoded(w.value().of(w.doc))
		at := w.value()
		switch {
		case string(name) == "type":
			isText = is(at.of(w.doc), "text")
		case string(name) == "text" && w.doc[at.start] == '"':
			text, chars = at, w.chars(at)
		}
	}
	whole.end = w.pos
	if !isText || text.end == 0 {
		d.write(whole.of(w.doc))
		m.size += min(whole.end-whole.start, maxMedia)
		return
	}
	d.write(text.of(w.doc))
	m.size += chars
	if m.text.end == 0 {
		m.text = text
	}
}

func (m *Message) readCalls(w *walker, d *digest) {
	start := w.peek()
	whole := span{start: w.pos}
	if start != '[' {
		d.write(w.value().of(w.doc))
		return
	}
	first := len(w.calls)
	for w.enter(); !w.done(); {
		if w.peek() != '{' {
			w.value()
			continue
		}
		var call Call
		hasID := false
		for w.enter(); !w.done(); {
			name := decoded(w.value().of(w.doc))
			switch {
			case string(name) == "id" && w.peek() == '"':
				call.ID, hasID = w.name(w.value().of(w.doc)), true
				m.size += len(call.ID)
			case string(name) == "function" && w.peek() == '{':
				m.size += call.readFunction(w)
			default:
				w.value()
			}
		}
		if hasID {
			w.calls = append(w.calls, call)
		}
	}
	m.Calls = w.calls[first:len(w.calls):len(w.calls)]
	whole.end = w.pos
	d.write(whole.of(w.doc))
}

// readFunction reads what is called and how. It returns the characters of both.
func (c *Call) readFunction(w *walker) int {
	size := 4
	for w.enter(); !w.done(); {
		name := decoded(w.value().of(w.doc))
		isString := w.peek() == '"'
		at := w.value()
		switch {
		case string(name) == "name" && isString:
			c.Name = w.name(at.of(w.doc))
			size += len(c.Name)
		case string(name) == "arguments" && isString:
			c.arguments = at
			size += w.chars(at)
		default:
			size += at.end - at.start
		}
	}
	return size
}

// Text is the content of a message, where it is a string, decoded; else "".
func (c *Conversation) Text(message int) string {
	m := &c.Messages[message]
	if m.content.end == 0 {
		return ""
	}
	return rawjson.Unquote(m.content.of(c.Body))
}

// HasText tells whether the content of a message is a string.
func (c *Conversation) HasText(message int) bool { return c.Messages[message].content.end > 0 }

// Raw is a message as the client wrote it.
func (c *Conversation) Raw(message int) []byte { return c.Messages[message].at.of(c.Body) }
