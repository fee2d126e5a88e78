package prune

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cuts lists the removed blocks, with reasons.
func (t *text) cuts(s *shape, k *keep) []Block {
	var out []Block
	n := t.lines.Len()
	row := 0
	namer := newNamer(t)
	for from := 0; ; {
		first, last, ok := k.nextGap(from, n)
		if !ok {
			return out
		}
		for row < t.rows() && int(t.line[row]) < first {
			row++
		}
		end := row
		for end < t.rows() && int(t.line[end]) <= last {
			end++
		}
		out = append(out, Block{Start: first + 1, End: last + 1, Reason: namer.reason(s, row, end, first, last)})
		row, from = end, last+1
	}
}

// namer names removed blocks. A reason consists of the text's own words, so it is data like the
// text: a single line, without our brackets, bounded.
type namer struct {
	*text
	count []uint16 // of each vocabulary number, in the examined rows
	seen  []uint32 // numbers with a count
}

func newNamer(t *text) *namer { return &namer{text: t, count: make([]uint16, t.vocab.len())} }

const (
	lookedAt  = 64 // rows of a block that are examined for its reason
	mostNames = 3
	nameRunes = 28
)

// reason describes rows lo … hi-1, in lines first … last, in a few words, and so why they could go.
func (n *namer) reason(s *shape, lo, hi, first, last int) string {
	if lo == hi { // blank lines, or repetitions
		filled := 0
		for line := first; line <= last; line++ {
			start, end := n.bounds(line)
			if body, _ := skipSpace(n.src, start, end); body < end {
				filled++
			}
		}
		if filled == 0 {
			return "lignes vides"
		}
		return "répétitions (×" + strconv.Itoa(filled) + ")"
	}
	if every := n.common(lo, hi); every&isBoilerplate != 0 {
		return "scripts, styles, navigation"
	}
	if hi-lo > 2 && n.repeats(lo, hi) {
		return "répétitions (×" + strconv.Itoa(max(hi-lo, last-first+1)) + ")"
	}
	if like := n.likes(s, lo, hi, first, last); like > 2 {
		return "… " + strconv.Itoa(like) + " autres semblables"
	}
	if n.source == Code {
		switch every := n.common(lo, hi); {
		case every&isImport != 0:
			return "imports"
		case every&isComment != 0:
			return "commentaires"
		case every&isClosing != 0:
			return "fermetures"
		}
	}
	names := n.headers(lo, hi)
	if len(names) == 0 && n.source != Logs {
		names = n.enclosing(s, lo)
	}
	if len(names) == 0 {
		names = n.frequent(lo, hi)
	}
	if len(names) == 0 {
		return "bloc sans lien avec l’objectif"
	}
	return "hors focus: " + strings.Join(names, ", ")
}

// common returns the kinds that all of the first rows share.
func (n *namer) common(lo, hi int) kind {
	every := ^kind(0)
	for r := lo; r < min(hi, lo+lookedAt); r++ {
		every &= n.kind[r]
	}
	return every
}

// likes returns how many elements of one kind the rows are: lines of a table or of NDJSON, elements
// of a JSON array.
func (n *namer) likes(s *shape, lo, hi, first, last int) int {
	switch n.form {
	case Table, NDJSON:
		return hi - lo
	case JSON:
		count := 0
		i, _ := slices.BinarySearchFunc(s.units, first, func(u unit, line int) int { return u.first - line })
		for ; i < len(s.units) && s.units[i].last <= last; i++ {
			count++
		}
		if count*smallElement >= (last-first)/2 {
			return count
		}
	}
	return 0
}

// repeats reports whether the rows repeat one message, ignoring numbers.
func (n *namer) repeats(lo, hi int) bool {
	first := n.template(lo)
	for r := lo + 1; r < hi; r++ {
		if n.template(r) != first {
			return false
		}
	}
	return true
}

// template hashes a row's words without its numbers.
func (t *text) template(r int) uint64 {
	h := uint64(hashSeed)
	for _, id := range t.termsOf(r) {
		if t.vocab.terms[id].number {
			continue
		}
		h = (h ^ uint64(id)) * hashPrime
		h ^= h >> 29
	}
	return h
}

