package mask_test

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"secateur/internal/cut/mask"
)

// The reference masks in the simplest way. It parses the document into a tree, splits every string
// into characters, walks the tree, and writes the document again. It shares no code with the
// Masker, and needs well-formed documents.

// A node is a value of a document.
type node struct {
	start, end int
	kind       byte    // first byte of the value
	chars      []char  // of a string
	names      []*node // of an object's members
	values     []*node // of an object's members or an array's elements
}

// A char is one character of a string, with its raw bytes.
type char struct {
	r   rune // a surrogate if it is a lone one
	raw string
}

type reference struct {
	doc string
	pos int
}

func (p *reference) space() {
	for p.pos < len(p.doc) && strings.IndexByte(" \t\r\n", p.doc[p.pos]) >= 0 {
		p.pos++
	}
}

func (p *reference) value() *node {
	p.space()
	n := &node{start: p.pos, kind: p.doc[p.pos]}
	switch n.kind {
	case '"':
		p.pos++
		for p.doc[p.pos] != '"' {
			n.chars = append(n.chars, p.char())
		}
		p.pos++
	case '{', '[':
		p.pos++
		for p.space(); p.doc[p.pos] != '}' && p.doc[p.pos] != ']'; p.space() {
			if p.doc[p.pos] == ',' {
				p.pos++
			}
			if n.kind == '{' {
				n.names = append(n.names, p.value())
				p.space()
				p.pos++ // the colon
			}
			n.values = append(n.values, p.value())
		}
		p.pos++
	default:
		for p.pos < len(p.doc) && strings.IndexByte(" \t\r\n,]}", p.doc[p.pos]) < 0 {
			p.pos++
		}
	}
	n.end = p.pos
	return n
}

func (p *reference) char() char {
	start := p.pos
	r, n := utf8.DecodeRuneInString(p.doc[start:])
	if r == '\\' {
		r, n = p.escape(start)
		if low, m := p.escape(start + n); 0xd800 <= r && r < 0xdc00 && 0xdc00 <= low && low < 0xe000 {
			r = 0x10000 + (r-0xd800)*0x400 + (low - 0xdc00)
			n += m
		}
	}
	p.pos += n
	return char{r, p.doc[start:p.pos]}
}

