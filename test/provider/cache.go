package provider

import (
	"hash/maphash"
	"time"
)

// Terms are a provider's caching rules and its prices for an uncached, a cached, and a written
// token.
type Terms struct {
	Block, Minimum     int
	Life               time.Duration
	Input, Read, Write float64
}

// Terms of two kinds of providers, in units of one uncached token.
var (
	Claude   = Terms{Block: 128, Minimum: 1024, Life: 5 * time.Minute, Input: 1, Read: 0.1, Write: 1.25}
	DeepSeek = Terms{Block: 64, Minimum: 1024, Life: 6 * time.Hour, Input: 1, Read: 0.02, Write: 1}
)

// Cache keeps the beginnings of prompts.
type Cache struct {
	Terms Terms
	used  map[uint64]time.Time // by the hash of a beginning that ends with a block
}

// Counts are a prompt's tokens.
type Counts struct{ Input, Cached int }

// Take counts a prompt and stores it. scope separates caches.
func (c *Cache) Take(scope string, prompt []uint64, now time.Time) Counts {
	if c.used == nil {
		c.used = map[uint64]time.Time{}
	}
	counts := Counts{Input: len(prompt)}
	h := maphash.String(seed, scope)
	hit := true
	for i, token := range prompt {
		h = (h ^ token) * 0x9e3779b97f4a7c15
		h ^= h >> 29
		if (i+1)%c.Terms.Block != 0 {
			continue
		}
		used, ok := c.used[h]
		if hit = hit && ok && now.Sub(used) <= c.Terms.Life; hit {
			counts.Cached = i + 1
		}
		c.used[h] = now
	}
	if counts.Cached < c.Terms.Minimum {
		counts.Cached = 0
	}
	return counts
}

// Cost returns the cost of a prompt. A prompt too short for the cache is not written to it.
func (t Terms) Cost(c Counts) float64 {
	write := t.Write
	if c.Input < t.Minimum {
		write = t.Input
	}
	return t.Read*float64(c.Cached) + write*float64(c.Input-c.Cached)
}
