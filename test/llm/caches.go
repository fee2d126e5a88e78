package llm

import (
	"fmt"
	"hash/maphash"
	"time"

	"secateur/test/provider"
)

// Counts are a prompt's tokens: all of them, those read from the cache, those written to it for
// five minutes (or the provider's lifetime), and for an hour.
type Counts struct{ Total, Read, Written, WrittenFor int }

// Cost returns the cost of a prompt, in units of one uncached token.
func (m Model) Cost(c Counts) float64 {
	plain := c.Total - c.Read - c.Written - c.WrittenFor
	return float64(plain) + m.Read*float64(c.Read) + m.Write*float64(c.Written) + m.WriteFor*float64(c.WrittenFor)
}

// cache is a provider's cache for one model.
type cache struct {
	model   Model
	entries map[uint64]*entry // by the hash of the beginning that ends there
	even    provider.Cache    // for blocks and intervals
}

type entry struct {
	used time.Time
	life time.Duration
}

func newCache(m Model) *cache {
	c := &cache{model: m, entries: map[uint64]*entry{}}
	c.even.Terms = provider.Terms{Block: 128, Minimum: m.Minimum, Life: m.Life}
	if m.Cache == intervals {
		c.even.Terms.Block = 2048
	}
	return c
}

// lookBack is how many positions a marker, or the last ending, looks back.
const lookBack = 20

// take counts a prompt and stores it.
func (c *cache) take(p prompt, now time.Time) Counts {
	switch c.model.Cache {
	case markers:
		return c.takeMarked(p, now)
	case endings:
		return c.takeEndings(p, now)
	}
	var all []uint64
	for _, q := range p.positions {
		all = append(all, q.tokens...)
	}
	even := c.even.Take(p.scope, all, now)
	return Counts{Total: even.Input, Read: even.Cached}
}

var seed = maphash.MakeSeed()

// beginnings returns the hash and the length of the prompt up to each position.
func beginnings(p prompt) (hashes []uint64, lengths []int) {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(p.scope)
	length := 0
	for _, q := range p.positions {
		for _, t := range q.tokens {
			maphash.WriteComparable(&h, t)
		}
		length += len(q.tokens)
		hashes, lengths = append(hashes, h.Sum64()), append(lengths, length)
	}
	return hashes, lengths
}

func (c *cache) find(hash uint64, now time.Time) bool {
	e := c.entries[hash]
	if e == nil || now.Sub(e.used) > e.life {
		return false
	}
	e.used = now
	return true
}

func (c *cache) write(hash uint64, life time.Duration, now time.Time) {
	if e := c.entries[hash]; e != nil && e.life > life && now.Sub(e.used) <= e.life {
		e.used = now
		return
	}
	c.entries[hash] = &entry{now, life}
}

// takeMarked models Anthropic's cache: one entry at each marker, found from a marker at most 20
// positions back.
func (c *cache) takeMarked(p prompt, now time.Time) Counts {
	hashes, lengths := beginnings(p)
	count := Counts{Total: p.total()}
	hit := -1
	for i := len(p.positions) - 1; i >= 0 && hit < 0; i-- {
		if p.positions[i].marker == nil {
			continue
		}
		for k, back := i, 0; k >= 0 && back < lookBack; k-- {
			if lengths[k] >= c.model.Minimum && c.find(hashes[k], now) {
				hit = k
				break
			}
			if k == 0 || p.positions[k].run == "" || p.positions[k].run != p.positions[k-1].run {
				back++
			}
		}
	}
	if hit >= 0 {
		count.Read = lengths[hit]
	}
	// From the hit to the last hour marker it is written for an hour, from there to the last marker
	// for five minutes.
	end := count.Read
	for i, q := range p.positions {
		if q.marker == nil || lengths[i] < c.model.Minimum {
			continue
		}
		life := fiveMinutes
		if q.marker.hour() {
			life = time.Hour
		}
		c.write(hashes[i], life, now)
		if n := lengths[i] - end; n > 0 {
			if q.marker.hour() {
				count.WrittenFor += n
			} else {
				count.Written += n
			}
			end = lengths[i]
		}
	}
	return count
}

// takeEndings models GPT-5.6 and later: an entry at the last eligible ending and at the first
// developer block's, found there and at up to 20 earlier endings.
func (c *cache) takeEndings(p prompt, now time.Time) Counts {
	hashes, lengths := beginnings(p)
	count := Counts{Total: p.total()}
	var at []int
	for i, q := range p.positions {
		if q.ending && lengths[i] >= c.model.Minimum {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return count
	}
	last := at[len(at)-1]
	looked := at[max(0, len(at)-1-lookBack):]
	if looked[0] != at[0] {
		looked = append([]int{at[0]}, looked...)
	}
	for _, i := range looked {
		if c.find(hashes[i], now) {
			count.Read = max(count.Read, lengths[i])
		}
	}
	count.Written = max(lengths[last]-count.Read, 0)
	c.write(hashes[last], c.model.Life, now)
	c.write(hashes[at[0]], c.model.Life, now)
	return count
}

// Book bills requests with one cache for each model.
type Book struct {
	caches map[string]*cache
	Spent  map[string]float64 // by conversation
}

// take counts a prompt of a model, and adds its cost to a conversation.
func (b *Book) take(model, conversation string, p prompt, now time.Time) (Counts, error) {
	m, ok := ModelNamed(model)
	if !ok {
		return Counts{}, fmt.Errorf("model %q is not known", model)
	}
	if b.caches == nil {
		b.caches, b.Spent = map[string]*cache{}, map[string]float64{}
	}
	if b.caches[model] == nil {
		b.caches[model] = newCache(m)
	}
	counts := b.caches[model].take(p, now)
	b.Spent[conversation] += m.Cost(counts)
	return counts, nil
}
