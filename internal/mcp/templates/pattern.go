package templates

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// pattern extracts the variables of a URI template from a URI (RFC 6570). {var} matches one path
// segment, {+var} anything.
type pattern struct {
	names []string // of the variables, in order; duplicates are possible
	form  *regexp.Regexp
}

const (
	maxVariables = 16
	maxURI       = 2048 // bytes of a template, and of a requested URI
)

var (
	hasScheme    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:.`)
	isExpression = regexp.MustCompile(`^(\+?)([A-Za-z0-9_]+)$`)
)

// readPattern parses a URI template.
func readPattern(template string) (*pattern, error) {
	switch {
	case len(template) > maxURI:
		return nil, fmt.Errorf("has more than %d bytes", maxURI)
	case !hasScheme.MatchString(template):
		return nil, errors.New("begins with no scheme, as in note://{topic}")
	case strings.ContainsFunc(template, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, errors.New("has a space or a control character")
	}
	p := &pattern{}
	form := strings.Builder{}
	form.WriteString(`^`)
	for rest := template; rest != ""; {
		literal, more, open := strings.Cut(rest, "{")
		if strings.Contains(literal, "}") {
			return nil, errors.New("has a } without its {")
		}
		form.WriteString(regexp.QuoteMeta(literal))
		if !open {
			break
		}
		inside, after, closed := strings.Cut(more, "}")
		found := isExpression.FindStringSubmatch(inside)
		if !closed || found == nil {
			return nil, fmt.Errorf("has {%s, and only {var} and {+var} are understood", clip(more))
		}
		if p.names = append(p.names, found[2]); len(p.names) > maxVariables {
			return nil, fmt.Errorf("has more than %d variables", maxVariables)
		}
		if found[1] == "+" {
			form.WriteString(`(.+)`)
		} else {
			form.WriteString(`([^/?#]+)`)
		}
		rest = after
	}
	form.WriteString(`$`)
	var err error
	p.form, err = regexp.Compile(form.String())
	return p, err
}

func clip(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// match returns the variables of a URI, with percent escapes decoded.
func (p *pattern) match(uri string) (values map[string]string, ok bool) {
	if len(uri) > maxURI {
		return nil, false
	}
	found := p.form.FindStringSubmatch(uri)
	if found == nil {
		return nil, false
	}
	values = map[string]string{}
	for i, name := range p.names {
		value := found[i+1]
		if plain, err := url.PathUnescape(value); err == nil {
			value = strings.ToValidUTF8(plain, "\uFFFD")
		}
		if before, twice := values[name]; twice && before != value {
			return nil, false
		}
		values[name] = value
	}
	return values, true
}

// fill replaces each {var} in a text with its variable; other braces stay. It fails if the result
// would exceed most bytes.
func fill(text string, values map[string]string, most int) (string, bool) {
	var out strings.Builder
	for rest := text; ; {
		literal, more, open := strings.Cut(rest, "{")
		out.WriteString(literal)
		if out.Len() > most {
			return "", false
		}
		if !open {
			return out.String(), true
		}
		name, after, closed := strings.Cut(more, "}")
		value, known := values[name]
		if !closed || !known {
			out.WriteByte('{')
			rest = more
			continue
		}
		out.WriteString(value)
		rest = after
	}
}
