package chat

import (
	"sync/atomic"

	"secateur/internal/rawjson"
)

// MaxDepth is the maximum nesting of a request.
const MaxDepth = 1000

// Conversation is the parsed body of a request in one of the formats. It keeps every byte:
// everything below is offsets into the body.
type Conversation struct {
	Format   Format
	Body     []byte
	Messages []Message
	Model    string // "": none, or not a string
	Stream   bool   // the client wants server-sent events
	Thread   Thread // whether the server keeps the history

	room *room // spare capacity after the messages; nil: no messages
	adds bool  // it may append to the shared array
	// Start of the message list in Body: the offsets in Messages are relative to it.
	list    int
	model   span        // the model's value with its quotes; empty: none
	tools   Key         // everything else by which a provider may separate its caches
	extra   size        // size of that
	barrier Barrier     // the request's own restrictions on changes
	marks   marks       // for the cache, outside of the messages
	marked  bool        // the cache stores only what is marked
	sizes   *sizes      // of contents, computed on demand
	sized   atomic.Bool // they were computed
	// Digests of every prefix, from none of the messages to all; computed on demand.
	chain   []digest
	related *results // results with their calls; computed on demand
	// recoverTool is the request's name for the tool that recovers cut texts; "": it has none.
	recoverTool string
	formed      *formed // the forms of an earlier lookup; nil: none
}

// Role says who sent a message.
type Role uint8

// The roles that matter here; all others are Other.
const (
	Other Role = iota
	User
	Assistant
	Tool
)

// Message is one message of a conversation, or one item in a format with items. If a message holds
// several results, each is a separate Message, and so is the text between them. It does not change
// after parsing.
type Message struct {
	Role    Role
	CallID  string // the call that a tool result answers
	Calls   []Call // the calls of an assistant; empty ones and those without an id are left out
	IsError bool   // marked as such by the client
	Chars   int    // characters of the content, if it is a string

	follows bool // it continues the answer of the message before
	signed  bool // it has reasoning signed by the provider
	listed  bool // its content is a list of parts
	special special
	mark    mark  // for the cache, at its end
	places  uint8 // cache places that it takes besides the one at its end

	at      span   // the whole message, or the enclosing one
	content span   // the string that can be cut: the content, or its longest text; else empty
	text    span   // a string to quote: the content, or its first text part
	size    size   // estimated provider size, without the content if that is due
	rest    size   // the part of size that remains when the content is cut: other parts of a list
	digest  digest // of the message
	said    digest // of its content

	due uint8 // kind of the content plus one, if its size is computed on demand; 0: not due
}

// special is what a message says about the others.
type special uint8

// The kinds of special messages.
const (
	nothing   special = iota
	summary           // it replaces everything before it
	reference         // it refers to a message that the server keeps
	trigger           // it asks for a summary
)

// Call is a tool call with an id.
type Call struct {
	ID   string
	Name string // "" where it has none

	arguments span
}

// Text returns the decoded content of a message if it is a string, else "".
func (c *Conversation) Text(message int) string {
	m := &c.Messages[message]
	if m.content.end == 0 {
		return ""
	}
	return rawjson.Unquote(c.bytes(m.content))
}

// HasText reports whether the content of a message is a string.
func (c *Conversation) HasText(message int) bool { return c.Messages[message].content.end > 0 }

// Raw returns a message as the client wrote it.
func (c *Conversation) Raw(message int) []byte { return c.bytes(c.Messages[message].at) }

// End returns the offset after the message, relative to the bracket of its list.
func (m *Message) End() int { return m.at.end }

func (m *Message) isObject(list []byte) bool { return list[m.at.start] == '{' }

// List returns the body from the bracket of its message list on; nil: none.
func (c *Conversation) List() []byte {
	if len(c.Messages) == 0 {
		return nil
	}
	return c.Body[c.list:]
}

// bytes returns a stretch of the list.
func (c *Conversation) bytes(s span) []byte { return s.of(c.Body[c.list:]) }

// Talk is the number of messages before the first result: nothing of them is ever cut.
func (c *Conversation) Talk() int {
	for i := range c.Messages {
		if c.Messages[i].Role == Tool {
			return i
		}
	}
	return len(c.Messages)
}
