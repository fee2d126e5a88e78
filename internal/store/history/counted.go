package history

// Count is a provider's count of a request that was sent cut, in tokens.
type Count struct {
	Provider, Model string
	Sent            float64 // as sent, by its usage
	Told            float64 // without our cuts, as we report it
	Counted         float64 // without our cuts, by the provider's counter
}

// Counted compares our reports with the provider's counts of a sample of requests.
type Counted struct {
	Requests      int64   `json:"requests"`
	ToldTokens    float64 `json:"told_tokens"` // of these requests without our cuts, as we report them
	CountedTokens float64 `json:"counted_tokens"`
	// ToldTokens over CountedTokens, minus 1
	Difference float64 `json:"difference"`
	// all savings minus losses, if the estimates of all cuts are off like those of the sample
	SavedUSD float64 `json:"saved_usd"`
}

// counted are the sums of the counts of a row.
type counted struct {
	CountedRequests int64   `json:"counted_requests,omitempty"`
	CountedSent     float64 `json:"counted_sent,omitempty"`
	CountedTold     float64 `json:"counted_told,omitempty"`
	CountedTokens   float64 `json:"counted_tokens,omitempty"`
}

func (c *counted) add(d counted) {
	c.CountedRequests += d.CountedRequests
	c.CountedSent += d.CountedSent
	c.CountedTold += d.CountedTold
	c.CountedTokens += d.CountedTokens
}

// Counted adds a provider's count.
func (h *History) Counted(c Count) {
	if h == nil {
		return
	}
	h.update(func(now hour) {
		now.at(row{Provider: c.Provider, Model: c.Model}).counted.add(counted{1, c.Sent, c.Told, c.Counted})
	})
}

// countedBy compares the counts with estimated savings and losses; nil: nothing was counted.
func (c counted) countedBy(saved, lost float64) *Counted {
	if c.CountedRequests == 0 || c.CountedTokens <= 0 {
		return nil
	}
	times := 1.0 // what was cut, as counted over as estimated
	if estimated := c.CountedTold - c.CountedSent; estimated > 0 {
		times = max(0, (c.CountedTokens-c.CountedSent)/estimated)
	}
	return &Counted{
		Requests: c.CountedRequests, ToldTokens: c.CountedTold, CountedTokens: c.CountedTokens,
		Difference: c.CountedTold/c.CountedTokens - 1, SavedUSD: saved*times - lost,
	}
}
