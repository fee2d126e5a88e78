package main

import (
	"encoding/json"
	"math"

	"secateur/test/provider"
)

// The limit is the cost of a run with perfect foresight: results are pruned as the program prunes
// them, and old ones, including errors, are masked at the best moments. The cache is always warm,
// to the token.

const (
	window      = 8  // turns whose results stay whole
	placeholder = 40 // tokens of a masked result's placeholder
)

// sized is a message: its tokens as sent, and whose result it is.
type sized struct {
	tokens int
	turn   int // of the calls it answers; -1: no result
}

// prefix is a request: the number of messages, and of turns with calls.
type prefix struct{ messages, turns int }

// limit returns the least possible cost of the requests (dynamic programming over the moments of
// masking), never above ceiling at any request; nil: no ceiling.
func limit(before int, messages []sized, requests []prefix, t provider.Terms, ceiling []float64) float64 {
	// size returns the tokens of the first messages if everything was last masked at a request; -1:
	// never.
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
	// changed returns the first message that masking at a request changes.
	changed := func(last, now int) int {
		for i, m := range messages[:requests[now].messages] {
			done := last >= 0 && m.turn < requests[last].turns-window
			if m.turn >= 0 && m.tokens > placeholder && !done && m.turn < requests[now].turns-window {
				return i
			}
		}
		return -1
	}
	best := map[int]float64{-1: 0} // by the last moment of masking
	for k, r := range requests {
		sent := 0
		if k > 0 {
			sent = requests[k-1].messages
		}
		next := map[int]float64{}
		event, most := math.Inf(1), math.Inf(1)
		if ceiling != nil {
			most = ceiling[k] * dearer
		}
		for last, cost := range best {
			known := size(sent, last)
			if k == 0 {
				known = 0
			}
			if paid := cost + t.Read*known + t.Write*(size(r.messages, last)-known); paid <= most {
				next[last] = paid
			}
			if from := changed(last, k); from >= 0 {
				kept := size(min(from, sent), last)
				event = min(event, cost+t.Read*kept+t.Write*(size(r.messages, k)-kept))
			}
		}
		if event <= most && !math.IsInf(event, 1) {
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

// prefixes returns the requests of a run, and whose results its messages are.
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

// least is the least cost of a run relative to passing through: with only the end in mind, and
// without ever exceeding the pass-through cost.
type least struct{ atTheEnd, always, through float64 }

// limits returns the least cost of a run at each price.
func limits(ruler *provider.Ruler, s *session, whole, pruned []byte, played []prices, most int) (all []least) {
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
		before, messages := of(whole)
		passed := through(before, messages, requests, p.terms)
		before, messages = of(pruned)
		all = append(all, least{
			atTheEnd: limit(before, messages, requests, p.terms, nil),
			always:   limit(before, messages, requests, p.terms, passed),
			through:  passed[len(passed)-1],
		})
	}
	return all
}

// through returns the pass-through cost up to each request.
func through(before int, messages []sized, requests []prefix, t provider.Terms) (sums []float64) {
	var sum, last float64
	for _, r := range requests {
		size := float64(before)
		for _, m := range messages[:r.messages] {
			size += float64(m.tokens)
		}
		sum += t.Read*last + t.Write*(size-last)
		sums, last = append(sums, sum), size
	}
	return sums
}
