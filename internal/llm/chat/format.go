package chat

import (
	"sync"
	"unsafe"

	"secateur/internal/llm/tokens"
	"secateur/internal/rawjson"
)

// Format is the protocol of a request. Decisions about a conversation do not depend on it; the
// places of messages, calls and results do.
type Format uint8

// The formats.
const (
	Completions Format = iota // OpenAI's chat completions
	Messages                  // Anthropic's
	Responses                 // OpenAI's
)

// String returns the format's name in settings.
func (f Format) String() string { return [...]string{"chat", "messages", "responses"}[f] }

// shape says how to read a format.
type shape struct {
	list string                           // the name of the message list
	item func(c *Conversation, r *reader) // reads one of its objects
	// Reads any other member of the request.
	field func(c *Conversation, keyed *digest, f *headerField)
}

// headerField is a member of a request beside its message list.
type headerField struct{ name, word, raw []byte }

var shapes = [...]shape{
	Completions: {list: "messages", item: (*Conversation).readCompletionMessage, field: (*Conversation).completionField},
	Messages:    {list: "messages", item: (*Conversation).readMessagesMessage, field: (*Conversation).messagesField},
	Responses:   {list: "input", item: (*Conversation).readItem, field: (*Conversation).responsesField},
}

// Read reads the body of a chat completion request.
func Read(body []byte) (*Conversation, error) { return Completions.Read(body) }

// Read parses the body of a request. It fails if the body is not one strict JSON object: duplicate
// names, invalid UTF-8 and nesting beyond MaxDepth are refused everywhere. Unknown parts are left
// alone: a body without a message list is a conversation without messages.
func (f Format) Read(body []byte) (*Conversation, error) {
	return f.ReadOn(body, func([]byte) Known { return Known{} })
}

// Known are messages parsed earlier, in a conversation with the same beginning.
type Known struct {
	Messages []Message

	room  *room
	sizes *sizes
}

// Known returns the messages of the conversation, for a later ReadOn.
func (c *Conversation) Known() Known { return Known{c.Messages, c.room, c.sizes} }

// First returns the first of them.
func (k Known) First(messages int) Known { return Known{k.Messages[:messages], k.room, k.sizes} }

// ReadOn is Completions.ReadOn.
func ReadOn(body []byte, begun func(list []byte) Known) (*Conversation, error) {
	return Completions.ReadOn(body, begun)
}

// ReadOn is Read for a request that may begin like an earlier one. It calls begun with the body
// from the bracket of the message list on. begun returns messages that an earlier call found at the
// beginning of a list. Both lists must have the same bytes up to the [Message.End] of the last.
// These are not parsed again.
func (f Format) ReadOn(body []byte, begun func(list []byte) Known) (*Conversation, error) {
	return f.ReadWithin(body, begun, nil)
}

// ReadWithin is ReadOn with memory accounting. It calls charge before it allocates messages, and at
// the end for the memory that deciding takes. It returns the error of charge, or ErrTooMany.
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

// Model reads the model of a body; "": none. It allocates nothing for the rest of the body.
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

// isDefinitions recognizes the members that are lists of tools.
func isDefinitions(word []byte) bool { return string(word) == "tools" || string(word) == "functions" }

// key hashes a member by which a provider may separate its caches.
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
		known = known[:len(known)-1] // a number may continue
	}
	if len(known) > 0 {
		c.Messages, c.room = known, begins.room // shared with others
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

// add appends a message, which is valid until the next is added. Without room for it, reading ends.
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

// room is the spare capacity after the messages of conversations with the same beginning, in one
// array. One of them can append to it; the others allocate their own.
type room struct {
	mu    sync.Mutex // guards the fields below
	used  int        // number of messages in use by some conversation
	taken bool       // a conversation is appending
}

// enter reports whether a conversation of that many messages may append to the array. If so it must
// call leave afterwards.
func (m *room) enter(messages int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.taken || m.used != messages {
		return false
	}
	m.taken = true
	return true
}

// leave lets others append to the array after that many messages.
func (m *room) leave(messages int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used, m.taken = messages, false
}

const (
	firstMessages = 16
	// minMessage is the least expected size of a message. It limits the preallocation: a few short
	// messages before a long one must not reserve more memory than the body has.
	minMessage = 256
	// minObject is the approximate size of a nearly empty message.
	minObject = 48

	messageBytes = int(unsafe.Sizeof(Message{}))
	callBytes    = int(unsafe.Sizeof(Call{}))
	// planBytes is the additional memory per message until its request is answered: a plan's lists,
	// digests, sizes. Measured.
	planBytes     = 512
	planCallBytes = 80 // per call, with its id; measured with the race detector, which takes more
)

// Bytes returns how much memory the messages take.
func (k Known) Bytes() int { return cap(k.Messages) * messageBytes }

// makeRoom allocates for the expected number of further messages and calls.
func (c *Conversation) makeRoom(r *reader) {
	n, left := len(c.Messages), len(r.doc)-r.pos()
	more := min(n*left/max(r.pos(), 1), left/minMessage)
	more += more/8 + min(firstMessages, 1+left/minObject)
	// Grow by at least half, so that many short messages are not moved every time.
	more = min(max(more, n/2), MaxItems-n)
	if r.pay((n + more) * messageBytes); r.err != nil {
		return
	}
	c.Messages = append(make([]Message, 0, n+more), c.Messages...)
	c.room, c.adds = &room{taken: true}, true
	r.roomForCalls(more / 2)
}
