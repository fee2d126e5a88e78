package chat

import (
	"slices"

	"secateur/internal/llm/bill"
)

// Past is what is known of a conversation when a request of it comes. The zero value means
// that it was never seen: then it is taken to have been sent whole, and to be in the
// provider's cache.
type Past struct {
	Record  *Record // what this lane has sent last
	Sibling *Record // what any lane has sent last, where that is more

	// When a request to the same model of the same provider was last sent that begins like
	// this one, Unix seconds. 0: never.
	Touched int64
	Alone   bool // all of these were of this lane

	// Results of conversations that begin like this one went out pruned: the bytes of any of them may be frozen,
	// whether or not there is a record.
	Frozen bool
	Off    bool // nothing more is cut: a provider has refused what was made of the conversation

	Engine  uint64       // what prunes now; see [Pruning.Engine]
	Learned bill.Learned // about the provider's model
	Claims  float64      // what the branches of this lane have claimed
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

// Root names what a conversation begins with, all that stands before the first answer. No two
// conversations with different roots have anything in common that could be cut.
func (c *Conversation) Root() Key { return c.key(c.root()) }

func (c *Conversation) root() int {
	for i := range c.Messages {
		if i > 0 && c.Messages[i].Role == Assistant {
			return i
		}
	}
	return len(c.Messages)
}

// answered is the number of messages before the last answer: an earlier request has had
// them all.
func (c *Conversation) answered() int {
	for i := len(c.Messages) - 1; i > 0; i-- {
		if c.Messages[i].Role == Assistant && !c.Messages[i].follows {
			return i
		}
	}
	return 0
}

// forms are how messages went out before.
type forms struct {
	of   []Sent // by message, up to the last that did not go out whole; the zero value did
	seen int    // so many messages are known to have been sent
	sent int    // so many messages the provider's cache of this lane may have
	warm int    // so many it is likely to have
	lane int    // so many messages this lane has sent, in these forms

	booked int // so many messages are in the account of this lane or another
}

// cut lists the messages that did not go out whole.
func (f *forms) cut() (messages []int) {
	for i := range f.of {
		if f.of[i].Kind != Whole {
			messages = append(messages, i)
		}
	}
	return messages
}

// isRefused tells whether some went out so in requests alone that the provider refused.
func (f *forms) isRefused() bool {
	return slices.ContainsFunc(f.of, func(s Sent) bool { return s.Refused })
}

// formed are the forms of a conversation, by the past that they were made of.
type formed struct {
	record, sibling *Record
	alone           bool
	forms           forms
}

// noteForms is formsOf for who only looks at them: the next who asks need not have them made again.
func (c *Conversation) noteForms(past Past) *forms {
	c.formed = &formed{past.Record, past.Sibling, past.Alone, c.formsOf(past)}
	return &c.formed.forms
}

// formsOf tells how the messages of a conversation went out before. What this lane has not
// sent goes out as it did in another. They are the caller's to change.
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

// adopt takes over how a message went out that no record has, of a conversation of which so many messages were sent.
func (f *forms) adopt(s Sent, sent int) {
	f.set(s)
	f.seen = max(f.seen, sent)
	f.lane = max(f.lane, sent)
}

// take takes over what a record says about messages that are not known yet.
func (f *forms) take(c *Conversation, r *Record) {
	from := f.seen
	if r.Messages <= from {
		return
	}
	f.seen, f.booked = r.Messages, max(f.booked, r.Cached)
	for _, cut := range slices.Backward(r.Cuts) { // the last first: it makes room for all
		if cut.Message >= from && cut.Message < r.Messages && c.isResult(cut.Message) {
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
