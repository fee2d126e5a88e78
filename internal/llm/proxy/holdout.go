package proxy

import (
	"errors"
	"slices"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// Arm is a side of the comparison between cut and untouched conversations.
type Arm string

// The arms. A conversation that is not compared has none.
const (
	ArmCut  Arm = "cut"
	ArmHeld Arm = "held" // passes untouched
)

// errHeldOut means that a conversation passes untouched for comparison.
var errHeldOut = errors.New("the conversation is held out")

// armOf returns the arm of a conversation. Its beginning decides, so that all its requests get the
// same arm on every replica. A conversation that was cut before must stay so, and is not compared.
// Nor is one whose history the server keeps: its requests do not show its beginning.
func (p *Proxy) armOf(conv *chat.Conversation, past *chat.Past) Arm {
	share := p.opt.Proof.Holdout
	if share <= 0 || conv.Thread != chat.NoThread {
		return ""
	}
	root := conv.Root()
	slices.Reverse(root[:]) // other bits than those of the sample
	switch {
	case shareOf(root) >= share:
		return ArmCut
	case past.Frozen || hasCuts(past.Record) || hasCuts(past.Sibling):
		return ""
	}
	return ArmHeld
}

func hasCuts(r *chat.Record) bool { return r != nil && len(r.Cuts) > 0 }

// compare adds to a report what the comparison of the arms needs. A response without usage is left
// out on both sides.
func (x *exchange) compare(s *Settled, usage *bill.Usage) {
	if x.arm == "" || usage == nil || !s.Priced {
		return
	}
	s.Arm, s.Conversation = x.arm, x.conv.Root().String()
	s.Paid = x.to.prices.Cost(*usage) / 1e6
	s.First = !slices.ContainsFunc(x.conv.Messages, func(m chat.Message) bool { return m.Role == chat.Assistant })
}
