package chat

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// lastCall searches all messages before one for the last call with an id. It returns its turn, and
// the tool's name by that call or by the last one before that has a name.
func lastCall(c *Conversation, before int, id string) (turn int, name string, call *Call) {
	turns, calling := 0, false
	for i := range c.Messages[:before] {
		m := &c.Messages[i]
		if m.Role != Assistant {
			continue
		}
		calling = calling && m.follows
		if len(m.Calls) > 0 && !calling {
			calling = true
			turns++
		}
		for k := range m.Calls {
			if m.Calls[k].ID != id {
				continue
			}
			turn, call = turns-1, &m.Calls[k]
			if call.Name != "" {
				name = call.Name
			}
		}
	}
	return turn, name, call
}

func TestResultsAreRelatedToTheLastCallWithTheirID(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		c := &Conversation{}
		ids := 1 + rnd.IntN(30) // few, so that they repeat
		id := func() string {
			if n := rnd.IntN(ids); n > 0 {
				return fmt.Sprint("call_", n)
			}
			return ""
		}
		for range rnd.IntN(40) {
			m := Message{Role: Role(rnd.IntN(4)), follows: rnd.IntN(3) == 0}
			switch m.Role {
			case Tool:
				m.CallID = id()
			case Assistant:
				for range rnd.IntN(3) {
					m.Calls = append(m.Calls, Call{ID: id(), Name: []string{"", "read", "write"}[rnd.IntN(3)]})
				}
			}
			c.Messages = append(c.Messages, m)
		}
		r := c.relate()
		for i := range c.Messages {
			m := &c.Messages[i]
			if m.Role != Tool {
				if r.of[i].last != 0 || r.of[i].since != 0 {
					t.Fatalf("message %d is no result, and answers a call", i)
				}
				continue
			}
			turn, name, call := lastCall(c, len(c.Messages), m.CallID)
			last := r.answer(r.of[i].last)
			if (last != nil) != (call != nil && m.CallID != "") {
				t.Fatalf("message %d with the id %q: answers some call: %v", i, m.CallID, last != nil)
			}
			if last != nil && (last.turn != turn || r.name(i) != name || last.call != call) {
				t.Fatalf("message %d answers %q of turn %d, want %q of turn %d", i, r.name(i), last.turn, name, turn)
			}
			_, name, call = lastCall(c, i, m.CallID)
			since := r.answer(r.of[i].since)
			if r.isAsked(i) != (call != nil) || since != nil && (since.call != call || r.sinceName(i) != name) {
				t.Fatalf("message %d was asked for: %v as %q, want %v as %q", i, r.isAsked(i), r.sinceName(i), call != nil, name)
			}
		}
	}
}
