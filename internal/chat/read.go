package chat

import (
	"slices"

	"secateur/internal/rawjson"
	"secateur/internal/tokens"
)

// MaxDepth is how many containers a request may have within each other.
const MaxDepth = 1000

// Conversation is the body of a chat completion request, read without losing a
// byte of it: everything below is offsets into it.
type Conversation struct {
	Body     []byte
	Messages []Message
	Model    string // "" where there is none, or it is no string
	Stream   bool   // the answer is wanted as server-sent events

	list  int      // where in Body the list of messages starts: the offsets in Messages count from there
	model span     // of the model's value, quotes included; empty where there is none
	tools Key      // of all else that a provider may keep its caches apart by
	extra size     // of that
	chain []digest // of every beginning, from that of none of the messages to that of all; made when asked for
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

// Message is one message of a conversation. It is not changed once it was read.
type Message struct {
	Role    Role
	CallID  string // the call that a tool's result answers
	Calls   []Call // the tools an assistant calls; empty ones and such without an id left out
	IsError bool   // marked as such by the client
	Chars   int    // characters of the content, where it is a string

	at      span   // the whole message
	content span   // its content, where that is a string; else empty
	text    span   // a string to quote from: the content, or its first text part
	size    size   // of what a provider is likely to count
	digest  digest // of the message
	said    digest // of its content
}

// Call is a tool call with an id.
type Call struct {
	ID   string
	Name string // "" where it has none

	arguments span
}

// Read reads the body of a request. It fails where the body is not one strict JSON
// object: names that come twice, bytes that are not UTF-8 and nesting past MaxDepth
// are refused everywhere. What it does not understand it leaves alone: a body
// without a list of messages is a conversation without messages.
func Read(body []byte) (*Conversation, error) {
	return ReadOn(body, func([]byte) []Message { return nil })
}

// ReadOn is Read for a request that may begin as another did. It calls begun with the
// body from the bracket of the list of messages on, which gives the messages that an
// earlier call has found at the beginning of a list that starts with the same bytes, up
// to the [Message.End] of the last of them. These are not read again.
func ReadOn(body []byte, begun func(list []byte) []Message) (*Conversation, error) {
	c := &Conversation{Body: body}
	r := newReader(body)
	keyed := newDigest()
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		word := decoded(name)
		if string(word) == "messages" && r.peek() == '[' {
			c.readMessages(&r, begun)
			continue
		}
		at := r.value()
		raw := at.of(body)
		switch string(word) {
		case "model":
			if len(raw) > 0 && raw[0] == '"' {
				c.model, c.Model = at, rawjson.Unquote(raw)
			}
		case "stream":
			c.Stream = string(raw) == "true"
		case "tools", "functions", "response_format":
			keyed.write(name)
			keyed.write(raw)
			c.extra.add(estimate(raw, tokens.JSON))
		case "reasoning_effort", "reasoning", "thinking", "verbosity", "service_tier", "tool_choice", "prompt_cache_key":
			keyed.write(name) // some providers keep their caches apart by these
			keyed.write(raw)
		}
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	c.tools = keyed.sum()
	return c, nil
}

func (c *Conversation) readMessages(r *reader, begun func(list []byte) []Message) {
	c.list = r.pos()
	r.countFrom(c.list)
	defer r.countFrom(0)
	r.list()
	known := begun(r.doc)
	for len(known) > 0 && !known[len(known)-1].isObject(r.doc) {
		known = known[:len(known)-1] // a number may go on
	}
	if len(known) > 0 {
		c.Messages = slices.Clip(known) // others may have it too
		r.jump(known[len(known)-1].End())
	}
	for r.item() {
		if len(c.Messages) == cap(c.Messages) {
			c.makeRoom(r)
		}
		c.Messages = append(c.Messages, Message{})
		m := &c.Messages[len(c.Messages)-1]
		if r.peek() == '{' {
			m.read(r)
			continue
		}
		m.at = r.value()
		d := newDigest()
		d.write(m.at.of(r.doc))
		m.digest, m.size = d, estimate(m.at.of(r.doc), tokens.JSON)
	}
}

const (
	firstMessages = 16
	// minMessage is a size below which messages are not expected to be: room is made for
	// no more than there can be of that size, so that a few short ones before a long one
	// take no more memory for them than the body has.
	minMessage = 256
)

// makeRoom makes room for as many messages, and calls in them, as are to be expected
// after those that were read.
func (c *Conversation) makeRoom(r *reader) {
	n, left := len(c.Messages), len(r.doc)-r.pos()
	more := min(n*left/max(r.pos(), 1), left/minMessage)
	more += more/8 + firstMessages
	c.Messages = append(make([]Message, 0, n+more), c.Messages...)
	r.calls = slices.Grow(r.calls, more/2)
}

// read reads one message. Its digest leaves out what clients move from message to
// message without meaning another conversation: marks for the cache, and whether a
// text stands alone or as the only part of a list.
func (m *Message) read(r *reader) {
	m.at.start, m.size.tokens = r.pos(), overhead
	d := newDigest()
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		word := decoded(name)
		switch string(word) {
		case "content":
			m.readContent(r)
			d.take(m.said)
			continue
		case "tool_calls":
			m.readCalls(r, &d)
			continue
		case "cache_control":
			r.value()
			continue
		}
		raw := r.value().of(r.doc)
		d.write(name)
		d.write(raw)
		switch string(word) {
		case "role":
			m.Role = roleOf(raw)
		case "is_error":
			m.IsError = string(raw) == "true"
		case "tool_call_id":
			if len(raw) > 0 && raw[0] == '"' {
				m.CallID = r.shared(raw)
			}
			m.size.add(idSize(len(raw)))
		default:
			m.size.add(idSize(len(raw)))
		}
	}
	m.at.end = r.pos()
	m.digest = d
	if m.content.end > 0 {
		m.size.add(estimate(m.content.of(r.doc), kindOf(m.Role)))
	}
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

func (m *Message) readContent(r *reader) {
	d := newDigest()
	switch r.peek() {
	case '"':
		m.content, m.Chars = r.text()
		m.text = m.content
		d.write(m.content.of(r.doc))
	case '[':
		for r.list(); r.item(); {
			m.readPart(r, &d)
		}
	default:
		d.write(r.value().of(r.doc))
	}
	m.said = d
}

func (m *Message) readPart(r *reader, d *digest) {
	if r.peek() != '{' {
		at := r.value()
		d.write([]byte("part"))
		d.write(at.of(r.doc))
		m.size.add(idSize(min(at.end-at.start, maxMedia)))
		return
	}
	whole := span{start: r.pos()}
	var text span
	isText := false
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		switch word := decoded(name); {
		case string(word) == "type":
			isText = is(r.value().of(r.doc), "text")
		case string(word) == "text" && r.peek() == '"':
			text, _ = r.text()
		default:
			r.value()
		}
	}
	whole.end = r.pos()
	if !isText || text.end == 0 {
		d.write(whole.of(r.doc))
		m.size.add(idSize(min(whole.end-whole.start, maxMedia)))
		return
	}
	d.write(text.of(r.doc))
	m.size.add(estimate(text.of(r.doc), tokens.Prose))
	if m.text.end == 0 {
		m.text = text
	}
}

