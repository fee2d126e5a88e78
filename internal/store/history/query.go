package history

import (
	"fmt"
	"time"
)

// By is the grouping of a query.
type By string

// The groupings.
const (
	ByNothing By = ""
	ByServer  By = "server"
	ByTool    By = "tool"
	ByModel   By = "model" // provider/model
	ByFeature By = "feature"
	ByDay     By = "day" // UTC
	ByHour    By = "hour"
)

// None is the key of rows without a server, tool, model or feature, such as requests without cuts.
const None = "(none)"

// Query selects and groups counters.
type Query struct {
	By    By
	Since time.Duration // how far back, to the hour; 0: everything
}

// Totals are sums, in the format of GET /api/v1/savings.
type Totals struct {
	SpentUSD        float64 `json:"spent_usd"`
	PassthroughUSD  float64 `json:"passthrough_usd"`
	SavedUSD        float64 `json:"saved_usd"`
	LostUSD         float64 `json:"lost_usd"`
	CutTokens       int64   `json:"cut_tokens"`
	RecoveredTokens int64   `json:"recovered_tokens"`
	// texts requested again, as a fraction of those cut
	RecoveryRate float64 `json:"recovery_rate"`
	// prompt tokens from the provider's cache, as a fraction of all
	CacheHitRate float64 `json:"cache_hit_rate"`
	// the provider's own counts; nil: none
	Counted *Counted `json:"counted,omitzero"`
}

// Item is the sums of one key.
type Item struct {
	Key string `json:"key"`
	Totals
}

// Savings is the result of a query.
type Savings struct {
	Totals
	Items []Item `json:"items,omitempty"`
	// conversations that were cut beside those that passed untouched; nil: none passed
	Holdout *Holdout `json:"holdout,omitzero"`
	// the shared counters could not be read: only this machine is counted
	Incomplete bool `json:"incomplete,omitzero"`
}

// ParseBy parses a grouping.
func ParseBy(s string) (By, error) {
	switch by := By(s); by {
	case ByNothing, ByServer, ByTool, ByModel, ByFeature, ByDay, ByHour:
		return by, nil
	}
	return "", fmt.Errorf("by: %q is none of server, tool, model, feature, day, hour", s)
}

// Query adds up the counters of this process and of all others with the same directory or engine.
func (h *History) Query(q Query) (Savings, error) {
	if h == nil {
		return Savings{}, nil
	}
	first := time.Time{}
	if q.Since > 0 {
		first = startOf(time.Now().Add(-q.Since))
	}
	rows, have := h.inMemory()
	stored, err := h.read(dayOf(first), have)
	if err != nil {
		return Savings{}, err
	}
	incomplete := false
	if h.redis != nil {
		shared, err := h.readShared(dayOf(first), have)
		stored, incomplete = append(stored, shared...), err != nil
	}
	var total counters
	groups := map[string]*counters{}
	arms, since := map[string]*sums{}, time.Now()
	for _, l := range append(rows, stored...) {
		if l.Hour.Before(first) {
			continue
		}
		if l.Arm != "" {
			arms[l.Arm] = arms[l.Arm].add(l.Trial)
			if l.Hour.Before(since) {
				since = l.Hour
			}
			continue
		}
		total.add(&l.counters)
		if q.By == ByNothing {
			continue
		}
		key := l.key(q.By)
		if groups[key] == nil {
			groups[key] = &counters{}
		}
		groups[key].add(&l.counters)
	}
	out := Savings{Totals: total.totals(), Holdout: holdout(arms[armCut], arms[armHeld], time.Since(since)), Incomplete: incomplete}
	for key, c := range groups {
		out.Items = append(out.Items, Item{key, c.totals()})
	}
	sorted(out.Items, q.By)
	return out, nil
}

// inMemory returns the rows in memory, and the names of the files with the same rows.
func (h *History) inMemory() (rows []line, names map[string]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	names = map[string]bool{}
	for start, counted := range h.hours {
		names[h.names[dayOf(start)]] = true
		for r, c := range counted {
			rows = append(rows, line{Hour: start, row: r, counters: *c})
		}
	}
	return rows, names
}

// key returns the group of a row.
func (l *line) key(by By) string {
	key := ""
	switch by {
	case ByServer:
		key = l.Server
	case ByTool:
		key = l.Tool
		if l.Server != "" && l.Tool != "" {
			key = l.Server + "::" + l.Tool
		}
	case ByModel:
		key = l.Model
		if l.Provider != "" && l.Model != "" {
			key = l.Provider + "/" + l.Model
		}
	case ByFeature:
		key = l.Feature
	case ByDay:
		return dayOf(l.Hour)
	case ByHour:
		return l.Hour.UTC().Format(time.RFC3339)
	}
	if key == "" {
		return None
	}
	return key
}

func (c *counters) totals() Totals {
	t := Totals{
		SpentUSD: c.Spent, PassthroughUSD: c.Passthrough, SavedUSD: c.Saved, LostUSD: c.Lost,
		CutTokens: c.CutTokens, RecoveredTokens: c.RecoveredTokens,
	}
	if c.Cuts > 0 {
		t.RecoveryRate = min(float64(c.Recovered)/float64(c.Cuts), 1)
	}
	if c.PromptTokens > 0 {
		t.CacheHitRate = c.CachedTokens / c.PromptTokens
	}
	t.Counted = c.countedBy(t.SavedUSD, t.LostUSD)
	return t
}
