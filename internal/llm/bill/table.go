package bill

import "strings"

// Dated is the day that the built-in prices were last compared with the vendors' price lists.
const Dated = "2026-11-16"

// Lookup returns the newest list prices of a well-known model, by its name as the provider
// or a router spells it ("claude-sonnet-4-5", "moonshotai/kimi-k2.6"). Prices age, so the settings override them.
func Lookup(model string) (Prices, bool) { return LookupAt(model, "") }

// LookupAt returns the list prices of a model on a day such as "2026-09-30" (UTC); "" means the newest. A day before
// the first known price gets that first price.
func LookupAt(model, day string) (Prices, bool) {
	name := canonical(model)
	for i, e := range table {
		if !strings.HasPrefix(name, e.prefix) {
			continue
		}
		for !e.holds(day) && i+1 < len(table) && table[i+1].prefix == e.prefix {
			i++
			e = table[i]
		}
		return e.prices(), true
	}
	return Prices{}, false
}

// Family returns what the names of a model and of those with the same prices begin with.
func Family(model string) (string, bool) {
	name := canonical(model)
	for _, e := range table {
		if strings.HasPrefix(name, e.prefix) {
			return e.prefix, true
		}
	}
	return "", false
}

// canonical returns the spelling that the table has: without a router's prefix, and without dots in Claude's versions.
func canonical(model string) string {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if strings.HasPrefix(name, "claude") {
		name = strings.ReplaceAll(name, ".", "-")
	}
	return name
}

// Dearest returns the highest input and output prices in the built-in table and the given prices.
func Dearest(others ...Prices) (d Prices) {
	for _, e := range table {
		d.Input, d.Output = max(d.Input, e.input), max(d.Output, e.output)
	}
	for _, p := range others {
		d.Input, d.Output = max(d.Input, p.Input), max(d.Output, p.Output)
	}
	return d
}

// Listed is a row of the built-in table.
type Listed struct {
	Models string `json:"models"`          // what their names begin with
	Since  string `json:"since,omitempty"` // the first day of these prices; "": from the settings
	Prices
}

// Table returns the prices on a day, "" meaning the newest: of the rows that a model's name begins with, the first counts.
func Table(day string) []Listed {
	rows := make([]Listed, 0, len(table))
	for i := 0; i < len(table); i++ {
		e := table[i]
		for ; i+1 < len(table) && table[i+1].prefix == e.prefix; i++ {
			if !e.holds(day) {
				e = table[i+1]
			}
		}
		rows = append(rows, Listed{e.prefix, e.since, e.prices()})
	}
	return rows
}

// Lifetimes are the longest that the providers promise or are known for. Taking a warm cache for a
// cold one costs money; the opposite only misses a chance.
const (
	hour  = 60 * 60
	daily = 24 * hour
)

// entry is the price of a family of models from a day on: dollars per million tokens of input and output, reading and
// writing the cache as multiples of input, the longest life of a cache entry, the shortest prompt that is cached, and
// the size above which input and output cost a multiple.
type entry struct {
	prefix        string
	since         string // the first day
	cache         Kind
	input, output float64
	read, write   float64
	life          float64
	minimum       float64 // 0: the usual one
	band          band
}

// band is the size above which a prompt costs more.
type band struct{ above, input, output float64 }

// Bands of the vendors.
var (
	flat   = band{}
	openAI = band{272_000, 2, 1.5}
	google = band{200_000, 2, 1.5}
	haikus = band{100_000, 5, 5}
)

// holds reports whether the entry's prices were in force on a day.
func (e entry) holds(day string) bool { return day == "" || e.since <= day }

func (e entry) prices() Prices {
	read, write := e.input*e.read, e.input*e.write
	p := Prices{Input: e.input, CachedInput: &read, CacheWrite: &write, Output: e.output, CacheTTL: e.life}
	if e.cache == Markers {
		p.CacheWriteHour = new(hourWrite * e.input)
	}
	p.Cache, p.CacheMinimum = e.cache.String(), e.minimum
	p.LongAbove, p.LongTimes, p.LongOutputTimes = e.band.above, e.band.input, e.band.output
	return p
}