// headers returns the names that the rows define, or the headings among them.
func (n *namer) headers(lo, hi int) (names []string) {
	for r := lo; r < hi && len(names) < mostNames; r++ {
		if n.kind[r]&isStructure == 0 || n.kind[r]&isImport != 0 {
			continue
		}
		if name := n.headerName(r); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// enclosing returns the name of what encloses the row.
func (n *namer) enclosing(s *shape, r int) []string {
	for p := s.parent[r]; p >= 0; p = s.parent[p] {
		if n.kind[p]&isStructure != 0 {
			if name := n.headerName(int(p)); name != "" {
				if n.source == Docs {
					return []string{"suite de « " + name + " »"}
				}
				return []string{"corps de " + name}
			}
		}
	}
	return nil
}

// headerName returns the name that a header defines, or a heading's title.
func (n *namer) headerName(r int) string {
	line := n.row(r)
	switch {
	case n.form == Diff: // the function of a hunk, or the file
		if _, after, ok := strings.Cut(strings.TrimPrefix(line, "@@"), "@@ "); ok {
			return clip(after)
		}
		if file, ok := strings.CutPrefix(line, "+++ b/"); ok {
			return clip(path.Base(file))
		}
		return ""
	case n.page != nil: // the heading's text, without its tags
		return clip(n.readable(r))
	case n.source == Docs:
		return clip(strings.Trim(line, "#= \t"))
	}
	if i := strings.IndexAny(line, "({=;"); i > 0 && !strings.HasPrefix(line, "func (") {
		line = line[:i]
	} else if strings.HasPrefix(line, "func (") {
		if i := strings.IndexByte(line, ')'); i > 0 {
			line = line[i+1:]
			if j := strings.IndexByte(line, '('); j > 0 {
				line = line[:j]
			}
		}
	}
	name := ""
	for w := range strings.FieldsFuncSeq(line, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if name != "" && (w == "extends" || w == "implements" || w == "for" || w == "struct" || w == "interface" || w == "where" || w == "do") {
			break
		}
		if roleOf(w)&(modifies|defines) == 0 || name == "" {
			name = w
		}
	}
	if roleOf(name)&(modifies|defines) != 0 {
		return ""
	}
	return clip(name)
}

// frequent returns the most frequent telling words of the rows.
func (n *namer) frequent(lo, hi int) (names []string) {
	step := max(1, (hi-lo)/lookedAt)
	for r := lo; r < hi; r += step {
		terms := n.termsOf(r)
		for _, id := range terms[:min(len(terms), lookedAt)] {
			if n.count[id] == 0 {
				n.seen = append(n.seen, id)
			}
			n.count[id]++
		}
	}
	for range mostNames - 1 {
		best := uint32(unknown)
		for _, id := range n.seen {
			if n.count[id] > n.count[best] && id != unknown && n.telling(id) {
				best = id
			}
		}
		if best == unknown {
			break
		}
		names = append(names, clip(n.word(best)))
		n.count[best] = 0
	}
	for _, id := range n.seen {
		n.count[id] = 0
	}
	n.seen = n.seen[:0]
	n.count[unknown] = 0
	return names
}

// word returns a term as it first occurs in the text.
func (t *text) word(id uint32) string {
	return t.src[t.vocab.terms[id].at : t.vocab.terms[id].at+uint32(t.vocab.terms[id].size)]
}

// telling reports whether a word can name what a block is about.
func (n *namer) telling(id uint32) bool {
	if _, asked := n.goal.index[n.vocab.terms[id].hash]; asked {
		return false
	}
	w := n.word(id)
	if len(w) < 4 || len(w) > nameRunes || classes[w[0]] == digitClass || !utf8.ValidString(w) {
		return false
	}
	b := []byte(strings.ToLower(w))
	return !emptyWords[string(b)] && !emptyWords[string(b[:stem(b)])] && roleOf(string(b))&modifies == 0
}

// clip makes a piece of the text fit for a reason.
func clip(s string) string {
	out := make([]rune, 0, nameRunes)
	for _, c := range s {
		if c == '⟦' || c == '⟧' || c == utf8.RuneError || unicode.IsControl(c) || !unicode.IsPrint(c) {
			c = ' '
		}
		if c == ' ' && (len(out) == 0 || out[len(out)-1] == ' ') {
			continue
		}
		if len(out) == nameRunes {
			out = append(out, '…')
			break
		}
		out = append(out, c)
	}
	return strings.TrimSpace(string(out))
}
