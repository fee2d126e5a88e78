package replay

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// Trial is what would become of the last request of a session, and what the session would have cost up to it.
type Trial struct {
	Format     chat.Format
	Requests   int
	Prices     *bill.Prices    // nil: nobody knows them, and no strategy but that which holds today is tried
	Through    float64         // dollars for input, passing everything through
	Strategies []TriedStrategy // one of them is that which holds today
	Out        []byte          // the last request as it goes out today; nil: as it came
	Pieces     []TriedPiece    // of that
}

// TriedStrategy is what a strategy would have cost.
type TriedStrategy struct {
	Name           string
	Current        bool    // it holds today
	Spent          float64 // dollars for input
	Masked, Pruned int     // results of the last request
}

// TriedPiece is a message of a request, or a block or an item where the format has these.
type TriedPiece struct {
	Message       int    // its place in the list
	Role          string // "tool" for every result
	Tool, CallID  string
	Kind          chat.Kind
	Chars, Kept   int     // characters before and after
	Before, After float64 // tokens
	Text          string  // what stands for a result that is cut
}

// asConfigured names a strategy that holds today and is none of those that are compared.
const asConfigured = "as configured"

// Try plays a session under every strategy at the prices of a model, and shows what goes out under that which holds today.
func Try(ctx context.Context, s *Session, model string, o Options) (*Trial, error) {
	p := newPlayer(s, o)
	prices, known := o.Prices(model)
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

// tried compares the last request with what was sent for it. Cuts are in the order of the pieces, and each changes one.
func (p *player) tried(out played) []TriedPiece {
	k := len(p.whole) - 1
	whole, sent, cuts := p.whole[k], out.prompt[k], out.last.Cuts
	all := make([]TriedPiece, 0, len(whole))
	for message, raw := range p.session.requests[k].list {
		for range p.render.pieces(p.session.format, []jsontext.Value{raw}) {
			i := len(all)
			before, after := whole[i], sent[i]
			t := TriedPiece{
				Message: message, Role: before.role, CallID: before.id, Tool: p.session.called[before.id], Chars: before.characters(), Kept: after.characters(),
				Before: before.size / p.perToken, After: after.size / p.perToken,
			}
			if before.rendered != after.rendered && len(cuts) > 0 {
				t.Kind, t.Text, cuts = cuts[0].Kind, cuts[0].Text, cuts[1:]
			}
			all = append(all, t)
		}
	}
	return all
}

// characters are those of what a result says, and of all that counts of anything else.
func (m *rendered) characters() int {
	if m.role == roleTool {
		return utf8.RuneCountInString(m.said)
	}
	return m.chars
}
