package chat

import (
	"sync"
	"unsafe"

	"secateur/internal/llm/tokens"
	"secateur/internal/rawjson"
)

// Format is the protocol that a request is written in. What is decided about a conversation does not depend on it;
// where its messages, calls and results stand does.
type Format uint8

// The formats.
const (
	Completions Format = iota // OpenAI's chat completions
	Messages                  // Anthropic's
	Responses                 // OpenAI's
)

// String is how settings call the format.
func (f Format) String() string { return [...]string{"chat", "messages", "responses"}[f] }

// shape is how a format is read.
type shape struct {
	list  string                                               // the name of the list of messages
	item  func(c *Conversation, r *reader)                     // reads one of its objects
	field func(c *Conversation, keyed *digest, f *headerField) // takes in any other member of the request
}

// headerField is a member of a request beside its list of messages.
type headerField struct{ name, word, raw []byte }

var shapes = [...]shape{
	Completions: {list: "messages", item: (*Conversation).readCompletionMessage, field: (*Conversation).completionField},
	Messages:    {list: "messages", item: (*Conversation).readMessagesMessage, field: (*Conversation).messagesField},
	Responses:   {list: "input", item: (*Conversation).readItem, field: (*Conversation).responsesField},
}

// Read reads the body of a chat completion request.
func Read(body []byte) (*Conversation, error) { return Completions.Read(body) }

// Read reads the body of a request. It fails where the body is not one strict JSON
// object: names that come twice, bytes that are not UTF-8 and nesting past MaxDepth
// are refused everywhere. What it does not understand it leaves alone: a body
// without a list of messages is a conversation without messages.
func (f Format) Read(body []byte) (*Conversation, error) {
	return f.ReadOn(body, func([]byte) Known { return Known{} })
}

// Known are messages that were read before, in a conversation that begins like another.
type Known struct {
	Messages []Message

	room  *room
	sizes *sizes
}

// Known are the first messages of the conversation.
func (c *Conversation) Known() Known { return Known{c.Messages, c.room, c.sizes} }

// First are the first of them.
func (k Known) First(messages int) Known { return Known{k.Messages[:messages], k.room, k.sizes} }

// ReadOn is Completions.ReadOn.
func ReadOn(body []byte, begun func(list []byte) Known) (*Conversation, error) {
	return Completions.ReadOn(body, begun)
}

// ReadOn is Read for a request that may begin as another did. It calls begun with the
// body from the bracket of the list of messages on, which gives the messages that an
// earlier call has found at the beginning of a list that starts with the same bytes, up
// to the [Message.End] of the last of them. These are not read again.
func (f Format) ReadOn(body []byte, begun func(list []byte) Known) (*Conversation, error) {
	return f.ReadWithin(body, begun, nil)
}

// ReadWithin is ReadOn that asks charge before it takes memory: for the messages as they are read, and at the end for what it
// takes to decide about them. It ends with the error of charge, or with ErrTooMany.
func (f Format) ReadWithin(body []byte, begun func(list []byte) Known, charge func(bytes int64) error) (*Conversation, error) {
	r := newReader(body)
	r.charge = charge
	c := &Conversation{Format: f, Body: body, sizes: new(sizes)}
	keyed := newDigest()
	as := &shapes[f]
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			break
		}
		word := decoded(name)
		if string(word) == as.list && r.peek() == '[' {
			c.readList(&r, begun)
			continue
		}
		var at span
		if isDefinitions(word) {
			at = r.definitions()
		} else {
			at = r.value()
		}
		raw := at.of(body)
		switch string(word) {
		case "model":
			if len(raw) > 0 && raw[0] == '"' {
				c.model, c.Model = at, rawjson.Unquote(raw)
			}
		case "stream":
			c.Stream = string(raw) == "true"
		default:
			if string(word) == "tools" {
				c.recoverTool = recoverToolIn(raw, "")
			}
			as.field(c, &keyed, &headerField{name, word, raw})
		}
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	c.tools = keyed.sum()
	return c, nil
}

// Model reads which model a body asks for, "" where it names none. It takes no memory for the rest of the body.
func Model(body []byte) (string, error) {
	r := newReader(body)
	for r.enter(); ; {
		name := r.name()
		if name == nil {
			return "", r.end()
		}
		isModel := string(decoded(name)) == "model"
		if raw := r.value().of(body); isModel && len(raw) > 0 && raw[0] == '"' {
			return rawjson.Unquote(raw), nil
		}
	}
}