func (m *Message) readCalls(r *reader, d *digest) {
	if r.peek() != '[' {
		d.write(r.value().of(r.doc))
		return
	}
	whole := span{start: r.pos()}
	first := len(r.calls)
	for r.list(); r.item(); {
		if r.peek() != '{' {
			r.value()
			continue
		}
		var call Call
		hasID := false
		for r.enter(); ; {
			name := r.name()
			if name == nil {
				break
			}
			switch word := decoded(name); {
			case string(word) == "id" && r.peek() == '"':
				call.ID, hasID = r.shared(r.value().of(r.doc)), true
				m.size.add(idSize(len(call.ID)))
			case string(word) == "function" && r.peek() == '{':
				m.size.add(idSize(call.readFunction(r)))
			default:
				r.value()
			}
		}
		if hasID {
			r.calls = append(r.calls, call)
		}
	}
	m.Calls = r.calls[first:len(r.calls):len(r.calls)]
	whole.end = r.pos()
	d.write(whole.of(r.doc))
}

// readFunction reads what is called and how. It returns the characters of both.
func (c *Call) readFunction(r *reader) int {
	size := 4
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		isString := r.peek() == '"'
		switch word := decoded(name); {
		case string(word) == "name" && isString:
			c.Name = r.shared(r.value().of(r.doc))
			size += len(c.Name)
		case string(word) == "arguments" && isString:
			var chars int
			c.arguments, chars = r.text()
			size += chars
		default:
			at := r.value()
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
	return rawjson.Unquote(c.bytes(m.content))
}

// HasText tells whether the content of a message is a string.
func (c *Conversation) HasText(message int) bool { return c.Messages[message].content.end > 0 }

// Raw is a message as the client wrote it.
func (c *Conversation) Raw(message int) []byte { return c.bytes(c.Messages[message].at) }

// End is the offset just past the message, counted from the bracket of its list.
func (m *Message) End() int { return m.at.end }

func (m *Message) isObject(list []byte) bool { return list[m.at.start] == '{' }

// List is the body from the bracket of its list of messages on; nil where it has none.
func (c *Conversation) List() []byte {
	if len(c.Messages) == 0 {
		return nil
	}
	return c.Body[c.list:]
}

// bytes are those of a stretch of the list.
func (c *Conversation) bytes(s span) []byte { return s.of(c.Body[c.list:]) }
