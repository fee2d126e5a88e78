package bill

import (
	"errors"
	"fmt"
	"math"
)

// Prices are dollars per million tokens.
type Prices struct {
	Input       float64  `toml:"input" json:"input"`
	CachedInput *float64 `toml:"cached_input" json:"cached_input,omitempty"` // nil: as input, nothing is cached
	CacheWrite  *float64 `toml:"cache_write" json:"cache_write,omitempty"`   // nil: as input
	Output      float64  `toml:"output" json:"output"`
	CacheTTL    float64  `toml:"cache_ttl_s" json:"cache_ttl_s,omitempty"` // seconds a cached prompt lives unused; 0: unknown
}

// Validate reports every mistake as "key: text".
func (p Prices) Validate() error {
	check := func(key string, v float64) error {
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return fmt.Errorf("%s: %v is no price", key, v)
		}
		return nil
	}
	errs := []error{check("input", p.Input), check("output", p.Output)}
	if p.CachedInput != nil {
		errs = append(errs, check("cached_input", *p.CachedInput))
	}
	if p.CacheWrite != nil {
		errs = append(errs, check("cache_write", *p.CacheWrite))
	}
	if math.IsNaN(p.CacheTTL) || p.CacheTTL < 0 {
		errs = append(errs, fmt.Errorf("cache_ttl_s: %v is negative", p.CacheTTL))
	}
	return errors.Join(errs...)
}

// Rates gives the prices as multiples of an uncached input token. Where input
// costs nothing, the rates are unknown.
func (p Prices) Rates() Rates {
	if p.Input <= 0 {
		return Rates{}
	}
	r := Rates{Read: 1, Write: 1}
	if p.CachedInput != nil {
		r.Read = *p.CachedInput / p.Input
	}
	if p.CacheWrite != nil && *p.CacheWrite > 0 {
		r.Write = *p.CacheWrite / p.Input
	}
	return r
}

// Rates are prices over the price of an uncached input token. The zero value means
// that they are unknown.
type Rates struct {
	Read  float64 // of a token found in the cache
	Write float64 // of a token that was not, and is written to it
}

// Known tells whether there are rates.
func (r Rates) Known() bool { return r.Write > 0 }

// Cost is what a prompt costs.
func (r Rates) Cost(p Prompt) float64 { return r.Read*p.Cached + r.Write*(p.Total-p.Cached) }

// Prompt is the size of a request in tokens.
type Prompt struct {
	Total  float64
	Cached float64 // how many of them the provider has in its cache
}

// Providers cache in blocks of this many tokens, and nothing below the minimum.
const (
	Block   = 128
	Minimum = 1024
)

// Cacheable is how much of a known beginning of that many tokens a provider takes
// from its cache.
func Cacheable(tokens float64) float64 {
	c := math.Floor(tokens/Block) * Block
	if c < Minimum {
		return 0
	}
	return c
}
