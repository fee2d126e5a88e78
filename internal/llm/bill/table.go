package bill

import "strings"

// Dated is the day that the built-in prices were last compared with the makers' price lists.
const Dated = "2026-11-15"

// Lookup gives the list prices of a well-known model, by its name as the provider
// or a router spells it ("claude-sonnet-4-5", "moonshotai/kimi-k2.6"). They age;
// what the settings say goes before them.
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

// Dearest returns the highest price of input and of output that the built-in table or one of these has.
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
	Models string `json:"models"` // what their names begin with
	Prices
}

// Table is what [Lookup] knows: the first row counts whose name a model's begins with.
func Table() []Listed {
	rows := make([]Listed, len(table))
	for i, e := range table {
		rows[i] = Listed{e.prefix, e.prices()}
	}
	return rows
}

// Times to live are the longest that the providers promise or are known for: to
// take a warm cache for a cold one costs money, the opposite only misses a chance.
const (
	hour = 60 * 60
	day  = 24 * hour
)

// entry is what a family of models costs: dollars per million tokens of input and output, what reading and writing the
// cache costs over input, how long an entry lives at most, from how many tokens on a prompt is cached, and from how many
// on it costs how many times as much.
type entry struct {
	prefix        string
	cache         Kind
	input, output float64
	read, write   float64
	life          float64
	minimum       float64 // 0: as usual
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

// table is searched from its top: a longer name stands before one it starts with. Of two prices that are told of a model
// the one stands here with which less is rewritten. Where output is 0 its price is not known here; decisions do not need
// it. Claude in the Messages format is cached where it is marked, elsewhere by whoever is in between.
var table = []entry{
	{"claude-opus-4-1", Markers, 15, 75, 0.1, 1.25, hour, 0, 0, 0},
	{"claude-opus-4-2", Markers, 15, 75, 0.1, 1.25, hour, 0, 0, 0}, // claude-opus-4-20250514
	{"claude-opus-4-5", Markers, 5, 25, 0.1, 1.25, hour, 4096, 0, 0},
	{"claude-opus-4-6", Markers, 5, 25, 0.1, 1.25, hour, 4096, 0, 0},
	{"claude-opus-4-7", Markers, 5, 25, 0.1, 1.25, hour, 4096, 0, 0}, // 2048 at the maker's, 4096 at another host
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
