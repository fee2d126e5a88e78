package main

import (
	"encoding/json"
	"math"

	"secateur/test/provider"
)

// The limit is what a run costs to whoever knows how it goes on: results go out pruned as the program prunes them, and
// old ones are masked at the best moments, errors too. The cache is always warm, to the token.

const (
	window      = 8  // turns whose results stay whole
	placeholder = 40 // tokens of what stands for a masked result
)

// sized is a message: its tokens as it goes out, and whose result it is.
type sized struct {
	tokens int
	turn   int // of the calls it answers; -1: it is no result
}

// prefix is a request: so many messages after so many turns with calls.
type prefix struct{ messages, turns int }

// limit is the least that requests can cost (dynamic programming over the moments of masking).
func limit(before int, messages []sized, requests []prefix, t provider.Terms) float64 {
	// size is how many tokens the first messages have when everything was masked last at a request; -1: nothing ever was.
	size := func(n, masked int) float64 {
		sum := before
		for _, m := range messages[:n] {
			tokens := m.tokens
			if masked >= 0 && m.turn >= 0 && m.turn < requests[masked].turns-window {
				tokens = min(tokens, placeholder)
			}
			sum += tokens
		}
		return float64(sum)
	}
	// changed is the first message that masking at a request changes.
	changed := func(last, now int) int {
		for i, m := range messages[:requests[now].messages] {
			done := last >= 0 && m.turn < requests[last].turns-window
			if m.turn >= 0 && m.tokens > placeholder && !done && m.turn < requests[now].turns-window {
				return i
			}
		}
		return -1
	}
	best := map[int]float64{-1: 0} // by when everything was masked last
	for k, r := range requests {
		sent := 0
		if k > 0 {
			sent = requests[k-1].messages
		}
		next := map[int]float64{}
		event := math.Inf(1)
		for last, cost := range best {
			known := size(sent, last)
			if k == 0 {
				known = 0
			}
			next[last] = cost + t.Read*known + t.Write*(size(r.messages, last)-known)
			if from := changed(last, k); from >= 0 {
				kept := size(min(from, sent), last)
				event = min(event, cost+t.Read*kept+t.Write*(size(r.messages, k)-kept))
			}
		}
		if !math.IsInf(event, 1) {
			next[k] = event
		}
		best = next
	}
	least := math.Inf(1)
	for _, cost := range best {
		least = min(least, cost)
	}
	return least
}

// prefixes are the requests of a run, and whose results its messages are.
func prefixes(messages []json.RawMessage, most int) (requests []prefix, turns []int) {
	n := 0
	for i, raw := range messages {
		var m struct {
			Role  string            `json:"role"`
			Calls []json.RawMessage `json:"tool_calls"`
		}
		_ = json.Unmarshal(raw, &m)
		turn := -1
		switch m.Role {
		case "assistant":
			if most == 0 || len(requests) < most {
				requests = append(requests, prefix{i, n})
			}
			if len(m.Calls) > 0 {
				n++
			}
		case "tool":
			turn = n - 1
		}
		turns = append(turns, turn)
	}
	return requests, turns
}

// limits are the least that a run can cost at each price, and what passing through costs.
func limits(ruler *provider.Ruler, s *session, whole, pruned []byte, played []prices, most int) (least, through []float64) {
	requests, turns := prefixes(s.Messages, most)
	of := func(raw []byte) (int, []sized) {
		before, sizes := ruler.Sizes(raw)
		out := make([]sized, len(sizes))
		for i, n := range sizes {
			out[i] = sized{n, turns[i]}
		}
		return before, out
	}
	for _, p := range played {
		before, messages := of(pruned)
		least = append(least, limit(before, messages, requests, p.terms))
		before, messages = of(whole)
		for i := range messages {
			messages[i].turn = -1
		}
		through = append(through, limit(before, messages, requests, p.terms))
	}
	return least, through
}
