package toolindex

import "slices"

// Kind is what an item is.
type Kind uint8

// The kinds of items.
const (
	Tool Kind = iota
	Prompt
	Resource
)

// Item is a thing that can be found.
type Item struct {
	Kind        Kind
	Server      string // id
	Name        string // as its server calls it, or its URI
	Title       string
	Description string
	Arguments   []string // names
}

// Part is what one server lists, read into terms. It does not change.
type Part struct {
	items []Item
	vocab []string // stems
	docs  []document
}

// document is an item's terms, as places in a vocabulary.
type document struct {
	name   []int32 // in order, then the words that are hidden in it
	title  []int32
	server []int32
	first  []int32 // of the description's first sentence, in order
	rest   []int32 // of the rest
	args   []int32
	verb   verb
}

// maxTerms bounds what is read of a description.
const maxTerms = 160

// NewPart reads what a server lists.
func NewPart(items []Item) *Part { return Words().NewPart(items) }

// NewPart is the function of that name with this lexicon.
func (l *Lexicon) NewPart(items []Item) *Part {
	r := reader{lexicon: l, p: &Part{items: slices.Clone(items)}, ids: map[string]int32{}, stems: map[string]int32{}}
	for _, it := range items {
		first := sentence(it.Description)
		d := document{
			name: r.terms(it.Name, true), title: r.terms(it.Title, false), server: r.terms(it.Server, true),
			first: r.terms(first, false), verb: verbOf(it.Name, first),
		}
		if at := len(first); at < len(it.Description) {
			d.rest = r.terms(it.Description[min(at+1, len(it.Description)):], false)
		}
		for _, a := range it.Arguments {
			d.args = append(d.args, r.terms(a, false)...)
		}
		r.p.docs = append(r.p.docs, d)
	}
	return r.p
}

// Only returns the part with those of its items that keep accepts, by their places.
func (p *Part) Only(keep func(Item) bool) *Part {
	some := &Part{vocab: p.vocab}
	for i, it := range p.items {
		if keep(it) {
			some.items, some.docs = append(some.items, it), append(some.docs, p.docs[i])
		}
	}
	if len(some.items) == len(p.items) {
		return p
	}
	return some
}

// Items returns what the part was made of; it must not be changed.
func (p *Part) Items() []Item { return p.items }

// reader makes a Part.
type reader struct {
	lexicon *Lexicon
	p       *Part
	ids     map[string]int32 // by stem
	stems   map[string]int32 // by word; -1: a stop word
}

func (r *reader) terms(s string, isName bool) []int32 {
	if s == "" {
		return nil
	}
	var out []int32
	var hidden []int32
	for _, w := range words(s) {
		id, known := r.stems[w.text]
		if !known {
			id = -1
			if !stopWords[w.text] {
				id = r.id(stem(w.text))
			}
			r.stems[w.text] = id
		}
		if id >= 0 {
			out = append(out, id)
		}
		if isName {
			for _, part := range r.lexicon.hidden(w.text) {
				hidden = append(hidden, r.id(stem(part)))
			}
		}
		if len(out) >= maxTerms {
			break
		}
	}
	return append(out, hidden...)
}

func (r *reader) id(s string) int32 {
	id, known := r.ids[s]
	if !known {
		id = int32(len(r.p.vocab)) //nolint:gosec // bounded by what servers list
		r.ids[s] = id
		r.p.vocab = append(r.p.vocab, s)
	}
	return id
}

// hidden returns the words that are written together in one, as in keyvault or hdbcarpark: the longest known one at its
// beginning and at its end.
func (l *Lexicon) hidden(w string) []string {
	const least = 4
	if len(w) < least+2 || l.has(stem(w)) {
		return nil
	}
	var out []string
	for n := len(w) - 2; n >= least; n-- {
		if l.has(stem(w[:n])) {
			out = append(out, w[:n])
			break
		}
	}
	for n := len(w) - 2; n >= least; n-- {
		if l.has(stem(w[len(w)-n:])) {
			out = append(out, w[len(w)-n:])
			break
		}
	}
	return out
}
