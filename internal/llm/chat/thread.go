package chat

import "secateur/internal/llm/bill"

// partBill returns the known cost of a request with only new messages, in a conversation that the
// server keeps. The provider's count was spent. Cut text would have been written to its cache once,
// and read with every later request. We cannot see those, so more was saved than is booked. Without
// the provider's counts nothing is known.
func (p *Plan) partBill(usage *bill.Usage) Bill {
	terms := p.terms.With(p.marks)
	if usage == nil || !terms.Known() {
		return Bill{}
	}
	prompt := bill.Prompt{Total: usage.Input, Cached: usage.Cached, Hour: usage.Hour}
	if usage.WroteTold {
		prompt.Plain = max(0, usage.Input-usage.Cached-usage.Wrote)
	}
	var removed bill.Size
	for _, cut := range p.Cuts {
		removed = removed.Plus(p.removedOf(cut.Message))
	}
	saved := 0.0
	if len(p.Cuts) > 0 {
		saved = max(0, p.before.Account.Scale.Count(removed)) * terms.Write
	}
	perToken := p.perToken()
	return Bill{Spent: terms.Cost(prompt) * perToken, Saved: saved * perToken}
}