// escape decodes the escape at an offset, if there is one.
func (p *reference) escape(at int) (rune, int) {
	if p.doc[at] != '\\' {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, p.doc[at+1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	unit, err := strconv.ParseUint(p.doc[at+2:at+6], 16, 16)
	if err != nil {
		panic(err)
	}
	return rune(unit), 6
}

// says reports whether a string node has this text.
func (n *node) says(text string) bool {
	var b []rune
	for _, c := range n.chars {
		b = append(b, c.r)
	}
	return n.kind == '"' && string(b) == text
}

// text returns a string's characters, with lone surrogates as U+FFFD.
func (n *node) text() string {
	var b strings.Builder
	for _, c := range n.chars {
		b.WriteRune(c.r)
	}
	return b.String()
}

// referenceMask returns the expected result of a Masker, and the number of cuts.
func referenceMask(doc string, s mask.Settings, id string) (string, int) {
	p := reference{doc: doc}
	return cutReference(doc, p.value(), s, id, func(_, parent, name *node) bool { return s.ExemptMedia && exempt(parent, name) })
}

// cutReference cuts the strings of a tree that are not spared.
func cutReference(doc string, root *node, s mask.Settings, id string, spared func(n, parent, name *node) bool) (string, int) {
	var (
		out  strings.Builder
		done int
		cuts int
	)
	var walk func(n, parent *node, name *node)
	walk = func(n, parent *node, name *node) {
		for i, v := range n.values {
			if n.kind == '{' {
				walk(v, n, n.names[i])
			} else {
				walk(v, n, nil)
			}
		}
		if n.kind != '"' || len(n.chars) <= s.MaxChars || spared(n, parent, name) || alreadyMasked(n, s) {
			return
		}
		out.WriteString(doc[done:n.start])
		out.WriteByte('"')
		for _, c := range n.chars[:s.HeadChars] {
			out.WriteString(c.raw)
		}
		out.WriteString(escape(fill(s, len(n.chars), id)))
		for _, c := range n.chars[len(n.chars)-s.TailChars:] {
			out.WriteString(c.raw)
		}
		out.WriteByte('"')
		done = n.end
		cuts++
	}
	walk(root, nil, nil)
	out.WriteString(doc[done:])
	return out.String(), cuts
}

// referenceTexts returns the expected result of TextCuts for a tool's result, and the number of
// cuts.
func referenceTexts(doc string, s mask.Settings, id string) (string, int) {
	p := reference{doc: doc}
	root := p.value()
	texts := map[*node]bool{}
	for _, content := range root.all("content") {
		if content.kind != '[' {
			continue
		}
		for _, block := range content.values {
			kinds := block.all("type")
			if len(kinds) == 0 {
				continue
			}
			switch kind := kinds[len(kinds)-1]; {
			case kind.says("text"):
				for _, text := range block.all("text") {
					texts[text] = true
				}
			case kind.says("resource"):
				for _, resource := range block.all("resource") {
					for _, text := range resource.all("text") {
						texts[text] = true
					}
				}
			}
		}
	}
	return cutReference(doc, root, s, id, func(n, _, _ *node) bool { return !texts[n] })
}

// all returns the values of an object's members of a name.
func (n *node) all(name string) (found []*node) {
	if n.kind != '{' {
		return nil
	}
	for i := range n.names {
		if n.names[i].says(name) {
			found = append(found, n.values[i])
		}
	}
	return found
}

// fill returns the marker's text.
func fill(s mask.Settings, chars int, id string) string {
	return strings.NewReplacer("{orig}", fmt.Sprint(chars), "{head}", fmt.Sprint(s.HeadChars), "{tail}", fmt.Sprint(s.TailChars), "{id}", id).Replace(s.Marker)
}

func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch i := strings.IndexRune("\"\\\b\f\n\r\t", r); {
		case i >= 0:
			b.WriteByte('\\')
			b.WriteByte(`"\bfnrt`[i])
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// exempt reports whether a member of an object is the content of media.
func exempt(object, name *node) bool {
	if name == nil || !name.says("blob") && !name.says("data") {
		return false
	}
	if name.says("blob") {
		return true
	}
	for i, n := range object.names {
		if n.says("mimeType") || n.says("type") && (object.values[i].says("image") || object.values[i].says("audio")) {
			return true
		}
	}
	return false
}

// alreadyMasked tries the marker at every place of a string.
func alreadyMasked(n *node, s mask.Settings) bool {
	text := []rune(n.text())
	for at := range text {
		for _, length := range matches(s.Marker, text[at:]) {
			if len(text) <= s.MaxChars+length {
				return true
			}
		}
	}
	return false
}

// matches returns the lengths at which a marker's template matches the start of a text.
func matches(template string, text []rune) []int {
	if template == "" {
		return []int{0}
	}
	for _, place := range []struct {
		word, chars string
		min, max    int
	}{
		{"{orig}", "0123456789", 1, 19},
		{"{head}", "0123456789", 1, 19},
		{"{tail}", "0123456789", 1, 19},
		{"{id}", "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-", 0, 64},
	} {
		rest, ok := strings.CutPrefix(template, place.word)
		if !ok {
			continue
		}
		var lengths []int
		for n := 0; n <= place.max && n <= len(text); n++ {
			if n > 0 && !strings.ContainsRune(place.chars, text[n-1]) {
				break
			}
			if n < place.min {
				continue
			}
			for _, length := range matches(rest, text[n:]) {
				lengths = append(lengths, n+length)
			}
		}
		return lengths
	}
	r, n := utf8.DecodeRuneInString(template)
	if len(text) == 0 || text[0] != r {
		return nil
	}
	lengths := matches(template[n:], text[1:])
	for i := range lengths {
		lengths[i]++
	}
	return lengths
}
