package chat

import "secateur/internal/llm/bill"

// partBill is what can be known of the cost of a request that holds only what is new, of a conversation that the server keeps. What the
// provider counted was spent. What was cut would have been written to its cache once, and read again with every later request: of these
// nobody sees what they hold, so that more was saved than is booked. Without the provider's counts nothing is known.
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