// isDefinitions tells the members of a request that are lists of tools.
func isDefinitions(word []byte) bool { return string(word) == "tools" || string(word) == "functions" }

// key takes in what a provider may keep its caches apart by.
func (f *headerField) key(keyed *digest) {
	keyed.write(f.name)
	keyed.write(f.raw)
}

func (c *Conversation) readList(r *reader, begun func(list []byte) Known) {
	c.list = r.pos()
	r.countFrom(c.list)
	defer r.countFrom(0)
	r.list()
	begins := begun(r.doc)
	known := begins.Messages
	for len(known) > 0 && !known[len(known)-1].isObject(r.doc) {
		known = known[:len(known)-1] // a number may go on
	}
	if len(known) > 0 {
		c.Messages, c.room = known, begins.room // others may have them too
		c.sizes.of = begins.sizes.first(len(known))
		r.jump(known[len(known)-1].End())
	}
	item := shapes[c.Format].item
	for r.item() {
		if r.peek() == '{' {
			item(c, r)
			continue
		}
		m := c.add(r)
		m.at = r.value()
		d := newDigest()
		d.write(m.at.of(r.doc))
		m.digest, m.size = d, estimate(m.at.of(r.doc), tokens.JSON)
	}
	if c.adds {
		c.room.leave(len(c.Messages))
		c.adds = false
	}
	r.pay(len(c.Messages) * planBytes)
}

// add adds a message, which is good until the next is added. Where there is no room for it reading ends.
func (c *Conversation) add(r *reader) *Message {
	if len(c.Messages) >= MaxItems {
		r.fail(ErrTooMany)
	}
	if !c.adds && len(c.Messages) < cap(c.Messages) {
		c.adds = c.room.enter(len(c.Messages))
	}
	if r.err == nil && (!c.adds || len(c.Messages) == cap(c.Messages)) {
		c.makeRoom(r)
	}
	if r.err != nil {
		return &Message{}
	}
	c.Messages = append(c.Messages, Message{})
	return &c.Messages[len(c.Messages)-1]
}

// room is behind the messages of conversations that begin alike, in one array: one of them can go on in it, the others make
// room of their own.
type room struct {
	mu    sync.Mutex // guards the fields below
	used  int        // so many messages of the array are some conversation's
	taken bool       // one is adding to them
}

// enter tells whether a conversation of so many messages may add to the array; then it leaves when it has.
func (m *room) enter(messages int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken || m.used != messages {
		return false
	}
	m.taken = true
	return true
}

// leave lets others add to the array, behind so many messages.
func (m *room) leave(messages int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used, m.taken = messages, false
}

const (
	firstMessages = 16
	// minMessage is a size below which messages are not expected to be: room is made for
	// no more than there can be of that size, so that a few short ones before a long one
	// take no more memory for them than the body has.
	minMessage = 256
	// minObject is about the size of a message that says next to nothing.
	minObject = 48

	messageBytes = int(unsafe.Sizeof(Message{}))
	callBytes    = int(unsafe.Sizeof(Call{}))
	// planBytes is about what a message takes beside, until its request is answered: a plan's lists, digests, sizes. Measured.
	planBytes     = 512
	planCallBytes = 80 // of a call, its id included; measured with the race detector, which takes more
)

// Bytes is how much memory the messages take.
func (k Known) Bytes() int { return cap(k.Messages) * messageBytes }

// makeRoom makes room for as many messages, and calls in them, as are to be expected
// after those that were read.
func (c *Conversation) makeRoom(r *reader) {
	n, left := len(c.Messages), len(r.doc)-r.pos()
	more := min(n*left/max(r.pos(), 1), left/minMessage)
	more += more/8 + min(firstMessages, 1+left/minObject)
	more = min(max(more, n/2), MaxItems-n) // by halves at least: messages that are all shorter than expected are not moved every time
	if r.pay((n + more) * messageBytes); r.err != nil {
		return
	}
	c.Messages = append(make([]Message, 0, n+more), c.Messages...)
	c.room, c.adds = &room{taken: true}, true
	r.roomForCalls(more / 2)
}
