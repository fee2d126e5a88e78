package prune

import (
	"strings"
)

// Form is how a text is written, if that says more than its source type: its parts, and which
// belong together.
type Form int

// The forms.
const (
	Plain  Form = iota
	JSON        // one document over several lines
	NDJSON      // one value a line
	Table       // CSV, TSV
	Diff        // unified
	YAML
	TOML    // and INI
	Markup  // XML
	Hits    // search results: file, line, text
	Listing // of directories
	OneLine // mostly one extremely long line: minified, packed
	HTML
)

var formNames = [...]string{"plain", "json", "ndjson", "table", "diff", "yaml", "toml", "markup", "hits", "listing", "one line", "html"}

// String returns the form's name.
func (f Form) String() string { return formNames[f] }

// source returns the kind of text that a form implies, if any.
func (f Form) source() (Source, bool) {
	switch f {
	case NDJSON, Table:
		return Logs, true
	case Plain, OneLine, Markup, HTML: // a page may be a document, or a template that is edited
		return 0, false
	}
	return Code, true
}

// FormOf returns how a text is written.
func FormOf(text string) Form {
	lines := IndexLines(text)
	return formOf(lines, findDecoration(lines, Code))
}

// hugeLine is the length from which a line is not read as one.
const hugeLine = 4096

// formOf looks at the first few hundred non-blank lines, without their decoration.
func formOf(lines Lines, deco decoration) Form {
	switch deco.kind {
	case diffPrefix:
		return Diff
	case hitPrefix:
		return Hits
	case numberPrefix:
		if hasFileHeads(lines, deco) {
			return Hits
		}
	}
	sample := make([]string, 0, sampled)
	for i := 1; i <= lines.Len() && len(sample) < sampled; i++ {
		if deco.frame != nil && deco.frame[i-1] {
			continue
		}
		line := trimLine(lines.Line(i))
		if deco.skip != nil {
			line = line[deco.skip[i-1]:]
		}
		if strings.TrimSpace(line) != "" {
			sample = append(sample, line)
		}
	}
	if len(sample) == 0 {
		return Plain
	}
	switch {
	case isNDJSON(sample):
		return NDJSON
	case isOneLine(lines):
		return OneLine
	case isJSON(sample):
		return JSON
	case isHTML(sample):
		return HTML
	case isMarkup(sample):
		return Markup
	case len(sample) < 3:
		return Plain
	case isListing(sample):
		return Listing
	case isTOML(sample):
		return TOML
	case isYAML(sample):
		return YAML
	case isTable(sample):
		return Table
	}
	return Plain
}

// hasFileHeads reports whether lines with file names come between the numbered ones, as rg writes
// them.
func hasFileHeads(lines Lines, deco decoration) bool {
	heads := 0
	for i := 1; i <= min(lines.Len(), 4*sampled); i++ {
		if line := strings.TrimSpace(lines.Line(i)); deco.skip[i-1] == 0 && line != "" {
			if !isPath(line) {
				return false
			}
			heads++
		}
	}
	return heads > 0
}

func isOneLine(lines Lines) bool {
	for i := 1; i <= min(lines.Len(), 40); i++ {
		if n := len(lines.Line(i)); n > hugeLine && 2*n > len(lines.text) {
			return true
		}
	}
	return false
}

func isNDJSON(sample []string) bool {
	return len(sample) >= 2 && mostly(sample, func(l string) bool {
		l = strings.TrimSpace(l)
		return len(l) > 8 && l[0] == '{' && l[len(l)-1] == '}' && strings.Contains(l, `":`)
	}, 80)
}

// isJSON requires a bracket first, and members or elements on most lines.
func isJSON(sample []string) bool {
	first := strings.TrimSpace(sample[0])
	if first[0] != '{' && first[0] != '[' || len(sample) < 3 {
		return false
	}
	quoted := false
	return mostly(sample, func(l string) bool {
		l = strings.TrimSpace(l)
		switch c := l[0]; c {
		case '"':
			quoted = true
			return true
		case '{', '}', '[', ']':
			return len(l) < 4 || strings.Contains(l, `"`)
		default:
			return c == '-' || classes[c] == digitClass || strings.HasPrefix(l, "true") || strings.HasPrefix(l, "false") || strings.HasPrefix(l, "null")
		}
	}, 95) && quoted
}

func isMarkup(sample []string) bool {
	first := strings.ToLower(strings.TrimSpace(sample[0]))
	if strings.HasPrefix(first, "<!doctype") || strings.HasPrefix(first, "<html") || strings.HasPrefix(first, "<?xml") {
		return true
	}
	return first[0] == '<' && len(sample) >= 3 && mostly(sample, func(l string) bool {
		l = strings.TrimSpace(l)
		return l[0] == '<' && len(l) > 2 && (classes[l[1]] == lowerClass || l[1] == '/' || l[1] == '!')
	}, 60)
}

