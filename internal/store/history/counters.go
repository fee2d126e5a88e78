package history

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Features are what cuts.
const (
	FeatureGateway = "gateway" // observations, in the gateway
	FeatureMCP     = "mcp"     // observations, in the aggregate
	FeatureMasked  = "masked"  // old tool results of conversations
	FeaturePruned  = "pruned"  // big tool results of conversations, once
)

// Exchange is a request to a provider that was answered, at known prices.
type Exchange struct {
	Provider, Model            string
	PromptTokens, CachedTokens int64   // as the provider counted them
	Spent, Passthrough         float64 // dollars, for the prompt
	Parts                      []Part  // what was cut out of it; none: it went out as it came
}

// Part is what one feature has cut out of a request.
type Part struct {
	Feature string
	Tool    string  // whose results; "": of several
	Weight  float64 // its part of the difference between Passthrough and Spent, next to the others: tokens, for example
}

// Share is what one feature has of an exchange.
type Share struct {
	Part
	Spent, Passthrough, Saved, Lost float64 // dollars
}

// Shares divides the bill of an exchange between its parts by their weights. Together they are the exchange's own bill,
// never more, and in each saved − lost = passthrough − spent.
func (e Exchange) Shares() []Share {
	total := 0.0
	for _, p := range e.Parts {
		total += max(p.Weight, 0)
	}
	if total <= 0 || math.IsInf(total, 0) || math.IsNaN(total) {
		return []Share{e.share(Part{}, 1)}
	}
	shares := make([]Share, 0, len(e.Parts))
	for _, p := range e.Parts {
		if p.Weight > 0 {
			shares = append(shares, e.share(p, p.Weight/total))
		}
	}
	return shares
}

func (e Exchange) share(p Part, of float64) Share {
	s := Share{Part: p, Spent: of * e.Spent, Passthrough: of * e.Passthrough}
	s.Saved, s.Lost = max(s.Passthrough-s.Spent, 0), max(s.Spent-s.Passthrough, 0)
	return s
}

// Cut is a text that was cut, or whose original was asked for.
type Cut struct {
	Feature, Server, Tool, Model string
	Tokens                       int64
	Again                        bool // the same text was cut before: only its tokens count again
}

// row names counters. A field is "" where it says nothing.
type row struct {
	Server   string `json:"server,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Feature  string `json:"feature,omitempty"`
}

// counters are what is counted under a row.
type counters struct {
	Spent       float64 `json:"spent,omitempty"`
	Passthrough float64 `json:"passthrough,omitempty"`
	Saved       float64 `json:"saved,omitempty"`
	Lost        float64 `json:"lost,omitempty"`

	PromptTokens    float64 `json:"prompt_tokens,omitempty"` // a share of an exchange may have a fraction of a token
	CachedTokens    float64 `json:"cached_tokens,omitempty"`
	Cuts            int64   `json:"cuts,omitempty"`
	CutTokens       int64   `json:"cut_tokens,omitempty"`
	Recovered       int64   `json:"recovered,omitempty"`
	RecoveredTokens int64   `json:"recovered_tokens,omitempty"`
}

func (c *counters) add(d *counters) {
	c.Spent += d.Spent
	c.Passthrough += d.Passthrough
	c.Saved += d.Saved
	c.Lost += d.Lost
	c.PromptTokens += d.PromptTokens
	c.CachedTokens += d.CachedTokens
	c.Cuts += d.Cuts
	c.CutTokens += d.CutTokens
	c.Recovered += d.Recovered
	c.RecoveredTokens += d.RecoveredTokens
}

// hour holds the counters of one hour.
type hour map[row]*counters

// maxRows bounds how many rows an hour of one process has; beyond it names are other.
const maxRows = 256

// Other stands for names that are too many.
const Other = "other"

// at gives the counters of a row, in the row for others where there are too many.
func (h hour) at(r row) *counters {
	r = row{clip(r.Server), clip(r.Tool), clip(r.Provider), clip(r.Model), clip(r.Feature)}
	if c := h[r]; c != nil {
		return c
	}
	if len(h) >= maxRows {
		r = r.folded()
		if c := h[r]; c != nil {
			return c
		}
		if len(h) >= 2*maxRows {
			r = row{Other, Other, Other, Other, Other}
		}
	}
	c := h[r]
	if c == nil {
		c = &counters{}
		h[r] = c
	}
	return c
}

// folded keeps of a row what there can be few of.
func (r row) folded() row {
	fold := func(s string) string {
		if s == "" {
			return ""
		}
		return Other
	}
	return row{fold(r.Server), fold(r.Tool), r.Provider, fold(r.Model), r.Feature}
}

// clip bounds a name.
func clip(s string) string {
	const most = 128
	if len(s) > most {
		return Other
	}
	return s
}

// startOf is when the hour of a time begins.
func startOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

// sorted orders items: days by time, else what saved most first.
func sorted(items []Item, by By) []Item {
	slices.SortFunc(items, func(a, b Item) int {
		if by == ByDay || by == ByHour {
			return cmp.Compare(a.Key, b.Key)
		}
		return cmp.Or(cmp.Compare(b.SavedUSD, a.SavedUSD), cmp.Compare(b.CutTokens, a.CutTokens), cmp.Compare(a.Key, b.Key))
	})
	return items
}
