package chat

// A tool turn is an assistant's answer that calls at least one tool with an id.
// results says of each message what it has to do with them.
type results struct {
	turns         int // how many there are
	assistants    int // answers of the assistant
	lastAssistant int // the last of these; -1: none
	of            []result
	answers       []int // for each message, the assistant's answers before it
}

// result is a message as a tool's result. Ids may come twice, so there are two
// ways to say which call it answers.
type result struct {
	ok   bool   // it is a result with an id that some turn has
	turn int    // the last turn that has the id
	name string // of the tool, as the last such turn calls it; "" where none says

	since     int    // the last turn before the message that has the id; -1: none
	sinceName string // of the tool, as that turn calls it
	call      *Call  // the last before the message that has the id; nil: none
}

// relate relates results to the turns that asked for them, once.
func (c *Conversation) relate() results {
	if c.related == nil {
		r := findResults(c)
		c.related = &r
	}
	return *c.related
}

func findResults(c *Conversation) results {
	r := results{lastAssistant: -1, of: make([]result, len(c.Messages)), answers: make([]int, len(c.Messages))}
	type call struct {
		turn int
		name string
		last *Call
	}
	calls := make(map[string]call, len(c.Messages)/2)
	settled := true  // what is found while going through holds at the end
	calling := false // the answer has called a tool
	for i := range c.Messages {
		m := &c.Messages[i]
		r.answers[i] = r.assistants
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
				tc := &m.Calls[k]
				before, again := calls[tc.ID]
				settled = settled && !again
				name := tc.Name
				if name == "" {
					name = before.name
				}
				calls[tc.ID] = call{r.turns - 1, name, tc}
			}
		case Tool:
			c, ok := calls[m.CallID]
			if !ok {
				r.of[i].since, settled = -1, false
				continue
			}
			r.of[i].since, r.of[i].sinceName, r.of[i].call = c.turn, c.name, c.last
			if m.CallID != "" {
				r.of[i].ok, r.of[i].turn, r.of[i].name = true, c.turn, c.name
			}
		}
	}
	if settled {
		return r
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role != Tool || m.CallID == "" {
			continue
		}
		if c, ok := calls[m.CallID]; ok {
			r.of[i].ok, r.of[i].turn, r.of[i].name = true, c.turn, c.name
		}
	}
	return r
}

// lastOfEachTool returns the ids of the newest k results of each tool, among those
// that answer the first so many turns.
func (r *results) lastOfEachTool(c *Conversation, k, turns int) map[string]bool {
	if k <= 0 {
		return nil
	}
	kept, seen := make(map[string]bool), make(map[string]int)
	for i := len(c.Messages) - 1; i >= 0; i-- {
		res := &r.of[i]
		if !res.ok || res.turn >= turns {
			continue
		}
		if seen[res.name]++; seen[res.name] <= k {
			kept[c.Messages[i].CallID] = true
		}
	}
	return kept
}
