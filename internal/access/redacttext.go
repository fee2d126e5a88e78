package access

import (
	"bytes"
	"errors"
	"strings"

	"secateur/internal/rawjson"
)

// Texts contain members too: JSON behind a word, in lines, in code blocks, quoted once or several
// times; Python and JavaScript literals, YAML, XML, URI queries. Well-formed JSON is parsed.
// Elsewhere a name is judged by its neighbours. If the end of a value is unclear, more is redacted
// rather than less.

// membersIn makes the replacements in the members that a text contains.
func (r *redactor) membersIn(text string, inner int) string {
	if !r.mayName(text) {
		return text
	}
	var out []byte // nil: nothing replaced so far
	done := 0
	replace := func(from, to int, with string) {
		out = append(out, text[done:from]...)
		out = append(out, with...)
		done = to
	}
	raw := []byte(text)
	for i := 0; i < len(text); {
		if end := r.valueAt(raw, i, inner); end > 0 {
			if now := r.value(raw[i:end], inner+1); !bytes.Equal(now, raw[i:end]) {
				replace(i, end, string(now))
			}
			i = end
			continue
		}
		n := r.nameAt(text, i)
		if n == 0 {
			i++
			continue
		}
		from, to, with := looseValue(text, i, i+n)
		i += n
		if from < to && text[from:to] != with {
			replace(from, to, with)
			i = to
		}
	}
	if out == nil {
		return text
	}
	return string(append(out, text[done:]...))
}

// value makes the replacements in an object, an array or a string.
func (r *redactor) value(raw []byte, inner int) []byte {
	if raw[0] != '"' {
		return r.document(raw, inner)
	}
	if text, changed := r.plain(rawjson.Unquote(raw), inner); changed {
		return rawjson.AppendQuoted(nil, text)
	}
	return raw
}

// valueAt returns the end of the well-formed object, array or escaped string at an offset, or 0. A
// value may begin at every byte, so the bytes read in failed attempts are limited.
func (r *redactor) valueAt(text []byte, at, inner int) int {
	if c := text[at]; c != '{' && c != '[' && c != '"' || inner >= innerDocuments || *r.tries <= 0 {
		return 0
	}
	s := rawjson.NewScanner(text[at:], maxDepth)
	value, err := s.Skip()
	if err != nil {
		*r.tries--
		if bad, ok := errors.AsType[*rawjson.SyntaxError](err); ok {
			*r.tries -= bad.Offset
		}
		return 0
	}
	if text[at] == '"' && bytes.IndexByte(value, '\\') < 0 { // no escapes: handled in place
		return 0
	}
	return at + len(value)
}

// mayName reports whether a text may contain a field name.
func (r *redactor) mayName(text string) bool {
	if strings.IndexByte(text, '\\') >= 0 { // an escape may hide one
		return true
	}
	for i := range len(text) {
		if r.first[text[i]] && r.nameAt(text, i) > 0 {
			return true
		}
	}
	return false
}