// isHTML recognizes pages and parts of them, even after a comment.
func isHTML(sample []string) bool {
	sample = pastComment(sample)
	for _, line := range sample[:min(3, len(sample))] {
		line = strings.ToLower(strings.TrimLeft(line, "\ufeff \t"))
		if strings.HasPrefix(line, "<!doctype html") || strings.HasPrefix(line, "<html") {
			return true
		}
	}
	if len(sample) < 3 || strings.TrimSpace(sample[0])[0] != '<' {
		return false
	}
	first := strings.TrimSpace(sample[0])
	end := 1
	for end < len(first) && classes[first[end]] != sepClass {
		end++
	}
	return pageElements[strings.ToLower(first[1:end])] && mostly(sample, func(l string) bool {
		return strings.TrimSpace(l)[0] == '<' || strings.Contains(l, "</")
	}, 35)
}

// pastComment returns the lines after a page's opening comment.
func pastComment(sample []string) []string {
	if !strings.HasPrefix(strings.TrimLeft(sample[0], "\ufeff \t"), "<!--") {
		return sample
	}
	for i, line := range sample {
		if strings.Contains(line, "-->") {
			return sample[i+1:]
		}
	}
	return nil
}

// pageElements are elements that a part of a page begins with.
var pageElements = wordsOf("div p ul ol dl table section article main h1 h2 h3 h4 h5 h6 head body span a form header footer nav meta title link script style")

// isListing recognizes ls -l, tree, find and ls -R.
func isListing(sample []string) bool {
	return mostly(sample, func(l string) bool {
		if len(l) > 10 && strings.IndexByte("-dlbcps", l[0]) >= 0 && strings.Trim(l[1:10], "rwxsStT-") == "" {
			return true
		}
		if strings.Contains(l, "├── ") || strings.Contains(l, "└── ") {
			return true
		}
		return strings.HasPrefix(l, "total ") || isPath(l)
	}, 85)
}

// isPath reports whether a line is a name with a slash, or the head of a directory listing.
func isPath(line string) bool {
	line = strings.TrimSuffix(strings.TrimSpace(line), ":")
	slash := false
	for i := range len(line) {
		switch line[i] {
		case '/':
			slash = true
		case ' ', '(', ')', '{', ';', '=', '"', '<', '*', ',':
			return false
		}
	}
	return slash && len(line) < 400 && !strings.HasPrefix(line, "//") && !strings.Contains(line, "://")
}

// isTOML requires a section, and keys with values on most lines.
func isTOML(sample []string) bool {
	sections, keys, other := 0, 0, 0
	open := false
	for _, l := range sample {
		l = strings.TrimSpace(l)
		switch {
		case l[0] == '#' || l[0] == ';' && !open:
		case l[0] == '[' && l[len(l)-1] == ']' && !strings.ContainsAny(l, "(){}=,"):
			sections++
			open = false
		case isKey(l, '='):
			keys++
			open = strings.HasSuffix(l, "[") || strings.HasSuffix(l, `"""`) || strings.HasSuffix(l, "{")
		case open:
		default:
			other++
		}
	}
	return sections > 0 && keys > 0 && 10*other <= sections+keys
}

// isKey reports whether a line is a name, sign and a value.
func isKey(line string, sign byte) bool {
	i := strings.IndexByte(line, sign)
	if i <= 0 || i > 80 || line[len(line)-1] == ';' {
		return false
	}
	name := strings.TrimSpace(line[:i])
	if len(name) > 1 && (name[0] == '"' || name[0] == '\'') {
		return name[len(name)-1] == name[0]
	}
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./$@*") == ""
}

// isYAML requires keys and items on most lines, and some that enclose others.
func isYAML(sample []string) bool {
	keys, opens, other := 0, 0, 0
	last, scalar := 0, -1
	for _, l := range sample {
		body := strings.TrimLeft(l, " ")
		in := len(l) - len(body)
		if body[0] == '\t' {
			return false
		}
		if scalar >= 0 && in > scalar {
			continue
		}
		scalar = -1
		if body[0] == '#' || body == "---" || body == "..." {
			continue
		}
		item := strings.HasPrefix(body, "- ") || body == "-"
		body = strings.TrimLeft(strings.TrimPrefix(body, "-"), " ")
		colon := isKey(body, ':') && (strings.Contains(body, ": ") || strings.HasSuffix(body, ":"))
		switch {
		case colon:
			keys++
			if strings.HasSuffix(body, ":") {
				opens++
			}
			if strings.HasSuffix(body, "|") || strings.HasSuffix(body, ">") || strings.HasSuffix(body, "|-") || strings.HasSuffix(body, ">-") {
				scalar = in
			}
		case item || in > last:
		default:
			other++
		}
		last = in
	}
	return keys >= 3 && opens > 0 && 2*keys >= len(sample)/2 && 12*other <= len(sample)
}

// isTable requires the same number of separators on nearly all lines.
func isTable(sample []string) bool {
	for _, sep := range []byte{'\t', ',', ';', '|'} {
		want := separators(sample[0], sep)
		if want == 0 || want < 2 && sep != '\t' || len(sample) < 4 {
			continue
		}
		if mostly(sample, func(l string) bool {
			last := l[len(l)-1]
			return separators(l, sep) == want && last != '{' && last != ')' && l[0] != ' ' && l[0] != '\t'
		}, 90) {
			return true
		}
	}
	return false
}

// separators counts a sign outside of double quotes.
func separators(line string, sep byte) (n int) {
	quoted := false
	for i := range len(line) {
		switch line[i] {
		case '"':
			quoted = !quoted
		case sep:
			if !quoted {
				n++
			}
		}
	}
	return n
}
