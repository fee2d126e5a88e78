package replay

import (
	"math"
	"unicode/utf8"

	"secateur/internal/bill"
)

// cache is a provider's prompt cache as one conversation sees it: everything sent
// so far, as a tree of messages. A prompt is matched with any earlier one, to the
// character, in blocks.
type cache struct {
	hidden   float64 // tokens before the first message
	perToken float64 // characters
	ttl      float64 // seconds an entry lives unused; 0: for ever
	root     entry
	warm     bool
}

type entry struct {
	next map[*rendered]*entry
	last float64
}

// request sends a prompt at a time and returns what it counts.
func (c *cache) request(prompt []*rendered, at float64) bill.Prompt {
	chars, total := 0, 0
	node, depth := &c.root, 0
	warm := c.warm && c.alive(node, at)
	if warm {
		for _, m := range prompt {
			n := node.next[m]
			if n == nil || !c.alive(n, at) {
				break
			}
			node, depth, chars = n, depth+1, chars+m.chars
		}
		if depth < len(prompt) {
			most := 0
			for m, n := range node.next {
				if c.alive(n, at) {
					most = max(most, common(m.text, prompt[depth].text))
				}
			}
			chars += most
		}
	}
	for _, m := range prompt {
		total += m.chars
	}
	p := bill.Prompt{Total: c.hidden + float64(total)/c.perToken}
	if warm {
		p.Cached = math.Floor((c.hidden+float64(chars)/c.perToken)/bill.Block) * bill.Block
		if p.Cached < bill.Minimum {
			p.Cached = 0
		}
		p.Cached = min(p.Cached, p.Total)
	}
	c.keep(prompt, at)
	return p
}

func (c *cache) keep(prompt []*rendered, at float64) {
	node := &c.root
	node.last, c.warm = at, true
	for _, m := range prompt {
		n := node.next[m]
		if n == nil {
			n = &entry{}
			if node.next == nil {
				node.next = make(map[*rendered]*entry, 1)
			}
			node.next[m] = n
		}
		n.last, node = at, n
	}
}

func (c *cache) alive(e *entry, at float64) bool { return c.ttl == 0 || at-e.last <= c.ttl }

// common counts the characters with which both texts begin.
func common(a, b string) int {
	n, end := 0, min(len(a), len(b))
	i := 0
	for i < end && a[i] == b[i] {
		i++
	}
	for i < end && i > 0 && !utf8.RuneStart(a[i]) { // within a character
		i--
	}
	for range a[:i] {
		n++
	}
	return n
}
