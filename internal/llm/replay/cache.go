package replay

import (
	"unicode/utf8"

	"secateur/internal/llm/bill"
)

// cache simulates a provider's prompt cache for one conversation: everything sent so far, as a tree
// of pieces. A cache of blocks or intervals matches a prompt with any earlier one, to the
// character. The other kinds match it where it was marked or where messages ended.
type cache struct {
	bill.Cache         // kind and parameters
	hidden     float64 // tokens before the first piece
	ruler      Ruler
	perToken   float64 // units of the ruler per token
	timed      bool    // entries expire
	root       entry
	warm       bool
}

type entry struct {
	next map[*rendered]*entry
	last float64 // when it was sent
	kept float64 // time of the last write or read as a cache entry, if it is one
	life float64 // lifetime of this entry in seconds; 0: not an entry
}

// Lifetimes in seconds that the providers of these caches guarantee.
const (
	markLife   = 5 * 60
	hourLife   = 60 * 60
	endingLife = 30 * 60
	lookBack   = 20 // positions or endings, counting the last one
)

// request sends a prompt at the given time and returns its counts.
func (c *cache) request(prompt []piece, marked []bill.Mark, at float64) bill.Prompt {
	total := 0.0
	for _, m := range prompt {
		total += m.size
	}
	p := bill.Prompt{Total: c.hidden + total/c.perToken}
	switch c.Kind {
	case bill.Markers:
		c.takeMarked(&p, prompt, marked, at)
	case bill.Endings:
		c.takeEndings(&p, prompt, at)
	default:
		p.Cached = min(c.Cacheable(c.known(prompt, at)), p.Total)
	}
	c.keep(prompt, at)
	return p
}

// known returns how many tokens of the prompt were sent before, to the character; 0: none.
func (c *cache) known(prompt []piece, at float64) float64 {
	node, depth, known := &c.root, 0, 0.0
	if !c.warm || !c.alive(node, at) {
		return 0
	}
	for _, m := range prompt {
		n := node.next[m.rendered]
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
	return c.hidden + known/c.perToken
}

// takeMarked models Anthropic's cache: a mark finds an entry at most 20 positions back, and writes
// one.
func (c *cache) takeMarked(p *bill.Prompt, prompt []piece, marked []bill.Mark, at float64) {
	nodes, sizes := c.path(prompt)
	hit := -1
	for i := len(marked) - 1; i >= 0 && hit < 0; i-- {
		for k := marked[i].Pieces; k >= 0 && marked[i].Pieces-k < lookBack && hit < 0; k-- {
			if c.finds(nodes[k], sizes[k], at) {
				hit = k
			}
		}
	}
	if hit >= 0 {
		p.Cached = sizes[hit]
	}
	end := p.Cached
	for _, m := range marked {
		if sizes[m.Pieces] < c.minimum() {
			continue
		}
		life := float64(markLife)
		if m.Hour {
			life = hourLife
		}
		nodes[m.Pieces].write(life, at)
		if n := sizes[m.Pieces] - end; n > 0 {
			if m.Hour {
				p.Hour += n
			}
			end = sizes[m.Pieces]
		}
	}
	p.Plain = p.Total - end
}

// takeEndings models GPT-5.6 and later. A request writes an entry where it ends and where the first
// instructions end. Entries are found there and at 20 earlier endings.
func (c *cache) takeEndings(p *bill.Prompt, prompt []piece, at float64) {
	nodes, sizes := c.path(prompt)
	var ends []int
	for i := range prompt {
		if prompt[i].ends {
			ends = append(ends, i+1)
		}
	}
	if len(ends) == 0 || sizes[ends[len(ends)-1]] < c.minimum() {
		p.Plain = p.Total
		return
	}
	for i, k := range ends {
		if (i == 0 || len(ends)-1-i <= lookBack) && c.finds(nodes[k], sizes[k], at) {
			p.Cached = sizes[k]
		}
	}
	last := ends[len(ends)-1]
	nodes[last].write(endingLife, at)
	if first := ends[0]; sizes[first] >= c.minimum() {
		nodes[first].write(endingLife, at)
	}
	p.Plain = max(p.Total-max(sizes[last], p.Cached), 0)
}

// path returns the nodes along a prompt and the tokens up to each. It creates missing nodes.
func (c *cache) path(prompt []piece) (nodes []*entry, sizes []float64) {
	node, size := &c.root, c.hidden
	nodes, sizes = append(nodes, node), append(sizes, size)
	for _, m := range prompt {
		node, size = node.child(m.rendered), size+m.size/c.perToken
		nodes, sizes = append(nodes, node), append(sizes, size)
	}
	return nodes, sizes
}

// finds reports whether e is a live entry, and renews it.
func (c *cache) finds(e *entry, size, at float64) bool {
	if e.life == 0 || size < c.minimum() || c.timed && at-e.kept > e.life {
		return false
	}
	e.kept = at
	return true
}

func (c *cache) minimum() float64 {
	if c.Minimum > 0 {
		return c.Minimum
	}
	return bill.Minimum
}

func (e *entry) write(life, at float64) { e.life, e.kept = max(life, e.life), at }

func (e *entry) child(m *rendered) *entry {
	n := e.next[m]
	if n == nil {
		n = &entry{}
		if e.next == nil {
			e.next = make(map[*rendered]*entry, 1)
		}
		e.next[m] = n
	}
	return n
}

func (c *cache) keep(prompt []piece, at float64) {
	node := &c.root
	node.last, c.warm = at, true
	for _, m := range prompt {
		node = node.child(m.rendered)
		node.last = at
	}
}

func (c *cache) alive(e *entry, at float64) bool {
	return !c.timed || c.Life == 0 || at-e.last <= c.Life
}

// common returns the length of the common prefix in whole characters.
func common(a, b string) int {
	i := sameBytes(a, b)
	for i < min(len(a), len(b)) && i > 0 && !utf8.RuneStart(a[i]) { // within a character
		i--
	}
	return i
}

// sameBytes returns the length of the common prefix in bytes.
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
