package replay

import (
	"cmp"
	"context"
	"slices"
)

// Weighed is the bill of one session as it was recorded, pruned on first pass, and pruned and masked.
type Weighed struct {
	Requests              int
	Through, Pruned, Both Weight
	Tools                 []ToolWeight
	Cuts                  []CutExample // the largest cuts of pruning, at most three
}

// Weight is the input of a session.
type Weight struct{ Dollars, Tokens float64 }

// Add adds another session's.
func (w *Weight) Add(v Weight) { w.Dollars, w.Tokens = w.Dollars+v.Dollars, w.Tokens+v.Tokens }

// ToolWeight is a tool's part of a session's input.
type ToolWeight struct {
	Tool    string
	Results int
	Tokens  float64 // of its results, each counted once
	Share   float64 // of the cost of the session's input
}

// CutExample is a result before and after pruning.
type CutExample struct {
	Turn          int // the request that first carried it, from 1
	Tool          string
	Before, After float64 // tokens
	Was, Is       string
}

// Weigh plays a session at the prices of its model and its day. It reports false if these prices are not known.
func Weigh(ctx context.Context, s *Session, pruning, both Strategy, o Options) (w Weighed, known bool, err error) {
	prices, known := o.Prices(s.Model, s.day())
	if !known || !s.speaks() {
		return w, false, nil
	}
	p := newPlayer(s, o)
	p.learn()
	of := offer{s.Model, prices}
	terms := of.terms(s.format)
	through := p.passThrough(of)
	w.Requests = len(s.requests)
	w.Through = Weight{dollars(prices, terms, through), 0}
	for _, c := range through {
		w.Through.Tokens += c.Total
	}
	for _, play := range []struct {
		strategy Strategy
		to       *Weight
	}{{pruning, &w.Pruned}, {both, &w.Both}} {
		if err := ctx.Err(); err != nil {
			return w, true, err
		}
		out, err := p.play(play.strategy, of)
		if err != nil {
			return w, true, err
		}
		play.to.Dollars = dollars(prices, terms, out.sent)
		for _, c := range out.sent {
			play.to.Tokens += c.Total
		}
		if play.to == &w.Pruned {
			w.Cuts = p.examples(out)
		}
	}
	w.Tools = p.tools(terms.Read, max(terms.Write, terms.Hour*hourShare(s)))
	return w, true, nil
}

// hourShare is 1 if the session's prompts are kept for an hour.
func hourShare(s *Session) float64 {
	if len(s.requests) > 0 && s.requests[0].all.hour {
		return 1
	}
	return 0
}

// names returns the tools of the session's calls, by the call's id.
func (p *player) names() map[string]string {
	if p.session.called != nil {
		return p.session.called
	}
	names := make(map[string]string)
	all := p.session.requests
	for i := range all {
		if i+1 < len(all) && len(all[i+1].list) >= len(all[i].list) {
			continue // the next request repeats these messages
		}
		conv, err := p.session.format.Read(all[i].body(nil, p.session.format))
		if err != nil {
			continue // the session does not name its tools
		}
		for j := range conv.Messages {
			for _, call := range conv.Messages[j].Calls {
				names[call.ID] = call.Name
			}
		}
	}
	p.session.called = names
	return names
}

// tools divides the cost of the input among the tools: a result is written to the cache once, and read by each later request.
func (p *player) tools(read, write float64) []ToolWeight {
	names := p.names()
	seen := make(map[*rendered]bool)
	by := make(map[string]*ToolWeight)
	total := 0.0
	for k, prompt := range p.whole {
		rate := read
		if k == 0 {
			rate = write
		}
		total += p.hidden * rate
		for _, m := range prompt {
			cost, isNew := read*m.size/p.perToken, !seen[m.rendered]
			if isNew {
				cost = write * m.size / p.perToken
				seen[m.rendered] = true
			}
			total += cost
			if m.role != roleTool {
				continue
			}
			name := cmp.Or(names[m.id], "unknown")
			t := by[name]
			if t == nil {
				t = &ToolWeight{Tool: name}
				by[name] = t
			}
			t.Share += cost
			if isNew {
				t.Results++
				t.Tokens += m.size / p.perToken
			}
		}
	}
	all := make([]ToolWeight, 0, len(by))
	for _, t := range by {
		if total > 0 {
			t.Share /= total
		}
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b ToolWeight) int { return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Tool, b.Tool)) })
	return all
}

// examples returns the three results of the last request that pruning made shorter by most.
func (p *player) examples(out played) (all []CutExample) {
	names := p.names()
	k := len(p.whole) - 1
	for i, m := range p.whole[k] {
		sent := out.prompt[k][i]
		if m.role != roleTool || sent.rendered == m.rendered || sent.size >= m.size {
			continue
		}
		first := slices.IndexFunc(p.whole, func(prompt []piece) bool {
			return slices.ContainsFunc(prompt, func(q piece) bool { return q.rendered == m.rendered })
		})
		all = append(all, CutExample{
			Turn: first + 1, Tool: cmp.Or(names[m.id], "unknown"), Before: m.size / p.perToken, After: sent.size / p.perToken, Was: m.said, Is: sent.said,
		})
	}
	slices.SortStableFunc(all, func(a, b CutExample) int { return cmp.Compare(b.Before-b.After, a.Before-a.After) })
	return all[:min(3, len(all))]
}
