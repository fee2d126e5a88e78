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

	fields   map[string]bool
	patterns []*regexp.Regexp
}

func newRedaction(name string, r Rule) (*Redaction, error) {
	d := &Redaction{
		Rule: name, Arguments: len(r.In) == 0 || slices.Contains(r.In, InArguments), Results: len(r.In) == 0 || slices.Contains(r.In, InResults),
		fields: map[string]bool{},
	}
	for _, f := range r.Fields {
		d.fields[f] = true
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
// there is nothing to replace; everything else keeps its bytes. A text that is a JSON document itself, as tool results often are,
// is looked into.
func Redact(doc []byte, list []*Redaction, where string) []byte {
	r := redactor{list: in(list, where)}
	if len(r.list) == 0 {
		return doc
	}
	return r.document(doc, 0)
}

// RedactText is Redact for a text.
func RedactText(text string, list []*Redaction, where string) string {
	r := redactor{list: in(list, where)}
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

// innerDocuments bounds how often a text within a text is looked into.
const innerDocuments = 4

// redactor copies a document with the replacements made. In well-formed JSON a string is a member's name exactly if a colon follows.
type redactor struct {
	list []*Redaction
}

func (r redactor) document(doc []byte, inner int) []byte {
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
func (r redactor) takes(rawName []byte) bool {
	name := ""
	for _, d := range r.list {
		if len(d.fields) == 0 {
			continue
		}
		if name == "" {
			name = rawjson.Unquote(rawName)
		}
		if d.fields[name] {
			return true
		}
	}
	return false
}

// name is a member's name with what patterns match replaced.
func (r redactor) name(raw []byte) (string, bool) {
	if bytes.IndexByte(raw, '\\') < 0 && !r.matches(raw[1:len(raw)-1]) {
		return "", false
	}
	name := rawjson.Unquote(raw)
	out := r.withoutMatches(name)
	return out, out != name
}

// text is a string value with the replacements made.
func (r redactor) text(raw []byte, inner int) (string, bool) {
	hasFields := slices.ContainsFunc(r.list, func(d *Redaction) bool { return len(d.fields) > 0 })
	escaped := bytes.IndexByte(raw, '\\') >= 0
	if !hasFields && !escaped && !r.matches(raw[1:len(raw)-1]) {
		return "", false
	}
	return r.plain(rawjson.Unquote(raw), inner)
}

// plain is a text with the replacements made.
func (r redactor) plain(text string, inner int) (string, bool) {
	was := text
	if inner < innerDocuments && isDocument(text) {
		text = string(r.document([]byte(text), inner+1))
	}
	text = r.withoutMatches(text)
	return text, text != was
}

// withoutMatches is a text with what patterns match replaced.
func (r redactor) withoutMatches(text string) string {
	for _, d := range r.list {
		for _, re := range d.patterns {
			text = re.ReplaceAllLiteralString(text, Redacted)
		}
	}
	return text
}

func (r redactor) matches(text []byte) bool {
	return slices.ContainsFunc(r.list, func(d *Redaction) bool {
		return slices.ContainsFunc(d.patterns, func(re *regexp.Regexp) bool { return re.Match(text) })
	})
}

// isDocument reports whether a text is a JSON object or array.
func isDocument(text string) bool {
	const maxDepth = 512
	text = strings.TrimLeft(text, " \t\r\n")
	return text != "" && (text[0] == '{' || text[0] == '[') && rawjson.Check([]byte(text), maxDepth) == nil
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
