package replay

import (
	"unicode/utf8"

	"secateur/internal/bill"
)

// cache is a provider's prompt cache as one conversation sees it: everything sent
// so far, as a tree of messages. A prompt is matched with any earlier one, to the
// character, in blocks.
type cache struct {
	bill.Cache         // how it takes prompts
	hidden     float64 // tokens before the first message
	ruler      Ruler
	perToken   float64 // of what the ruler measures
	ttl        float64 // seconds an entry lives unused; 0: for ever
	root       entry
	warm       bool
}

type entry struct {
	next map[*rendered]*entry
	last float64
}

// request sends a prompt at a time and returns what it counts.
func (c *cache) request(prompt []*rendered, at float64) bill.Prompt {
	known, total := 0.0, 0.0
	node, depth := &c.root, 0
	warm := c.warm && c.alive(node, at)
	if warm {
		for _, m := range prompt {
			n := node.next[m]
			if n == nil || !c.alive(n, at) {
				break
			}
			node, depth, known = n, depth+1, known+m.size
		}
		if depth < len(prompt) {
			most := 0
			for m, n := range node.next {
				if c.alive(n, at) {
					most = max(most, common(m.text, prompt[depth].text))
				}
			}
			known += c.ruler(prompt[depth].text[:most])
		}
	}
	for _, m := range prompt {
		total += m.size
	}
	p := bill.Prompt{Total: c.hidden + total/c.perToken}
	if warm {
		p.Cached = min(c.Cacheable(c.hidden+known/c.perToken), p.Total)
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

// common is the length of the whole characters with which both texts begin.
func common(a, b string) int {
	i := sameBytes(a, b)
	for i < min(len(a), len(b)) && i > 0 && !utf8.RuneStart(a[i]) { // within a character
		i--
	}
	return i
}

// sameBytes is how many bytes both texts begin with.
func sameBytes[T string | []byte](a, b T) int {
	const step = 256
	i, end := 0, min(len(a), len(b))
	for i+step <= end && string(a[i:i+step]) == string(b[i:i+step]) {
		i += step
	}
	for i < end && a[i] == b[i] {
		i++
	}
	return i
}
