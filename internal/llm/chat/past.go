package chat

import (
	"slices"

	"secateur/internal/llm/bill"
)

// Past is what is known of a conversation when a request comes. The zero value means never seen: it
// then counts as sent whole, and as present in the provider's cache.
type Past struct {
	Record  *Record // the last request of this lane
	Sibling *Record // the last request of any lane, if that has more

	// The last time a request with this beginning was sent to this model of this provider, Unix
	// seconds. 0: never.
	Touched int64
	Alone   bool // all of these were of this lane

	// Results of conversations with this beginning were sent pruned. The bytes of any of them may
	// be frozen, with or without a record.
	Frozen bool
	Off    bool // cut nothing more: a provider has refused our changes

	Engine  uint64       // the current engine; see [Pruning.Engine]
	Learned bill.Learned // about the provider's model
	Claims  float64      // claimed by the branches of this lane
}

// IsSeen tells whether any lane is known to have sent a part of the conversation.
func (p *Past) IsSeen() bool { return p.Record != nil || p.Sibling != nil }

// Lane names a conversation's cache: provider, model, tools, and whatever else a provider
// may keep its caches apart by. What was sent in a lane goes out in the same bytes there.
func (c *Conversation) Lane(provider, model string) Key {
	d := newDigest()
	d.write([]byte(provider))
	d.write([]byte(model))
	d.write(c.tools[:])
	return d.sum()
}

// Root identifies the beginning of a conversation: everything before the first answer.
// Conversations with different roots share nothing that could be cut.
func (c *Conversation) Root() Key { return c.key(c.root()) }

func (c *Conversation) root() int {
	for i := range c.Messages {
		if i > 0 && c.Messages[i].Role == Assistant {
			return i
		}
	}
	return len(c.Messages)
}

// answered returns the number of messages before the last answer: an earlier request has sent them
// all.
func (c *Conversation) answered() int {
	for i := len(c.Messages) - 1; i > 0; i-- {
		if c.Messages[i].Role == Assistant && !c.Messages[i].follows {
			return i
		}
	}
	return 0
}

// forms say how messages were sent before.
type forms struct {
	of   []Sent // by message, up to the last that was not sent whole; zero: whole
	seen int    // number of messages known to have been sent
	sent int    // number of messages that this lane's cache may have
	warm int    // number that it likely has
	lane int    // number that this lane has sent, in these forms

	booked int // number of messages in the account of this lane or another
}

// cutResults lists the results that were not sent whole.
func (f *forms) cutResults(c *Conversation) (messages []int) {
	for i := range f.of {
		if f.of[i].Kind != Whole && c.isResult(i) {
			messages = append(messages, i)
		}
	}
	return messages
}

// isRefused reports whether some forms were sent only in refused requests.
func (f *forms) isRefused() bool {
	return slices.ContainsFunc(f.of, func(s Sent) bool { return s.Refused })
}

// formed caches the forms of a conversation, by the past they were made from.
type formed struct {
	record, sibling *Record
	alone           bool
	forms           forms
}

// noteForms is formsOf for readers: it caches the result for the next call.
func (c *Conversation) noteForms(past Past) *forms {
	c.formed = &formed{past.Record, past.Sibling, past.Alone, c.formsOf(past)}
	return &c.formed.forms
}

// formsOf returns how the messages of a conversation were sent before. Messages that this lane has
// not sent keep their form in another lane. The caller may change the result.
func (c *Conversation) formsOf(past Past) forms {
	if made := c.formed; made != nil && made.record == past.Record && made.sibling == past.Sibling && made.alone == past.Alone {
		c.formed = nil
		return made.forms
	}
	var f forms
	cached := 0
	if r := past.Record; r != nil && r.Messages <= len(c.Messages) {
		f.take(c, r)
		f.lane, cached = r.Messages, r.Cached
	}
	known := len(f.of)
	if r := past.Sibling; r != nil && r.Messages <= len(c.Messages) {
		f.take(c, r)
		for i := known; i < len(f.of); i++ {
			f.of[i].Refused = false // this lane has another cache
		}
	}
	f.sent, f.warm = max(cached, c.answered()), cached
	if f.seen == 0 {
		f.warm = f.sent
	}
	if f.seen > 0 && f.seen >= c.answered() && past.Alone {
		f.sent = cached // the rest went elsewhere
	}
	return f
}

// adopt records the form of a message without a record, in a conversation with that many sent
// messages.
func (f *forms) adopt(s Sent, sent int) {
	f.set(s)
	f.seen = max(f.seen, sent)
	f.lane = max(f.lane, sent)
}

// take adds the forms of a record for messages that are not known yet.
func (f *forms) take(c *Conversation, r *Record) {
	from := f.seen
	if r.Messages <= from {
		return
	}
	f.seen, f.booked = r.Messages, max(f.booked, r.Cached)
	for _, cut := range slices.Backward(r.Cuts) { // the last first: it allocates for all
		if cut.Message >= from && cut.Message < r.Messages && c.canCut(cut.Message) {
			f.set(cut)
		}
	}
}

func (f *forms) set(s Sent) {
	if more := s.Message + 1 - len(f.of); more > 0 {
		f.of = append(f.of, make([]Sent, more)...)
	}
	f.of[s.Message] = s
}