// table is searched from its top: a longer name precedes its prefixes, and newer prices of a name precede older ones. If
// two sources disagree on a price, the table has the one that leads to fewer rewrites. DeepSeek's prices are
// those off-peak, half of those at peak hours. Claude in the Messages format is cached at markers; in other
// formats a router in between decides.
var table = []entry{
	{"claude-opus-4-1", "2025-08-05", Markers, 15, 75, 0.1, 1.25, hour, 0, flat},
	{"claude-opus-4-2", "2025-05-22", Markers, 15, 75, 0.1, 1.25, hour, 0, flat}, // claude-opus-4-20250514
	{"claude-opus-4-5", "2025-11-24", Markers, 5, 25, 0.1, 1.25, hour, 4096, flat},
	{"claude-opus-4-6", "2026-02-05", Markers, 5, 25, 0.1, 1.25, hour, 4096, flat},
	{"claude-opus-4-7", "2026-04-16", Markers, 5, 25, 0.1, 1.25, hour, 4096, flat}, // 2048 at Anthropic, 4096 at another host
	{"claude-opus-5-5", "2026-09-22", Markers, 4, 20, 0.05, 1.25, hour, 512, flat},
	{"claude-opus-5", "2026-07-24", Markers, 5, 25, 0.1, 1.25, hour, 512, flat},
	{"claude-opus", "2025-11-24", Markers, 5, 25, 0.1, 1.25, hour, 0, flat},
	{"claude-fable-5-2", "2026-11-09", Markers, 8, 40, 0.025, 1.25, hour, 512, flat},
	{"claude-fable-5-1", "2026-09-01", Markers, 10, 50, 0.025, 1.25, hour, 512, flat},
	{"claude-fable", "2026-06-09", Markers, 10, 50, 0.1, 1.25, hour, 512, flat},
	{"claude-mythos-5-1", "2026-09-01", Markers, 10, 50, 0.025, 1.25, hour, 512, flat},
	{"claude-mythos", "2026-06-09", Markers, 10, 50, 0.1, 1.25, hour, 512, flat},
	{"claude-sonnet-5-5", "2026-10-07", Markers, 2, 10, 0.05, 1.25, hour, 512, flat},
	{"claude-sonnet-5-5", "2026-09-28", Markers, 2, 10, 0.1, 1.25, hour, 512, flat},
	{"claude-sonnet-5", "2026-06-30", Markers, 2, 10, 0.1, 1.25, hour, 0, flat},
	{"claude-3-5-haiku", "2024-12-05", Markers, 0.8, 4, 0.1, 1.25, hour, 2048, flat},
	{"claude-haiku-5-5", "2026-10-07", Markers, 0.1, 0.5, 0.1, 1.25, hour, 4096, haikus},
	{"claude-haiku", "2025-10-15", Markers, 1, 5, 0.1, 1.25, hour, 4096, flat},
	{"claude", "2024-06-20", Markers, 3, 15, 0.1, 1.25, hour, 0, flat},
	{"gpt-6-astra", "2026-09-03", Endings, 10, 50, 0.1, 1.25, daily, 0, openAI},
	{"gpt-6.1-sol", "2026-09-29", Endings, 2, 10, 0.05, 1.25, daily, 0, openAI},
	{"gpt-6.1-terra", "2026-10-26", Endings, 1, 5, 0.05, 1.25, daily, 0, openAI},
	{"gpt-6-luna", "2026-09-22", Endings, 0.1, 0.5, 0.1, 1.25, daily, 0, openAI},
	{"gpt-6", "2026-09-22", Endings, 2, 10, 0.1, 1.25, daily, 0, openAI},
	{"gpt-5-nano", "2025-08-07", Blocks, 0.05, 0.4, 0.1, 1, daily, 0, flat},
	{"gpt-5-mini", "2025-08-07", Blocks, 0.25, 2, 0.1, 1, daily, 0, flat},
	{"gpt-5.6-luna", "2026-07-30", Endings, 0.2, 1.2, 0.1, 1.25, daily, 0, openAI},
	{"gpt-5.6-luna", "2026-07-09", Endings, 1, 6, 0.1, 1.25, daily, 0, openAI},
	{"gpt-5.6-terra", "2026-07-30", Endings, 2, 12, 0.1, 1.25, daily, 0, openAI},
	{"gpt-5.6-terra", "2026-07-09", Endings, 2.5, 15, 0.1, 1.25, daily, 0, openAI},
	{"gpt-5.6", "2026-08-21", Endings, 4, 20, 0.1, 1.25, daily, 0, openAI},
	{"gpt-5.6", "2026-07-09", Endings, 5, 30, 0.1, 1.25, daily, 0, openAI},
	{"gpt-5.5", "2026-04-23", Intervals, 5, 30, 0.1, 1, daily, 2048, openAI},
	{"gpt-5.4-nano", "2026-03-17", Blocks, 0.2, 1.25, 0.1, 1, daily, 0, flat},
	{"gpt-5.4-mini", "2026-03-17", Blocks, 0.75, 4.5, 0.1, 1, daily, 0, flat},
	{"gpt-5.4", "2026-03-05", Blocks, 2.5, 15, 0.1, 1, daily, 0, openAI},
	{"gpt-5.3", "2026-02-05", Blocks, 1.75, 14, 0.1, 1, daily, 0, flat},
	{"gpt-5.2", "2025-12-11", Blocks, 1.75, 14, 0.1, 1, daily, 0, flat},
	{"gpt-5", "2025-08-07", Blocks, 1.25, 10, 0.1, 1, daily, 0, flat},
	{"gpt-4.1-nano", "2025-04-14", Blocks, 0.1, 0.4, 0.25, 1, daily, 0, flat},
	{"gpt-4.1-mini", "2025-04-14", Blocks, 0.4, 1.6, 0.25, 1, daily, 0, flat},
	{"gpt-4.1", "2025-04-14", Blocks, 2, 8, 0.25, 1, daily, 0, flat},
	{"gpt-4o-mini", "2024-07-18", Blocks, 0.15, 0.6, 0.5, 1, hour, 0, flat},
	{"gpt-4o", "2024-08-06", Blocks, 2.5, 10, 0.5, 1, hour, 0, flat},
	{"o4-mini", "2025-04-16", Blocks, 1.1, 4.4, 0.25, 1, hour, 0, flat},
	{"o3-mini", "2025-01-31", Blocks, 1.1, 4.4, 0.5, 1, hour, 0, flat},
	{"o3", "2025-06-10", Blocks, 2, 8, 0.25, 1, hour, 0, flat},
	{"kimi-k2.6", "2026-04-20", Blocks, 0.95, 4, 0.16 / 0.95, 1, hour, 0, flat},
	{"kimi", "2025-07-11", Blocks, 0.6, 3, 0.1 / 0.6, 1, hour, 0, flat},
	{"deepseek-v4-pro", "2026-08-17", Blocks, 0.66, 1.98, 0.022 / 0.66, 1, daily, 0, flat},
	{"deepseek-v4-pro", "2026-04-24", Blocks, 0.435, 0.87, 0.003625 / 0.435, 1, daily, 0, flat},
	{"deepseek-v4", "2026-09-10", Blocks, 0.15, 0.6, 0.02, 1, daily, 0, flat},
	{"deepseek-v4", "2026-08-17", Blocks, 0.22, 0.66, 0.007 / 0.22, 1, daily, 0, flat},
	{"deepseek-v4", "2026-04-24", Blocks, 0.14, 0.28, 0.02, 1, daily, 0, flat},
	{"deepseek-flash", "2026-09-10", Blocks, 0.15, 0.6, 0.02, 1, daily, 0, flat},
	{"deepseek", "2025-09-29", Blocks, 0.28, 0.42, 0.1, 1, daily, 0, flat},
	{"gemini-2.5-flash", "2025-06-17", Blocks, 0.3, 2.5, 0.1, 1, hour, 0, flat},
	{"gemini-2.5-pro", "2025-06-17", Blocks, 1.25, 10, 0.1, 1, hour, 0, google},
	{"gemini-3.1-pro", "2026-02-19", Blocks, 2, 12, 0.1, 1, hour, 0, google},
	{"gemini-3", "2025-11-18", Blocks, 2, 12, 0.1, 1, hour, 0, google},
}
