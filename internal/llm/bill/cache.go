package bill

import (
	"math"
	"slices"
)

// Kind says where in a prompt a provider's cache can find it again. What was sent before and
// comes again unchanged is found up to such a place, and no farther.
type Kind uint8

// The kinds of caches.
const (
	// Blocks: at every so many tokens. DeepSeek, Moonshot, OpenAI's models before GPT-5.5, and whatever is not known.
	Blocks Kind = iota
	// Intervals: the same, far apart. GPT-5.5.
	Intervals
	// Endings: where a message ends that a request has ended with, the last twenty of them, and the first
	// instructions. GPT-5.6 and later. [Piece.Ends] says where.
	Endings
	// Markers: where a request has asked for it, from a mark of this request on at most twenty pieces back. Claude in
	// the Messages format. [Request.Marks] says where.
	Markers
)

var kindNames = [...]string{"blocks", "intervals", "endings", "markers"}

func (k Kind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }

// Cache is how a provider's cache takes prompts. The zero value stands for the usual one.
type Cache struct {
	Kind    Kind
	Block   float64 // tokens; a beginning is known in whole blocks. 0: 128, for intervals 2048
	Minimum float64 // tokens; nothing shorter is cached. 0: 1024
	Life    float64 // seconds an entry may live unused; 0: unknown
}

// Mark is where a request asks the cache to keep it: behind so many pieces.
type Mark struct {
	Pieces int  // 0: behind what stands before the first
	Hour   bool // for an hour, which costs more than the usual five minutes
}

// Entry is a place up to which the cache has a prompt, as it went out.
type Entry struct {
	Pieces int
	At     float64 // when it was written or read last, as [Request.At]
	Hour   bool
}

// The usual cache.
const (
	Block    = 128
	Minimum  = 1024
	interval = 2048
	// unknownLife is how long, in seconds, a cache of unknown kind may live.
	unknownLife = 3600
	// back is how many places a cache looks back from where a prompt ends or is marked, that one counted.
	back = 20
	// maxEntries bounds how many entries an account remembers.
	maxEntries = 32
)

// Seconds that an entry is promised to live: it may live longer, and that is what [Cache.Life] says.
const (
	markLife   = 5 * 60
	hourLife   = 60 * 60
	endingLife = 30 * 60
)

// precise tells whether the cache knows a prompt up to the token, and not in blocks.
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
func (c Cache) roomy(tokens float64) bool { return tokens >= 1.25*c.minimum()+max(c.block(), Block) }

// Cacheable is what the usual cache makes of a beginning.
func Cacheable(tokens float64) float64 { return Cache{}.Cacheable(tokens) }

// alive tells whether an entry is promised to be there still.
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

// reaches tells whether a request lets the cache look for it up to so many pieces.
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

// firstEnding is how many pieces the first instructions have.
func firstEnding(req Request) int {
	for i := range req.Pieces {
		if req.Pieces[i].Ends {
			return i + 1
		}
	}
	return 0
}

// kept are the places up to which a request is written to the cache.
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
