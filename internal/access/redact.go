package access

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"secateur/internal/rawjson"
)

// Redacted replaces redacted text.
const Redacted = "[redacted]"

// Redaction says what to replace, and where.
type Redaction struct {
	Rule      string
	Arguments bool
	Results   bool

	fields   map[string]bool // in lower case
	patterns []*regexp.Regexp
}

func newRedaction(name string, r Rule) (*Redaction, error) {
	d := &Redaction{
		Rule: name, Arguments: len(r.In) == 0 || slices.Contains(r.In, InArguments), Results: len(r.In) == 0 || slices.Contains(r.In, InResults),
		fields: map[string]bool{},
	}
	for _, f := range r.Fields {
		d.fields[strings.ToLower(f)] = true
	}
	for _, p := range r.Patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, err
		}
		d.patterns = append(d.patterns, re)
	}
	return d, nil
}

// Redact applies the redactions for arguments or results to doc, a well-formed JSON document. It
// returns doc itself if nothing matches; all other bytes stay. It also finds members inside texts,
// as redacttext.go says. The case of member names does not matter.
func Redact(doc []byte, list []*Redaction, where string) []byte {
	r := newRedactor(list, where, len(doc))
	if len(r.list) == 0 {
		return doc
	}
	return r.document(doc, 0)
}

// RedactMembers is Redact for an object, some of whose members stay unchanged.
func RedactMembers(doc []byte, list []*Redaction, where string, stays func(name string) bool) []byte {
	r := newRedactor(list, where, len(doc))
	c := rawjson.NewCursor(doc)
	if len(r.list) == 0 || c.Peek() != '{' {
		return doc
	}
	var edits []rawjson.Edit
	for c.Enter(); !c.Done(); {
		name, value := c.Value(), c.Value()
		if stays(rawjson.Unquote(name.Of(doc))) {
			continue
		}
		if now, changed := r.name(name.Of(doc)); changed {
			edits = append(edits, rawjson.Edit{Span: name, New: rawjson.AppendQuoted(nil, now)})
		}
		if r.takes(name.Of(doc)) {
			edits = append(edits, rawjson.Edit{Span: value, New: rawjson.AppendQuoted(nil, Redacted)})
		} else if now := r.document(value.Of(doc), 0); !bytes.Equal(now, value.Of(doc)) {
			edits = append(edits, rawjson.Edit{Span: value, New: now})
		}
	}
	return rawjson.Edited(doc, edits)
}

// RedactText is Redact for a plain text.
func RedactText(text string, list []*Redaction, where string) string {
	r := newRedactor(list, where, len(text))
	if len(r.list) == 0 {
		return text
	}
	out, _ := r.plain(text, 0)
	return out
}

// in returns the redactions for arguments or for results.
func in(list []*Redaction, where string) (here []*Redaction) {
	for _, d := range list {
		if where == InArguments && d.Arguments || where == InResults && d.Results {
			here = append(here, d)
		}
	}
	return here
}

// innerDocuments limits how many levels of texts within texts are read as JSON; maxDepth limits
// their nesting.
const (
	innerDocuments = 4
	maxDepth       = 512
)

// redactor copies a document and replaces the redacted parts. In well-formed JSON, a string is a
// member name exactly if a colon follows.
type redactor struct {
	list  []*Redaction
	names []string  // field names
	first [256]bool // first bytes of these names
	tries *int      // bytes left to read in failed attempts to parse a value
}

func newRedactor(list []*Redaction, where string, size int) *redactor {
	tries := 4*size + 64<<10
	r := &redactor{list: in(list, where), tries: &tries}
	for _, d := range r.list {
		for name := range d.fields {
			r.names = append(r.names, name)
			r.first[name[0]] = true
			r.first[strings.ToUpper(name)[0]] = true
		}
	}
	return r
}

func (r *redactor) document(doc []byte, inner int) []byte {
	var out []byte // nil: nothing replaced so far
	done := 0
	replace := func(from, to int, with string) {
		out = append(out, doc[done:from]...)
		out = rawjson.AppendQuoted(out, with)
		done = to
	}
	for p := 0; p < len(doc); {
		if doc[p] != '"' {
			p++
			continue
		}
		end := rawjson.StringEnd(doc, p)
		raw := doc[p:end]
		colon := skipSpace(doc, end)
		if colon < len(doc) && doc[colon] == ':' {
			if name, changed := r.name(raw); changed {
				replace(p, end, name)
			}
			p = skipSpace(doc, colon+1)
			if r.takes(raw) {
				stop := valueEnd(doc, p)
				replace(p, stop, Redacted)
				p = stop
			}
			continue
		}
		if text, changed := r.text(raw, inner); changed {
			replace(p, end, text)
		}
		p = end
	}
	if out == nil {
		return doc
	}
	return append(out, doc[done:]...)
}

// takes reports whether members of this name lose their value.
func (r *redactor) takes(rawName []byte) bool {
	if len(r.names) == 0 {
		return false
	}
	name := strings.ToLower(rawjson.Unquote(rawName))
	return slices.ContainsFunc(r.list, func(d *Redaction) bool { return d.fields[name] })
}

// name replaces pattern matches in a member name.
func (r *redactor) name(raw []byte) (string, bool) {
	if bytes.IndexByte(raw, '\\') < 0 && !r.matches(raw[1:len(raw)-1]) {
		return "", false
	}
	name := rawjson.Unquote(raw)
	out := r.withoutMatches(name)
	return out, out != name
}

// text makes the replacements in a JSON string.
func (r *redactor) text(raw []byte, inner int) (string, bool) {
	escaped := bytes.IndexByte(raw, '\\') >= 0
	if len(r.names) == 0 && !escaped && !r.matches(raw[1:len(raw)-1]) {
		return "", false
	}
	return r.plain(rawjson.Unquote(raw), inner)
}

// plain makes the replacements in an unquoted text.
func (r *redactor) plain(text string, inner int) (string, bool) {
	was := text
	text = r.withoutMatches(r.membersIn(text, inner))
	return text, text != was
}

// withoutMatches replaces pattern matches in a text.
func (r *redactor) withoutMatches(text string) string {
	for _, d := range r.list {
		for _, re := range d.patterns {
			text = re.ReplaceAllLiteralString(text, Redacted)
		}
	}
	return text
}

func (r *redactor) matches(text []byte) bool {
	return slices.ContainsFunc(r.list, func(d *Redaction) bool {
		return slices.ContainsFunc(d.patterns, func(re *regexp.Regexp) bool { return re.Match(text) })
	})
}

// valueEnd returns the offset just past the value at p of a well-formed document.
func valueEnd(doc []byte, p int) int {
	depth := 0
	for p < len(doc) {
		switch c := doc[p]; c {
		case '"':
			p = rawjson.StringEnd(doc, p)
		case '{', '[':
			depth++
			p++
			continue
		case '}', ']':
			depth--
			p++
		case ',', ':', ' ', '\t', '\r', '\n':
			p++
			continue
		default:
			for p < len(doc) && !strings.ContainsRune(",]} \t\r\n", rune(doc[p])) {
				p++
			}
		}
		if depth == 0 {
			return p
		}
	}
	return p
}

func skipSpace(doc []byte, p int) int {
	for p < len(doc) && (doc[p] == ' ' || doc[p] == '\t' || doc[p] == '\n' || doc[p] == '\r') {
		p++
	}
	return p
}
