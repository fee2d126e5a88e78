package bill

import "strings"

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
			read, write := e.input*e.read, e.input*e.write
			p := Prices{Input: e.input, CachedInput: &read, CacheWrite: &write, Output: e.output, CacheTTL: e.life}
			p.CacheMinimum, p.CacheBlock, p.LongAbove, p.LongTimes = e.minimum, e.block, e.above, e.times
			return p, true
		}
	}
	return Prices{}, false
}

// Times to live are the longest that the providers promise or are known for: to
// take a warm cache for a cold one costs money, the opposite only misses a chance.
const (
	hour = 60 * 60
	day  = 24 * hour
)

// entry is what a family of models costs: dollars per million tokens of input and output, what reading and writing the
// cache costs over input, how long an entry lives at most, and what is not as usual.
type entry struct {
	prefix        string
	input, output float64
	read, write   float64
	life          float64
	minimum       float64 // tokens; 0: as usual
	block         float64
	above, times  float64
}

// table is searched from its top: a longer name stands before one it starts with. Prices as of 2026-11-15. Of two read
// prices that are told of a model the lower one stands here: with it less is rewritten. Where output is 0 its price is
// not known here; decisions do not need it.
var table = []entry{
	{"claude-opus-4-1", 15, 75, 0.1, 1.25, hour, 0, 0, 0, 0},
	{"claude-opus-4-2", 15, 75, 0.1, 1.25, hour, 0, 0, 0, 0}, // claude-opus-4-20250514
	{"claude-opus-4-5", 5, 25, 0.1, 1.25, hour, 4096, 0, 0, 0},
	{"claude-opus-4-6", 5, 25, 0.1, 1.25, hour, 4096, 0, 0, 0},
	{"claude-opus-4-7", 5, 25, 0.1, 1.25, hour, 4096, 0, 0, 0}, // 2048 at the maker's, 4096 at another host
	{"claude-opus-5-5", 4, 0, 0.05, 1.25, hour, 512, 0, 0, 0},
	{"claude-opus-5.5", 4, 0, 0.05, 1.25, hour, 512, 0, 0, 0},
	{"claude-opus", 5, 25, 0.1, 1.25, hour, 0, 0, 0, 0},
	{"claude-fable-5-1", 10, 0, 0.025, 1.25, hour, 512, 0, 0, 0},
	{"claude-fable-5-2", 10, 0, 0.025, 1.25, hour, 512, 0, 0, 0},
	{"claude-fable", 10, 0, 0.1, 1.25, hour, 0, 0, 0, 0},
	{"claude-mythos", 10, 0, 0.025, 1.25, hour, 512, 0, 0, 0},
	{"claude-sonnet-5-5", 2, 0, 0.05, 1.25, hour, 512, 0, 0, 0},
	{"claude-sonnet-5", 2, 0, 0.1, 1.25, hour, 0, 0, 0, 0},
	{"claude-3-5-haiku", 0.8, 4, 0.1, 1.25, hour, 2048, 0, 0, 0},
	{"claude-haiku-5-5", 0.1, 0, 0.1, 1.25, hour, 0, 0, 100_000, 5},
	{"claude-haiku", 1, 5, 0.1, 1.25, hour, 4096, 0, 0, 0},
	{"claude", 3, 15, 0.1, 1.25, hour, 0, 0, 0, 0},
	{"gpt-6-astra", 10, 0, 0.1, 1.25, day, 0, 0, 272_000, 2},
	{"gpt-6.1-sol", 2, 0, 0.05, 1.25, day, 0, 0, 272_000, 2},
	{"gpt-6-luna", 0.1, 0, 0.1, 1.25, day, 0, 0, 0, 0},
	{"gpt-6", 2, 0, 0.1, 1.25, day, 0, 0, 272_000, 2},
	{"gpt-5-nano", 0.05, 0.4, 0.1, 1, day, 0, 0, 0, 0},
	{"gpt-5-mini", 0.25, 2, 0.1, 1, day, 0, 0, 0, 0},
	{"gpt-5.6-luna", 0.2, 0, 0.1, 1.25, day, 0, 0, 0, 0},
	{"gpt-5.6-terra", 2, 0, 0.1, 1.25, day, 0, 0, 0, 0},
	{"gpt-5.6", 4, 0, 0.1, 1.25, day, 0, 0, 272_000, 2},
	{"gpt-5.5", 5, 30, 0.1, 1, day, 0, 2048, 272_000, 2},
	{"gpt-5.4", 2.5, 0, 0.1, 1, day, 0, 0, 272_000, 2},
	{"gpt-5", 1.25, 10, 0.1, 1, day, 0, 0, 0, 0},
	{"gpt-4.1-nano", 0.1, 0.4, 0.25, 1, day, 0, 0, 0, 0},
	{"gpt-4.1-mini", 0.4, 1.6, 0.25, 1, day, 0, 0, 0, 0},
	{"gpt-4.1", 2, 8, 0.25, 1, day, 0, 0, 0, 0},
	{"gpt-4o-mini", 0.15, 0.6, 0.5, 1, hour, 0, 0, 0, 0},
	{"gpt-4o", 2.5, 10, 0.5, 1, hour, 0, 0, 0, 0},
	{"o4-mini", 1.1, 4.4, 0.25, 1, hour, 0, 0, 0, 0},
	{"o3-mini", 1.1, 4.4, 0.5, 1, hour, 0, 0, 0, 0},
	{"o3", 2, 8, 0.25, 1, hour, 0, 0, 0, 0},
	{"kimi-k2.6", 0.95, 4, 0.16 / 0.95, 1, hour, 0, 0, 0, 0},
	{"kimi", 0.6, 3, 0.1 / 0.6, 1, hour, 0, 0, 0, 0},
	{"deepseek-v4-pro", 0.66, 0, 0.033, 1, day, 0, 0, 0, 0},
	{"deepseek-v4", 0.15, 0, 0.02, 1, day, 0, 0, 0, 0},
	{"deepseek-flash", 0.15, 0, 0.02, 1, day, 0, 0, 0, 0},
	{"deepseek", 0.28, 0.42, 0.1, 1, day, 0, 0, 0, 0},
	{"gemini-2.5-flash", 0.3, 2.5, 0.1, 1, hour, 0, 0, 0, 0},
	{"gemini-2.5-pro", 1.25, 10, 0.1, 1, hour, 0, 0, 200_000, 2},
	{"gemini-3.1-pro", 2, 0, 0.1, 1, hour, 0, 0, 200_000, 2},
	{"gemini-3", 2, 12, 0.1, 1, hour, 0, 0, 200_000, 2},
}
