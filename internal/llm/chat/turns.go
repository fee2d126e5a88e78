package chat

import (
	"hash/maphash"
	"slices"
)

// results relates each message to the tool turns. A tool turn is an assistant's answer that calls
// at least one tool with an id.
type results struct {
	turns         int // number of tool turns
	assistants    int // number of the assistant's answers
	lastAssistant int // index of the last of these; -1: none
	of            []result
	asked         []asked // all calls, in order

	asks     map[int]ask // what the calls of results ask for, by message, computed on demand
	compared int         // characters compared to find equal results
}

// result is a message as a tool result. Ids may repeat, so two numbers say which call it answers.
type result struct {
	last    int32 // number of the last call with the id; 0: no result, or an unknown id
	since   int32 // the last one before the message; 0: none
	answers int32 // number of the assistant's answers before the message
}

// asked is a call of some turn.
type asked struct {
	turn int
	name string // of the tool, by the latest call so far with the id that has one; "": none
	call *Call
}

// answer returns the call with that number; nil: none.
func (r *results) answer(number int32) *asked {
	if number == 0 {
		return nil
	}
	return &r.asked[number-1]
}

// name returns the name of the tool whose result a message is; "": none.
func (r *results) name(message int) string { return r.nameOf(r.of[message].last) }

// sinceName is the same by the calls before the message, which later turns cannot change.
func (r *results) sinceName(message int) string { return r.nameOf(r.of[message].since) }

func (r *results) nameOf(number int32) string {
	if a := r.answer(number); a != nil {
		return a.name
	}
	return ""
}

// isAsked reports whether some turn before a message has called for it.
func (r *results) isAsked(message int) bool { return r.of[message].since > 0 }

// relate relates results to their turns, once.
func (c *Conversation) relate() *results {
	if c.related == nil {
		r := findResults(c)
		c.related = &r
	}
	return c.related
}

func findResults(c *Conversation) results {
	calls := 0
	for i := range c.Messages {
		calls += len(c.Messages[i].Calls)
	}
	r := results{lastAssistant: -1, of: make([]result, len(c.Messages)), asked: make([]asked, 0, calls)}
	byID := newCallIndex(calls)
	settled := true  // results found on the way are final
	calling := false // the answer has called a tool
	for i := range c.Messages {
		m := &c.Messages[i]
		r.of[i].answers = int32(r.assistants) //nolint:gosec // a count of messages
		switch m.Role {
		case Assistant:
			r.lastAssistant = i
			if !m.follows {
				r.assistants++
				calling = false
			}
			if len(m.Calls) == 0 {
				continue
			}
			if !calling {
				calling = true
				r.turns++
			}
			for k := range m.Calls {
				call := &m.Calls[k]
				slot := byID.slot(r.asked, call.ID)
				name := call.Name
				if before := r.answer(*slot); before != nil {
					settled = false
					if name == "" {
						name = before.name
					}
				}
				r.asked = append(r.asked, asked{r.turns - 1, name, call})
				*slot = int32(len(r.asked)) //nolint:gosec // a count of calls
			}
		case Tool:
			number := byID.last(r.asked, m.CallID)
			r.of[i].since = number
			settled = settled && number > 0
			if m.CallID != "" {
				r.of[i].last = number
			}
		}
	}
	if settled {
		return r
	}
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Role == Tool && m.CallID != "" {
			r.of[i].last = byID.last(r.asked, m.CallID)
		}
	}
	return r
}

// callIndex finds the last call with an id: a hash table (open addressing). A map takes several
// times as long for the number of calls in one request. Its seed is random, so that clients cannot
// provoke collisions.
type callIndex struct {
	numbers []int32 // of calls; 0: free
	mask    uint64
}

var callSeed = maphash.MakeSeed()

func newCallIndex(calls int) callIndex {
	size := 8
	for size < 2*calls {
		size *= 2
	}
	return callIndex{make([]int32, size), uint64(size - 1)} //nolint:gosec // a length
}

// slot returns the place for the number of an id's last call.
func (x callIndex) slot(all []asked, id string) *int32 {
	for at := maphash.String(callSeed, id) & x.mask; ; at = (at + 1) & x.mask {
		if number := x.numbers[at]; number == 0 || all[number-1].call.ID == id {
			return &x.numbers[at]
		}
	}
}

// last returns the number of an id's last call; 0: none. Usually that is the very last call.
func (x callIndex) last(all []asked, id string) int32 {
	if n := len(all); n > 0 && all[n-1].call.ID == id {
		return int32(n) //nolint:gosec // a count of calls
	}
	return *x.slot(all, id)
}

// lastOfEachTool returns the ids of the newest k results of each tool, among those that answer the
// first turns.
func (r *results) lastOfEachTool(c *Conversation, k, turns int) map[string]bool {
	if k <= 0 {
		return nil
	}
	kept, seen := make(map[string]bool), make(map[string]int)
	for i, res := range slices.Backward(r.of) {
		asked := r.answer(res.last)
		if asked == nil || asked.turn >= turns {
			continue
		}
		if seen[asked.name]++; seen[asked.name] <= k {
			kept[c.Messages[i].CallID] = true
		}
	}
	return kept
}
