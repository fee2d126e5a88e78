package replay

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// Trial is the outcome for the last request of a session, and the cost of the session up to it.
type Trial struct {
	Format     chat.Format
	Requests   int
	Prices     *bill.Prices    // nil: unknown; then only the current strategy is tried
	Through    float64         // pass-through cost in dollars, for input
	Strategies []TriedStrategy // includes the current strategy
	Out        []byte          // the last request as it is sent today; nil: unchanged
	Pieces     []TriedPiece    // of the last request
}

// TriedStrategy is the cost under one strategy.
type TriedStrategy struct {
	Name           string
	Current        bool    // it is the configured one
	Spent          float64 // dollars for input
	Masked, Pruned int     // results of the last request
}

// TriedPiece is a message of a request, or a block or an item in formats that have these.
type TriedPiece struct {
	Message       int    // index in the list
	Role          string // "tool" for every result
	Tool, CallID  string
	Kind          chat.Kind
	Chars, Kept   int     // characters before and after
	Before, After float64 // tokens
	Text          string  // replacement of a cut result
}

// asConfigured is the name of a current strategy that is none of the compared ones.
const asConfigured = "as configured"

// Try plays a session under every strategy at the prices of a model. It shows what the current
// strategy sends.
func Try(ctx context.Context, s *Session, model string, o Options) (*Trial, error) {
	p := newPlayer(s, o)
	prices, known := o.Prices(model, s.day())
	of := offer{model, prices}
	terms := of.terms(s.format)
	t := &Trial{Format: s.format, Requests: len(s.requests)}
	if known {
		t.Prices, t.Through = &prices, dollars(prices, terms, p.passThrough(of))
	}
	all := slices.Clone(o.Strategies)
	if !slices.ContainsFunc(all, o.Current.same) {
		o.Current.Name = asConfigured
		all = append(all, o.Current)
	}
	for _, st := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tried := TriedStrategy{Name: st.Name, Current: st.same(o.Current)}
		if !known && !tried.Current {
			continue
		}
		out, err := p.play(st, of)
		if err != nil {
			return nil, err
		}
		tried.Masked = out.last.Masked()
		tried.Pruned = len(out.last.Cuts) - tried.Masked
		if known {
			tried.Spent = dollars(prices, terms, out.sent)
		}
		t.Strategies = append(t.Strategies, tried)
		if tried.Current {
			t.Pieces = p.tried(out)
			if len(out.last.Cuts) > 0 {
				t.Out = out.last.Append(nil)
			}
		}
	}
	return t, nil
}

// tried compares the last request with what was sent for it. Cuts of results are in the order of the
// pieces, and each changes one.
func (p *player) tried(out played) []TriedPiece {
	k := len(p.whole) - 1
	whole, sent := p.whole[k], out.prompt[k]
	cuts := slices.DeleteFunc(slices.Clone(out.last.Cuts), func(c chat.Cut) bool { return c.Arguments })
	all := make([]TriedPiece, 0, len(whole))
	for message, raw := range p.session.requests[k].list {
		for range p.render.pieces(p.session.format, []jsontext.Value{raw}) {
			i := len(all)
			before, after := whole[i], sent[i]
			t := TriedPiece{
				Message: message, Role: before.role, CallID: before.id, Tool: p.session.called[before.id], Chars: before.characters(), Kept: after.characters(),
				Before: before.size / p.perToken, After: after.size / p.perToken,
			}
			switch isChanged := before.rendered != after.rendered; {
			case isChanged && before.role != roleTool: // the arguments of a call
				t.Kind = chat.Pruned
			case isChanged && len(cuts) > 0:
				t.Kind, t.Text, cuts = cuts[0].Kind, cuts[0].Text, cuts[1:]
			}
			all = append(all, t)
		}
	}
	return all
}

// characters counts the content of a result, and the whole rendered text of any other piece.
func (m *rendered) characters() int {
	if m.role == roleTool {
		return utf8.RuneCountInString(m.said)
	}
	return m.chars
}
