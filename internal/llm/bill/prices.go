package bill

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Prices are dollars per million tokens.
type Prices struct {
	Input float64 `toml:"input" json:"input"`
	// nil: as input, nothing is cached
	CachedInput *float64 `toml:"cached_input" json:"cached_input,omitempty"`
	CacheWrite  *float64 `toml:"cache_write" json:"cache_write,omitempty"` // nil: as input
	Output      float64  `toml:"output" json:"output"`
	// Lifetime of an unused cached prompt in seconds; 0: unknown.
	CacheTTL float64 `toml:"cache_ttl_s" json:"cache_ttl_s,omitempty"`

	// To store for an hour; nil: twice input where a request can ask for it.
	CacheWriteHour *float64 `toml:"cache_write_1h" json:"cache_write_1h,omitempty"`

	Cache        string  `toml:"cache" json:"cache,omitempty"`                           // a [Kind]'s name; "": by the model and the format
	CacheMinimum float64 `toml:"cache_min_tokens" json:"cache_min_tokens,omitempty"`     // shorter prompts are not cached; 0: 1024
	CacheBlock   float64 `toml:"cache_block_tokens" json:"cache_block_tokens,omitempty"` // a beginning is cached in blocks of so many; 0: 128
	LongAbove    float64 `toml:"long_above_tokens" json:"long_above_tokens,omitempty"`   // from more tokens on a prompt is dearer; 0: never
	LongTimes    float64 `toml:"long_times" json:"long_times,omitempty"`                 // multiplies all its prices

	LongOutputTimes float64 `toml:"long_output_times" json:"long_output_times,omitempty"` // multiplies the price of its output; 0: LongTimes
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
	if p.CacheWriteHour != nil {
		errs = append(errs, check("cache_write_1h", *p.CacheWriteHour))
	}
	if p.Cache != "" && !slices.Contains(kindNames[:], p.Cache) {
		errs = append(errs, fmt.Errorf("cache: %q is none of %s", p.Cache, strings.Join(kindNames[:], ", ")))
	}
	notNegative := func(key string, v float64) {
		if math.IsNaN(v) || v < 0 {
			errs = append(errs, fmt.Errorf("%s: %v is negative", key, v))
		}
	}
	notNegative("cache_ttl_s", p.CacheTTL)
	notNegative("cache_min_tokens", p.CacheMinimum)
	notNegative("cache_block_tokens", p.CacheBlock)
	notNegative("long_above_tokens", p.LongAbove)
	notNegative("long_times", p.LongTimes)
	notNegative("long_output_times", p.LongOutputTimes)
	return errors.Join(errs...)
}

// Terms returns what decisions need of the prices if only a request's size is known. Caches of
// endings and markers are then treated as caches of blocks. [Prices.In] is more exact.
func (p Prices) Terms() Terms {
	t := Terms{
		Rates: p.Rates(),
		Cache: Cache{Block: p.CacheBlock, Minimum: p.CacheMinimum, Life: p.CacheTTL},
		Band:  Band{Above: p.LongAbove, Times: p.LongTimes},
	}
	if p.Cache == Intervals.String() {
		t.Kind = Intervals
	}
	return t
}

// Rates returns the prices as multiples of an uncached input token. If input costs nothing, the
// rates are unknown.
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
	r.Hour = r.Write
	if p.CacheWriteHour != nil && *p.CacheWriteHour > 0 {
		r.Hour = *p.CacheWriteHour / p.Input
	}
	return r
}

// PromptCost returns the provider's charge for a counted prompt, in millionths of the prices' unit.
// Tokens reported as written to the cache pay the write price, the rest the input price.
func (p Prices) PromptCost(u Usage) float64 {
	r := p.Rates()
	if !r.Known() {
		return 0
	}
	if p.CacheWriteHour == nil {
		r.Hour = max(r.Hour, hourWrite)
	}
	band := Band{Above: p.LongAbove, Times: p.LongTimes}
	prompt := Prompt{Total: u.Input, Cached: u.Cached, Hour: u.Hour, Plain: u.Input - u.Cached - u.Wrote}
	return r.Cost(prompt) * band.times(u.Input) * p.Input
}

// OutputCost is the charge for the output of a request, in millionths of the prices' unit.
func (p Prices) OutputCost(u Usage) float64 {
	band := Band{Above: p.LongAbove, Times: cmp.Or(p.LongOutputTimes, p.LongTimes)}
	return u.Output * p.Output * band.times(u.Input)
}

// Cost is the charge for a request, prompt and output, in millionths of the prices' unit.
func (p Prices) Cost(u Usage) float64 { return p.PromptCost(u) + p.OutputCost(u) }

// Rates are prices over the price of an uncached input token. The zero value means
// that they are unknown.
type Rates struct {
	Read  float64 // for a token found in the cache
	Write float64 // for a token written to the cache
	Hour  float64 // for a token written to be stored for an hour
}

// Known reports whether the rates are known.
func (r Rates) Known() bool { return r.Write > 0 }

// Cost returns the cost of a prompt.
func (r Rates) Cost(p Prompt) float64 {
	return r.Read*p.Cached + r.Write*(p.Total-p.Cached-p.Hour-p.Plain) + r.Hour*p.Hour + p.Plain
}

// Prompt is the size of a request in tokens. Tokens in none of the last three fields are written to
// the cache.
type Prompt struct {
	Total  float64
	Cached float64 // found in the provider's cache
	Hour   float64 // written to be stored for an hour
	Plain  float64 // neither found nor written
}