// nameAt returns the length of the longest field name that is the word at an offset, or 0.
func (r *redactor) nameAt(text string, at int) (length int) {
	if !r.first[text[at]] || at > 0 && isWord(text[at-1]) || at > 1 && text[at-1] == '-' && isWord(text[at-2]) {
		return 0
	}
	for _, name := range r.names {
		end := at + len(name)
		if end <= len(text) && len(name) > length && (end == len(text) || !isWord(text[end])) && strings.EqualFold(text[at:end], name) {
			length = len(name)
		}
	}
	return length
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

// looseValue returns the position of the value that belongs to a name in a text, and its
// replacement. The position is empty if the name is not a member name.
func looseValue(text string, name, end int) (from, to int, with string) {
	if quote := quoteBefore(text, name); quote != "" {
		if !strings.HasPrefix(text[end:], quote) {
			return 0, 0, ""
		}
		p, ok := assigned(text, skipBlank(text, end+len(quote)))
		if !ok {
			return 0, 0, ""
		}
		return delimited(text, skipBlank(text, p), quote, ",]}\r\n")
	}
	rest := text[end:]
	switch {
	case rest == "":
	case rest[0] == '=' && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=>"):
		return delimited(text, end+1, "", " \t\r\n\"'`&#<>)]}\\")
	case rest[0] == '>' && name > 0 && text[name-1] == '<':
		if n := strings.IndexByte(rest, '<'); n > 0 {
			return end + 1, end + n, Redacted
		}
		return end + 1, len(text), Redacted
	case rest[0] == ':' && !strings.HasPrefix(rest, "::") && !strings.HasPrefix(rest, ":/"):
		p := end + 1
		for p < len(text) && (text[p] == ' ' || text[p] == '\t') {
			p++
		}
		switch indent, start := lineStart(text, name); start {
		case '\n':
			return lineValue(text, p, indent)
		case '{', ',':
			return delimited(text, p, "", ",]}\r\n")
		}
	}
	return 0, 0, ""
}

// quoteBefore returns the quote that ends at an offset, with its backslashes, or "".
func quoteBefore(text string, at int) string {
	if at == 0 || !isQuote(text[at-1]) {
		return ""
	}
	return text[at-1-backslashes(text, 0, at-1) : at]
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// backslashes counts the backslashes right before an offset.
func backslashes(text string, from, at int) (n int) {
	for at-n > from && text[at-n-1] == '\\' {
		n++
	}
	return n
}

// assigned returns the offset after the assignment sign.
func assigned(text string, p int) (int, bool) {
	switch rest := text[p:]; {
	case strings.HasPrefix(rest, "=="):
		return 0, false
	case strings.HasPrefix(rest, "=>"):
		return p + 2, true
	case strings.HasPrefix(rest, ":"), strings.HasPrefix(rest, "="):
		return p + 1, true
	}
	return 0, false
}

// skipBlank returns the offset after white space, escaped or not.
func skipBlank(text string, p int) int {
	for p < len(text) {
		n := 0
		for p+n < len(text)-1 && text[p+n] == '\\' {
			n++
		}
		switch c := text[p+n]; {
		case n == 0 && (c == ' ' || c == '\t' || c == '\r' || c == '\n'), n > 0 && (c == 'n' || c == 'r' || c == 't'):
			p += n + 1
		default:
			return p
		}
	}
	return p
}

// delimited returns the position of the value at an offset, and its replacement. The value is a
// quoted text, an object, an array, or everything before a stop character. An unquoted value is
// replaced by a text in these quotes.
func delimited(text string, p int, quote, stops string) (from, to int, with string) {
	with = quote + Redacted + quote
	open := p
	if quote != "" {
		open += pythonPrefix(text[p:])
	}
	first := open
	for open < len(text) && text[open] == '\\' {
		open++
	}
	switch {
	case p >= len(text):
		return 0, 0, ""
	case open < len(text) && isQuote(text[open]):
		return open + 1, quoteEnd(text, open+1, open-first, text[open]), Redacted
	case text[p] == '{' || text[p] == '[':
		return p, containerEnd(text, p), with
	}
	for to = p; to < len(text) && strings.IndexByte(stops, text[to]) < 0; to++ {
		if quote != "" && text[to] == quote[len(quote)-1] {
			to -= backslashes(text, p, to)
			break
		}
	}
	for to > p && text[to-1] == ' ' {
		to--
	}
	return p, to, with
}

// pythonPrefix returns the length of the letters before a quote, as in b'...'.
func pythonPrefix(text string) int {
	rest := strings.TrimLeft(text[:min(len(text), 2)], "bBfFrRuU")
	if n := min(len(text), 2) - len(rest); n < len(text) && isQuote(text[n]) {
		return n
	}
	return 0
}

// quoteEnd returns the offset of the closing quote of a text, or the end of the input. run is the
// number of backslashes before the opening quote. A nested quote has more backslashes, an enclosing
// one fewer.
func quoteEnd(text string, from, run int, quote byte) int {
	for p := from; p < len(text); p++ {
		if text[p] != quote {
			continue
		}
		switch n := backslashes(text, from, p); {
		case n < run:
			return p - n
		case (n-run)%(2*(run+1)) == 0:
			return p - run
		}
	}
	return len(text)
}

// containerEnd returns the offset after the object or array at an offset.
func containerEnd(text string, p int) int {
	depth := 0
	for p < len(text) {
		switch c := text[p]; {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return p + 1
			}
		case c == '"' || c == '\'' && !isWord(text[p-1]):
			p = max(p, quoteEnd(text, p+1, backslashes(text, 0, p), c))
			for p < len(text) && text[p] == '\\' {
				p++
			}
		}
		p++
	}
	return len(text)
}

// lineStart returns the byte before a name, or '\n' and the name's column at the start of a line.
func lineStart(text string, name int) (column int, before byte) {
	p := name
	for p > 0 && (text[p-1] == ' ' || text[p-1] == '\t' || text[p-1] == '-') {
		p--
	}
	if p == 0 || text[p-1] == '\n' || text[p-1] == '\r' {
		return name - p, '\n'
	}
	return 0, text[p-1]
}

// lineValue returns the rest of a line. If it holds only a YAML block marker, the value is the
// deeper indented lines below.
func lineValue(text string, p, indent int) (from, to int, with string) {
	to = p + len(line(text[p:]))
	if strings.Trim(text[p:to], "|>+-0123456789 \r") != "" {
		if c := text[p]; c == '"' || c == '\'' || c == '{' || c == '[' {
			return delimited(text, p, "", "\r\n")
		}
		to = p + len(strings.TrimRight(text[p:to], " \r"))
		return p, to, Redacted
	}
	block := to
	for next := to + 1; next < len(text); {
		l := line(text[next:])
		switch trimmed := strings.TrimLeft(l, " \t"); {
		case strings.TrimSpace(l) == "":
		case len(l)-len(trimmed) <= indent:
			next = len(text)
			continue
		default:
			block = next + len(l)
		}
		next += len(l) + 1
	}
	switch {
	case block > to && text[p-1] == ':':
		return p, block, " " + Redacted
	case block > to:
		return p, block, Redacted
	}
	return p, p + len(strings.TrimRight(text[p:to], " \r")), Redacted
}

// line returns the first line of a text.
func line(text string) string {
	l, _, _ := strings.Cut(text, "\n")
	return l
}
