package history

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// The features that cut texts.
const (
	FeatureGateway = "gateway" // observations, in the gateway
	FeatureMCP     = "mcp"     // observations, in the aggregate
	FeatureMasked  = "masked"  // old tool results of conversations
	FeaturePruned  = "pruned"  // big tool results of conversations, once
	FeatureHook    = "hook"    // results of an agent's own tools, in its hook
)

// Exchange is an answered request to a provider, with known prices.
type Exchange struct {
	Provider, Model            string
	PromptTokens, CachedTokens int64   // as counted by the provider
	Spent, Passthrough         float64 // dollars for the prompt
	Parts                      []Part  // what was cut; none: sent unchanged
}

// Part is what one feature cut out of a request.
type Part struct {
	Feature string
	Tool    string  // tool of the results; "": several
	Weight  float64 // relative share of Passthrough − Spent, for example in tokens
}

// Share is one feature's share of an exchange.
type Share struct {
	Part
	Spent, Passthrough, Saved, Lost float64 // dollars
}

// Shares divides the bill of an exchange between its parts by weight. The shares add up to the
// exchange's own bill. In each, saved − lost = passthrough − spent.
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

// Cut is a text that was cut, or whose original was requested.
type Cut struct {
	Feature, Server, Tool, Model string
	Tokens                       int64
	// The same text was cut, or requested, before: only its tokens count again.
	Again bool
}

// row names a set of counters. A field is "" if it does not apply.
type row struct {
	Server   string `json:"server,omitempty"`
	Tool     string `json:"tool,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Feature  string `json:"feature,omitempty"`
	Arm      string `json:"arm,omitempty"` // of a trial; all other fields are then ""
}

// counters are the counts of a row.
type counters struct {
	Spent       float64 `json:"spent,omitempty"`
	Passthrough float64 `json:"passthrough,omitempty"`
	Saved       float64 `json:"saved,omitempty"`
	Lost        float64 `json:"lost,omitempty"`

	// a share of an exchange may be a fraction of a token
	PromptTokens    float64 `json:"prompt_tokens,omitempty"`
	CachedTokens    float64 `json:"cached_tokens,omitempty"`
	Cuts            int64   `json:"cuts,omitempty"`
	CutTokens       int64   `json:"cut_tokens,omitempty"`
	Recovered       int64   `json:"recovered,omitempty"`
	RecoveredTokens int64   `json:"recovered_tokens,omitempty"`

	counted
	Trial *sums `json:"trial,omitempty"`
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
	c.counted.add(d.counted)
	c.Trial = c.Trial.add(d.Trial)
}

// hour holds the counters of one hour.
type hour map[row]*counters

// maxRows limits the rows of one process per hour. Further names count as Other.
const maxRows = 256

// Other replaces names beyond the limit.
const Other = "other"

// at returns the counters of a row, or of the row for others if there are too many.
func (h hour) at(r row) *counters {
	r = row{clip(r.Server), clip(r.Tool), clip(r.Provider), clip(r.Model), clip(r.Feature), clip(r.Arm)}
	if c := h[r]; c != nil {
		return c
	}
	if len(h) >= maxRows && r.Arm == "" {
		r = r.folded()
		if c := h[r]; c != nil {
			return c
		}
		if len(h) >= 2*maxRows {
			r = row{Other, Other, Other, Other, Other, ""}
		}
	}
	c := h[r]
	if c == nil {
		c = &counters{}
		h[r] = c
	}
	return c
}

// folded keeps only the fields of a row that have few values.
func (r row) folded() row {
	fold := func(s string) string {
		if s == "" {
			return ""
		}
		return Other
	}
	return row{fold(r.Server), fold(r.Tool), r.Provider, fold(r.Model), r.Feature, ""}
}

// clip replaces a name that is too long.
func clip(s string) string {
	const most = 128
	if len(s) > most {
		return Other
	}
	return s
}

// startOf returns the beginning of the hour.
func startOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

// sorted orders items: days and hours by time, others by savings, highest first.
func sorted(items []Item, by By) []Item {
	slices.SortFunc(items, func(a, b Item) int {
		if by == ByDay || by == ByHour {
			return cmp.Compare(a.Key, b.Key)
		}
		return cmp.Or(cmp.Compare(b.SavedUSD, a.SavedUSD), cmp.Compare(b.CutTokens, a.CutTokens), cmp.Compare(a.Key, b.Key))
	})
	return items
}
