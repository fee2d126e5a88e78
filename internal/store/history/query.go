package history

import (
	"fmt"
	"time"
)

// By is what a query groups by.
type By string

// What a query can group by.
const (
	ByNothing By = ""
	ByServer  By = "server"
	ByTool    By = "tool"
	ByModel   By = "model" // provider/model
	ByFeature By = "feature"
	ByDay     By = "day" // in UTC
	ByHour    By = "hour"
)

// None is the key of what has no server, tool, model or feature: requests out of which nothing was cut, for example.
const None = "(none)"

// Query is a question.
type Query struct {
	By    By
	Since time.Duration // how far back, to the hour; 0: all there is
}

// Totals are sums, as GET /api/v1/savings tells them.
type Totals struct {
	SpentUSD        float64 `json:"spent_usd"`
	PassthroughUSD  float64 `json:"passthrough_usd"`
	SavedUSD        float64 `json:"saved_usd"`
	LostUSD         float64 `json:"lost_usd"`
	CutTokens       int64   `json:"cut_tokens"`
	RecoveredTokens int64   `json:"recovered_tokens"`
	RecoveryRate    float64 `json:"recovery_rate"`  // texts that were asked for again, over those cut
	CacheHitRate    float64 `json:"cache_hit_rate"` // tokens that the provider's cache had, over all of prompts
}

// Item is the sums of one key.
type Item struct {
	Key string `json:"key"`
	Totals
}

// Savings answer a query.
type Savings struct {
	Totals
	Items      []Item `json:"items,omitempty"`
	Incomplete bool   `json:"incomplete,omitzero"` // what replicas share could not be read: only this machine's is counted
}

// ParseBy reads what to group by.
func ParseBy(s string) (By, error) {
	switch by := By(s); by {
	case ByNothing, ByServer, ByTool, ByModel, ByFeature, ByDay, ByHour:
		return by, nil
	}
	return "", fmt.Errorf("by: %q is none of server, tool, model, feature, day, hour", s)
}

// Query adds up what was counted by this process and all others with the same directory, or the same engine.
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
	for _, l := range append(rows, stored...) {
		if l.Hour.Before(first) {
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
	out := Savings{Totals: total.totals(), Incomplete: incomplete}
	for key, c := range groups {
		out.Items = append(out.Items, Item{key, c.totals()})
	}
	sorted(out.Items, q.By)
	return out, nil
}

// inMemory gives the rows that this process holds, and the names of the files that hold the same.
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

// key is the group of a row.
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
	return t
}
