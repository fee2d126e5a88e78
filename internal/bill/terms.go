package bill

import "math"

// Terms are how a provider bills a prompt. Formats in which a request says itself how it
// is cached make their own.
type Terms struct {
	Rates
	Cache
	Band
}

// Cache is how a provider's cache takes prompts. The zero value stands for the usual one.
type Cache struct {
	Block   float64 // tokens; a beginning is known in whole blocks. 0: 128
	Minimum float64 // tokens; nothing shorter is cached. 0: 1024
	Life    float64 // seconds an entry may live unused; 0: unknown
}

// Band is the size from which on every token of a prompt costs more. The zero value means
// that there is none.
type Band struct {
	Above float64 // tokens
	Times float64 // what the prices are multiplied with
}

// The usual cache.
const (
	Block   = 128
	Minimum = 1024
	// unknownLife is how long, in seconds, a cache of unknown kind may live.
	unknownLife = 3600
)

func (c Cache) block() float64 {
	if c.Block <= 0 {
		return Block
	}
	return c.Block
}

func (c Cache) minimum() float64 {
	if c.Minimum <= 0 {
		return Minimum
	}
	return c.Minimum
}

// Cacheable is how much of a known beginning of that many tokens a provider takes
// from its cache.
func (c Cache) Cacheable(tokens float64) float64 {
	n := math.Floor(tokens/c.block()) * c.block()
	if n < c.minimum() {
		return 0
	}
	return n
}

// roomy tells whether a prompt is long enough to be cached, were we off by a quarter.
func (c Cache) roomy(tokens float64) bool { return tokens >= 1.25*c.minimum()+c.block() }

// Cacheable is what the usual cache makes of a beginning.
func Cacheable(tokens float64) float64 { return Cache{}.Cacheable(tokens) }

// Cost is what a prompt costs. One too short for the cache is not written to it.
func (t Terms) Cost(p Prompt) float64 {
	rates := t.Rates
	if p.Total < t.minimum() && p.Cached == 0 {
		rates.Write = min(1, rates.Write)
	}
	cost := rates.Cost(p)
	if t.Above > 0 && t.Times > 0 && p.Total > t.Above {
		cost *= t.Times
	}
	return cost
}

// Learned is what the answers to all conversations have taught about a model of a provider.
type Learned struct {
	Warm    float64 // seconds; the longest pause after which a prompt was found in the cache
	Cold    float64 // seconds; the shortest pause after which one was gone, above Warm; 0: none was seen
	Weights Weights // of its tokenizer; zero: unknown
}

// minPause is the pause, in seconds, from which on a cache teaches something about its life:
// within less a miss has other reasons.
const minPause = 60

// Pause takes in whether a prompt was found in the cache after a pause of so many seconds.
func (l Learned) Pause(seconds float64, found bool) Learned {
	switch {
	case seconds < minPause:
	case found:
		l.Warm = max(l.Warm, seconds)
		if l.Cold <= l.Warm {
			l.Cold = 0
		}
	case seconds > l.Warm && (l.Cold == 0 || seconds < l.Cold):
		l.Cold = seconds
	}
	return l
}

// Coldness is how sure it is that a cache has forgotten a prompt.
type Coldness uint8

// How sure it is.
const (
	MayBeWarm  Coldness = iota
	LikelyCold          // for longer than caches of this kind live, as we were told
	KnownCold           // and as we have seen
)

// After says how cold the cache is that was not used for so many seconds.
func (l Learned) After(seconds float64, c Cache) Coldness {
	life := c.Life
	if life <= 0 {
		life = unknownLife
	}
	if seconds <= max(life, l.Warm)*(1+slackShare)+slack {
		return MayBeWarm
	}
	if l.Cold > 0 && seconds >= l.Cold {
		return KnownCold
	}
	return LikelyCold
}

// Clocks differ, and times are not written down with every request.
const (
	slack      = 45 // seconds
	slackShare = 0.1
)
