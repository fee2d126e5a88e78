package access

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"secateur/internal/rawjson"
)

// Redacted stands where something was taken out by a rule.
const Redacted = "[redacted]"

// Redaction says what is replaced in what passes.
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

// Redact replaces in doc, a well-formed JSON document, what the redactions for arguments or for results name. It returns doc itself if
// there is nothing to replace; everything else keeps its bytes. Members are also found in texts, as redacttext.go says. The case of their
// names does not count.
func Redact(doc []byte, list []*Redaction, where string) []byte {
	r := newRedactor(list, where, len(doc))
	if len(r.list) == 0 {
		return doc
	}
	return r.document(doc, 0)
}

// RedactMembers is Redact for an object of which some members stay as they are.
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

// RedactText is Redact for a text.
func RedactText(text string, list []*Redaction, where string) string {
	r := newRedactor(list, where, len(text))
	if len(r.list) == 0 {
		return text
	}
	out, _ := r.plain(text, 0)
	return out
}

// in are the redactions for a place.
func in(list []*Redaction, where string) (here []*Redaction) {
	for _, d := range list {
		if where == InArguments && d.Arguments || where == InResults && d.Results {
			here = append(here, d)
		}
	}
	return here
}

// innerDocuments bounds how often a text within a text is read as JSON, and maxDepth how deep that may be.
const (
	innerDocuments = 4
	maxDepth       = 512
)

// redactor copies a document with the replacements made. In well-formed JSON a string is a member's name exactly if a colon follows.
type redactor struct {
	list  []*Redaction
	names []string  // of fields
	first [256]bool // the bytes that these begin with
	tries *int      // how many bytes may still be read in search of values that turn out to be none
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

// takes reports whether the values of members of this name go.
func (r *redactor) takes(rawName []byte) bool {
	if len(r.names) == 0 {
		return false
	}
	name := strings.ToLower(rawjson.Unquote(rawName))
	return slices.ContainsFunc(r.list, func(d *Redaction) bool { return d.fields[name] })
}

// name is a member's name with what patterns match replaced.
func (r *redactor) name(raw []byte) (string, bool) {
	if bytes.IndexByte(raw, '\\') < 0 && !r.matches(raw[1:len(raw)-1]) {
		return "", false
	}
	name := rawjson.Unquote(raw)
	out := r.withoutMatches(name)
	return out, out != name
}

// text is a string value with the replacements made.
func (r *redactor) text(raw []byte, inner int) (string, bool) {
	escaped := bytes.IndexByte(raw, '\\') >= 0
	if len(r.names) == 0 && !escaped && !r.matches(raw[1:len(raw)-1]) {
		return "", false
	}
	return r.plain(rawjson.Unquote(raw), inner)
}

// plain is a text with the replacements made.
func (r *redactor) plain(text string, inner int) (string, bool) {
	was := text
	text = r.withoutMatches(r.membersIn(text, inner))
	return text, text != was
}

// withoutMatches is a text with what patterns match replaced.
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

// valueEnd is the offset just past the value at p of a well-formed document.
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
