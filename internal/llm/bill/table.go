package bill

import "strings"

// Dated is the day on which the built-in prices were last compared with the vendors' price lists.
const Dated = "2026-11-15"

// Lookup returns the list prices of a well-known model, by the name that the provider or a router
// uses ("claude-sonnet-4-5", "moonshotai/kimi-k2.6"). List prices age, so the settings take
// precedence.
func Lookup(model string) (Prices, bool) {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	for _, e := range table {
		if strings.HasPrefix(name, e.prefix) {
			return e.prices(), true
		}
	}
	return Prices{}, false
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
	Models string `json:"models"` // prefix of the models' names
	Prices
}

// Table returns the rows that [Lookup] searches. The first row whose prefix matches wins.
func Table() []Listed {
	rows := make([]Listed, len(table))
	for i, e := range table {
		rows[i] = Listed{e.prefix, e.prices()}
	}
	return rows
}

// Lifetimes are the longest that the providers promise or are known for. Taking a warm cache for a
// cold one costs money; the opposite only misses a chance.
const (
	hour = 60 * 60
	day  = 24 * hour
)

// entry is the price of a family of models. Input and output are dollars per million tokens; read
// and write are multiples of input. Prompts of minimum tokens or more are cached; above the given
// size a prompt costs times as much.
type entry struct {
	prefix        string
	cache         Kind
	input, output float64
	read, write   float64
	life          float64
	minimum       float64 // 0: the usual one
	above, times  float64
}

func (e entry) prices() Prices {
	read, write := e.input*e.read, e.input*e.write
	p := Prices{Input: e.input, CachedInput: &read, CacheWrite: &write, Output: e.output, CacheTTL: e.life}
	if e.cache == Markers {
		p.CacheWriteHour = new(hourWrite * e.input)
	}
	p.Cache, p.CacheMinimum, p.LongAbove, p.LongTimes = e.cache.String(), e.minimum, e.above, e.times
	return p
}

