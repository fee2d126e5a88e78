package bill

import (
	"math"
	"slices"
)

// Kind says at which places in a prompt a provider's cache can find it again. An unchanged
// beginning is found up to the last such place.
type Kind uint8

// The kinds of caches.
const (
	// Blocks: every 128 tokens. DeepSeek, Moonshot, OpenAI's models before GPT-5.5, and any unknown
	// model.
	Blocks Kind = iota
	// Intervals: like Blocks, but every 2048 tokens. GPT-5.5.
	Intervals
	// Endings: at the end of the last twenty messages that a request has ended with, and of the
	// first instructions. GPT-5.6 and later. [Piece.Ends] says where.
	Endings
	// Markers: where a request has set a mark, at most twenty pieces before a mark of the current
	// request. Claude in the Messages format. [Request.Marks] says where.
	Markers
)

var kindNames = [...]string{"blocks", "intervals", "endings", "markers"}

func (k Kind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// Cache describes a provider's prompt cache. The zero value is the usual one.
type Cache struct {
	Kind    Kind
	Block   float64 // tokens; only whole blocks are cached. 0: 128, for intervals 2048
	Minimum float64 // tokens; shorter prompts are not cached. 0: 1024
	Life    float64 // seconds an entry may live unused; 0: unknown
}

// Mark is a place where a request asks the cache to store the prompt.
type Mark struct {
	Pieces int  // number of pieces before it; 0: directly behind the head
	Hour   bool // store it for an hour, at a higher price than the usual five minutes
}

// Entry is a place up to which the cache has the prompt as it was sent.
type Entry struct {
	Pieces int
	At     float64 // time of the last write or read, as [Request.At]
	Hour   bool
}

// Properties of the usual cache.
const (
	Block    = 128
	Minimum  = 1024
	interval = 2048
	// unknownLife is the assumed lifetime in seconds of an entry in an unknown cache.
	unknownLife = 3600
	// back is how many places a cache looks back from an ending or a mark, including that place.
	back = 20
	// maxEntries bounds the entries that an account remembers.
	maxEntries = 32
)

// Guaranteed lifetimes of an entry in seconds. It may live longer; see [Cache.Life].
const (
	markLife   = 5 * 60
	hourLife   = 60 * 60
	endingLife = 30 * 60
)

// precise reports whether the cache matches prompts to the token rather than in blocks.
func (c Cache) precise() bool { return c.Kind == Endings || c.Kind == Markers }

func (c Cache) block() float64 {
	switch {
	case c.precise():
		return 1
	case c.Block > 0:
		return c.Block
	case c.Kind == Intervals:
		return interval
	}
	return Block
}

func (c Cache) minimum() float64 {
	if c.Minimum <= 0 {
		return Minimum
	}
	return c.Minimum
}

// Cacheable returns how many of the given leading tokens, all known to the provider, it takes from
// its cache.
func (c Cache) Cacheable(tokens float64) float64 {
	n := math.Floor(tokens/c.block()) * c.block()
	if n < c.minimum() {
		return 0
	}
	return n
}

// roomy reports whether a prompt is long enough to be cached even if our estimate is off by a
// quarter.
func (c Cache) roomy(tokens float64) bool { return tokens >= 1.25*c.minimum()+max(c.block(), Block) }

// Cacheable is [Cache.Cacheable] for the usual cache.
func Cacheable(tokens float64) float64 { return Cache{}.Cacheable(tokens) }

// alive reports whether the entry is still within its guaranteed lifetime.
func (c Cache) alive(e Entry, now float64) bool {
	life := float64(markLife)
	switch {
	case c.Kind == Endings:
		life = endingLife
	case e.Hour:
		life = hourLife
	}
	return now-e.At <= life
}

// reaches reports whether the request lets the cache look for an entry behind that many pieces.
func (c Cache) reaches(req Request, pieces int) bool {
	if c.Kind == Markers {
		for _, m := range req.Marks {
			if m.Pieces >= pieces && m.Pieces-pieces < back {
				return true
			}
		}
		return false
	}
	behind := 0
	for i := len(req.Pieces) - 1; i >= pieces && behind <= back; i-- {
		if req.Pieces[i].Ends {
			behind++
		}
	}
	return behind <= back || pieces == firstEnding(req)
}

// firstEnding returns the number of pieces in the first instructions.
func firstEnding(req Request) int {
	for i := range req.Pieces {
		if req.Pieces[i].Ends {
			return i + 1
		}
	}
	return 0
}

// kept returns the places up to which a request is written to the cache.
func (c Cache) kept(req Request) []Mark {
	switch c.Kind {
	case Markers:
		return req.Marks
	case Endings:
		for i, p := range slices.Backward(req.Pieces) {
			if p.Ends {
				return []Mark{{Pieces: firstEnding(req)}, {Pieces: i + 1}}
			}
		}
	}
	return nil
}
