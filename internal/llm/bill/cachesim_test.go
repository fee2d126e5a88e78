package bill_test

import (
	"math"
	"slices"
)

// The caches of four providers, written from their documentation without using the package's code:
// what they find, what they write, and what that costs.

// part is a stretch of a prompt as a provider sees it.
type part struct {
	id     uint64 // hash of its content
	tokens int
	ours   float64 // the account's estimate of the tokens
	ends   bool
}

// mark is a request to store the prompt up to and including a part.
type mark struct {
	part int // -1: behind the head
	hour bool
}

// counted is the count that a provider reports, and its charge in uncached tokens.
type counted struct {
	input, cached, wrote, hour int
	cost                       float64
}

// simulated is one cache. A prompt's head never changes.
type simulated struct {
	kind        string // "blocks", "endings", "markers"
	block       int
	minimum     int
	life        float64 // of blocks and endings
	read, write float64
	above       int // a band; 0: none
	times       float64
	head        int
	automatic   bool // the provider marks the end of each request
	used        map[place]stamp
}

// place identifies a beginning of a prompt: everything before a part, and a number of tokens of it.
type place struct {
	before uint64
	within int
}

type stamp struct{ at, life float64 }

func (s *simulated) take(prompt []part, marks []mark, now float64) (c counted) {
	if s.used == nil {
		s.used = map[place]stamp{}
	}
	ends := make([]int, len(prompt)+1) // tokens up to each part
	hashes := make([]uint64, len(prompt)+1)
	ends[0], hashes[0] = s.head, 1
	for i, p := range prompt {
		ends[i+1], hashes[i+1] = ends[i]+p.tokens, (hashes[i]^p.id)*1099511628211
	}
	c.input = ends[len(prompt)]
	switch s.kind {
	case "blocks":
		s.blocks(&c, ends, hashes, now)
	case "endings":
		s.endings(&c, prompt, ends, hashes, now)
	default:
		s.markers(&c, marks, ends, hashes, now)
	}
	plain := c.input - c.cached - c.wrote
	c.cost = s.read*float64(c.cached) + s.write*float64(c.wrote-c.hour) + 2*float64(c.hour) + float64(plain)
	if s.above > 0 && c.input > s.above {
		c.cost *= s.times
	}
	return c
}

func (s *simulated) alive(p place, now float64) bool {
	u, ok := s.used[p]
	return ok && now-u.at <= u.life
}

func (s *simulated) blocks(c *counted, ends []int, hashes []uint64, now float64) {
	part, hit := 0, true
	for at := s.block; at <= c.input; at += s.block {
		for part+1 < len(ends) && ends[part] < at { // the block ends within this part
			part++
		}
		p := place{hashes[part], at}
		if ends[part] != at && part > 0 {
			p = place{hashes[part] ^ 7, at} // a part is identified by its whole content
		}
		if hit = hit && s.alive(p, now); hit {
			c.cached = at
		}
		s.used[p] = stamp{now, s.life}
	}
	if c.cached < s.minimum {
		c.cached = 0
	}
	if c.input >= s.minimum {
		c.wrote = c.input - c.cached
	}
}

func (s *simulated) endings(c *counted, prompt []part, ends []int, hashes []uint64, now float64) {
	var places []int // number of pieces up to each ending, last first
	for i, p := range slices.Backward(prompt) {
		if p.ends {
			places = append(places, i+1)
		}
	}
	if len(places) == 0 {
		return
	}
	first, last := places[len(places)-1], places[0]
	for i, n := range places {
		if (i <= 20 || n == first) && ends[n] >= s.minimum && s.alive(place{hashes[n], 0}, now) {
			c.cached = ends[n]
			s.used[place{hashes[n], 0}] = stamp{now, s.life}
			break
		}
	}
	for _, n := range []int{first, last} {
		if ends[n] >= s.minimum {
			s.used[place{hashes[n], 0}] = stamp{now, s.life}
			c.wrote = max(0, ends[n]-c.cached)
		}
	}
}

func (s *simulated) markers(c *counted, marks []mark, ends []int, hashes []uint64, now float64) {
	const five, hour = 300, 3600
	lives := func(m mark) float64 {
		if m.hour {
			return hour
		}
		return five
	}
	hit := -1
	for i := len(marks) - 1; i >= 0 && hit < 0; i-- {
		for back := range 20 {
			n := marks[i].part + 1 - back
			if n < 0 {
				break
			}
			if p := (place{hashes[n], 0}); ends[n] >= s.minimum && s.alive(p, now) {
				hit, c.cached = n, ends[n]
				s.used[p] = stamp{now, s.used[p].life}
				break
			}
		}
	}
	last, lastHour := c.cached, c.cached
	for _, m := range marks {
		n := m.part + 1
		if ends[n] < s.minimum {
			continue
		}
		s.used[place{hashes[n], 0}] = stamp{now, math.Max(lives(m), s.used[place{hashes[n], 0}].life)}
		last = max(last, ends[n])
		if m.hour {
			lastHour = max(lastHour, ends[n])
		}
	}
	c.wrote, c.hour = last-c.cached, lastHour-c.cached
}