// table is searched from the top, so a longer prefix comes before a shorter one that it starts
// with. If sources differ, the row has the price that leads to fewer rewrites. An output of 0 means
// unknown; decisions do not need it. Claude is cached at marks in the Messages format, and
// elsewhere as the router in between decides.
var table = []entry{
	{"claude-opus-4-1", Markers, 15, 75, 0.1, 1.25, hour, 0, 0, 0},
	{"claude-opus-4-2", Markers, 15, 75, 0.1, 1.25, hour, 0, 0, 0}, // claude-opus-4-20250514
	{"claude-opus-4-5", Markers, 5, 25, 0.1, 1.25, hour, 4096, 0, 0},
	{"claude-opus-4-6", Markers, 5, 25, 0.1, 1.25, hour, 4096, 0, 0},
	// 2048 at Anthropic, 4096 at another host
	{"claude-opus-4-7", Markers, 5, 25, 0.1, 1.25, hour, 4096, 0, 0},
	{"claude-opus-5-5", Markers, 4, 0, 0.05, 1.25, hour, 512, 0, 0},
	{"claude-opus-5.5", Markers, 4, 0, 0.05, 1.25, hour, 512, 0, 0},
	{"claude-opus-5", Markers, 5, 25, 0.1, 1.25, hour, 512, 0, 0},
	{"claude-opus", Markers, 5, 25, 0.1, 1.25, hour, 0, 0, 0},
	{"claude-fable-5-1", Markers, 10, 0, 0.025, 1.25, hour, 512, 0, 0},
	{"claude-fable-5.1", Markers, 10, 0, 0.025, 1.25, hour, 512, 0, 0},
	{"claude-fable-5-2", Markers, 10, 0, 0.025, 1.25, hour, 512, 0, 0},
	{"claude-fable-5.2", Markers, 10, 0, 0.025, 1.25, hour, 512, 0, 0},
	{"claude-fable-5", Markers, 10, 0, 0.1, 1.25, hour, 512, 0, 0},
	{"claude-fable", Markers, 10, 0, 0.1, 1.25, hour, 0, 0, 0},
	{"claude-mythos", Markers, 10, 0, 0.025, 1.25, hour, 512, 0, 0},
	{"claude-sonnet-5-5", Markers, 2, 0, 0.05, 1.25, hour, 512, 0, 0},
	{"claude-sonnet-5.5", Markers, 2, 0, 0.05, 1.25, hour, 512, 0, 0},
	{"claude-sonnet-5", Markers, 2, 0, 0.1, 1.25, hour, 0, 0, 0},
	{"claude-3-5-haiku", Markers, 0.8, 4, 0.1, 1.25, hour, 2048, 0, 0},
	{"claude-haiku-5-5", Markers, 0.1, 0, 0.1, 1.25, hour, 4096, 100_000, 5},
	{"claude-haiku-5.5", Markers, 0.1, 0, 0.1, 1.25, hour, 4096, 100_000, 5},
	{"claude-haiku", Markers, 1, 5, 0.1, 1.25, hour, 4096, 0, 0},
	{"claude", Markers, 3, 15, 0.1, 1.25, hour, 0, 0, 0},
	{"gpt-6-astra", Endings, 10, 0, 0.1, 1.25, day, 0, 272_000, 2},
	{"gpt-6.1-sol", Endings, 2, 0, 0.05, 1.25, day, 0, 272_000, 2},
	{"gpt-6-luna", Endings, 0.1, 0, 0.1, 1.25, day, 0, 0, 0},
	{"gpt-6", Endings, 2, 0, 0.1, 1.25, day, 0, 272_000, 2},
	{"gpt-5-nano", Blocks, 0.05, 0.4, 0.1, 1, day, 0, 0, 0},
	{"gpt-5-mini", Blocks, 0.25, 2, 0.1, 1, day, 0, 0, 0},
	{"gpt-5.6-luna", Endings, 0.2, 0, 0.1, 1.25, day, 0, 0, 0},
	{"gpt-5.6-terra", Endings, 2, 0, 0.1, 1.25, day, 0, 0, 0},
	{"gpt-5.6", Endings, 4, 0, 0.1, 1.25, day, 0, 272_000, 2},
	{"gpt-5.5", Intervals, 5, 30, 0.1, 1, day, 2048, 272_000, 2},
	{"gpt-5.4", Blocks, 2.5, 0, 0.1, 1, day, 0, 272_000, 2},
	{"gpt-5", Blocks, 1.25, 10, 0.1, 1, day, 0, 0, 0},
	{"gpt-4.1-nano", Blocks, 0.1, 0.4, 0.25, 1, day, 0, 0, 0},
	{"gpt-4.1-mini", Blocks, 0.4, 1.6, 0.25, 1, day, 0, 0, 0},
	{"gpt-4.1", Blocks, 2, 8, 0.25, 1, day, 0, 0, 0},
	{"gpt-4o-mini", Blocks, 0.15, 0.6, 0.5, 1, hour, 0, 0, 0},
	{"gpt-4o", Blocks, 2.5, 10, 0.5, 1, hour, 0, 0, 0},
	{"o4-mini", Blocks, 1.1, 4.4, 0.25, 1, hour, 0, 0, 0},
	{"o3-mini", Blocks, 1.1, 4.4, 0.5, 1, hour, 0, 0, 0},
	{"o3", Blocks, 2, 8, 0.25, 1, hour, 0, 0, 0},
	{"kimi-k2.6", Blocks, 0.95, 4, 0.16 / 0.95, 1, hour, 0, 0, 0},
	{"kimi", Blocks, 0.6, 3, 0.1 / 0.6, 1, hour, 0, 0, 0},
	{"deepseek-v4-pro", Blocks, 0.66, 0, 0.033, 1, day, 0, 0, 0},
	{"deepseek-v4", Blocks, 0.15, 0, 0.02, 1, day, 0, 0, 0},
	{"deepseek-flash", Blocks, 0.15, 0, 0.02, 1, day, 0, 0, 0},
	{"deepseek", Blocks, 0.28, 0.42, 0.1, 1, day, 0, 0, 0},
	{"gemini-2.5-flash", Blocks, 0.3, 2.5, 0.1, 1, hour, 0, 0, 0},
	{"gemini-2.5-pro", Blocks, 1.25, 10, 0.1, 1, hour, 0, 200_000, 2},
	{"gemini-3.1-pro", Blocks, 2, 0, 0.1, 1, hour, 0, 200_000, 2},
	{"gemini-3", Blocks, 2, 12, 0.1, 1, hour, 0, 200_000, 2},
}
