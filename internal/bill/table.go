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
			cached, write := e.cached, e.write
			return Prices{Input: e.input, CachedInput: &cached, CacheWrite: &write, Output: e.output, CacheTTL: e.ttl}, true
		}
	}
	return Prices{}, false
}

// Times to live are the longest that the providers promise or are known for: to
// take a warm cache for a cold one costs money, the opposite only misses a chance.
const (
	minutes5 = 5 * 60
	hour     = 60 * 60
	day      = 24 * hour
)

// table is searched from its top: a longer name stands before one it starts with.
var table = []struct {
	prefix                       string
	input, cached, write, output float64
	ttl                          float64
}{
	{"claude-opus-4-1", 15, 1.5, 18.75, 75, minutes5},
	{"claude-opus-4-2", 15, 1.5, 18.75, 75, minutes5}, // claude-opus-4-20250514
	{"claude-opus", 5, 0.5, 6.25, 25, minutes5},
	{"claude-3-5-haiku", 0.8, 0.08, 1, 4, minutes5},
	{"claude-haiku", 1, 0.1, 1.25, 5, minutes5},
	{"claude", 3, 0.3, 3.75, 15, minutes5},
	{"gpt-5-nano", 0.05, 0.005, 0.05, 0.4, hour},
	{"gpt-5-mini", 0.25, 0.025, 0.25, 2, hour},
	{"gpt-5.6-luna", 1, 0.1, 1.25, 6, hour},
	{"gpt-5.6-terra", 2.5, 0.25, 3.125, 15, hour},
	{"gpt-5.6", 5, 0.5, 6.25, 30, hour},
	{"gpt-5.5", 5, 0.5, 5, 30, hour},
	{"gpt-5", 1.25, 0.125, 1.25, 10, hour},
	{"gpt-4.1-nano", 0.1, 0.025, 0.1, 0.4, hour},
	{"gpt-4.1-mini", 0.4, 0.1, 0.4, 1.6, hour},
	{"gpt-4.1", 2, 0.5, 2, 8, hour},
	{"gpt-4o-mini", 0.15, 0.075, 0.15, 0.6, hour},
	{"gpt-4o", 2.5, 1.25, 2.5, 10, hour},
	{"o4-mini", 1.1, 0.275, 1.1, 4.4, hour},
	{"o3-mini", 1.1, 0.55, 1.1, 4.4, hour},
	{"o3", 2, 0.5, 2, 8, hour},
	{"kimi-k2.6", 0.95, 0.16, 0.95, 4, hour},
	{"kimi", 0.6, 0.1, 0.6, 3, hour},
	{"deepseek-v4-pro", 1.74, 0.0145, 1.74, 3.48, day},
	{"deepseek-v4", 0.14, 0.0028, 0.14, 0.28, day},
	{"deepseek-chat", 0.28, 0.028, 0.28, 0.42, day},
	{"deepseek-reasoner", 0.28, 0.028, 0.28, 0.42, day},
	{"gemini-2.5-flash", 0.3, 0.03, 0.3, 2.5, hour},
	{"gemini-2.5-pro", 1.25, 0.125, 1.25, 10, hour},
	{"gemini-3", 2, 0.2, 2, 12, hour},
}
