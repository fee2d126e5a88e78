package chat

import "secateur/internal/rawjson"

// MaxDepth is how many containers a request may have within each other.
const MaxDepth = 1000

// Conversation is the body of a request in one of the formats, read without losing a
// byte of it: everything below is offsets into it.
type Conversation struct {
	Format   Format
	Body     []byte
	Messages []Message
	Model    string // "" where there is none, or it is no string
	Stream   bool   // the answer is wanted as server-sent events
	Thread   Thread // of a server that keeps what was said before

	room    *room    // behind the messages; nil: there are none
	adds    bool     // to the array that has the room
	list    int      // where in Body the list of messages starts: the offsets in Messages count from there
	model   span     // of the model's value, quotes included; empty where there is none
	tools   Key      // of all else that a provider may keep its caches apart by
	extra   size     // of that
	barrier Barrier  // what the request says itself about changes
	marks   marks    // for the cache, before and beside the messages
	marked  bool     // the cache keeps what is marked, and nothing else
	sizes   *sizes   // of contents, as far as they were asked for
	sized   bool     // they were
	chain   []digest // of every beginning, from that of none of the messages to that of all; made when asked for
	related *results // to the turns that asked for them; made when asked for
	// recoverTool is what the request calls the tool that brings back what was cut; "": it does not have it.
	recoverTool string
	formed      *formed // how it went out before, as somebody has asked; nil: nobody has
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

// Message is one message of a conversation, or one item where a format has a list of
// these. Where a message can hold several results, each is a Message of its own, and so is
// what stands between them. It is not changed once it was read.
type Message struct {
	Role    Role
	CallID  string // the call that a tool's result answers
	Calls   []Call // the tools an assistant calls; empty ones and such without an id left out
	IsError bool   // marked as such by the client
	Chars   int    // characters of the content, where it is a string

	follows bool // it goes on with the answer that the message before it is a part of
	signed  bool // it holds reasoning that the provider has signed
	listed  bool // its content is a list of parts
	special special
	mark    mark  // for the cache, at its end
	places  uint8 // how many places of a cache it takes, beside the one at its end

	at      span   // the whole message, or that which it is a part of
	content span   // the string that can be cut: its content, or the longest text in it; else empty
	text    span   // a string to quote from: the content, or its first text part
	size    size   // of what a provider is likely to count, but for the content where that is due
	rest    size   // of that, what stays when the content is cut: other parts of a list
	digest  digest // of the message
	said    digest // of its content

	due uint8 // what kind of text the content is that is measured when its size is asked for, plus one; 0: there is none
}

// special is what a message says about the others.
type special uint8

// What it can say.
const (
	nothing   special = iota
	summary           // it stands for all that comes before it
	reference         // it stands for one that the server keeps
	trigger           // a summary is asked for
)

// Call is a tool call with an id.
type Call struct {
	ID   string
	Name string // "" where it has none

	arguments span
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

// Talk is the number of messages before the first result: nothing of them is ever cut.
func (c *Conversation) Talk() int {
	for i := range c.Messages {
		if c.Messages[i].Role == Tool {
			return i
		}
	}
	return len(c.Messages)
}
