package mask

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"secateur/internal/rawjson"
)

// A template is a parsed marker: texts and placeholders.
type template []part

type part struct {
	text  string // if place is ""
	place string // orig, head, tail, end, id or tool
}

// word matches a placeholder. Any other brace is text.
var word = regexp.MustCompile(`\{([A-Za-z_]+)\}`)

// parseMarker parses a marker. It refuses one that could become empty: head and tail would then
// touch and could combine into something else.
func parseMarker(marker string) (template, error) {
	if !utf8.ValidString(marker) {
		return nil, errors.New("is not valid UTF-8")
	}
	var (
		t     template
		errs  []error
		shows bool // not empty, even if {id} is
	)
	text := func(s string) {
		if s != "" {
			t = append(t, part{text: s})
			shows = true
		}
	}
	done := 0
	for _, at := range word.FindAllStringSubmatchIndex(marker, -1) {
		text(marker[done:at[0]])
		done = at[1]
		switch place := marker[at[2]:at[3]]; place {
		case "orig", "head", "tail", "end":
			shows = true
			t = append(t, part{place: place})
		case "id", "tool":
			t = append(t, part{place: place})
		default:
			errs = append(errs, fmt.Errorf("{%s} is unknown, there are {orig}, {head}, {tail}, {end}, {id} and {tool}", place))
		}
	}
	text(marker[done:])
	if marker == "" {
		errs = append(errs, errors.New("is empty"))
	} else if !shows && len(errs) == 0 {
		errs = append(errs, errors.New("has nothing but {id}"))
	}
	return t, errors.Join(errs...)
}

// A marker is what replaces a cut: pieces of JSON text, each followed by a placeholder's value.
type marker []piece

type piece struct {
	raw  []byte // JSON string content, without quotes
	then string // a placeholder, or "" at the end
}

// marker escapes the texts of a template.
func (t template) marker() marker {
	m := marker{{}}
	for _, p := range t {
		last := &m[len(m)-1]
		switch p.place {
		case "":
			last.raw = rawjson.AppendEscaped(last.raw, p.text)
		default:
			last.then = p.place
			m = append(m, piece{})
		}
	}
	return m
}

// size returns the maximum number of bytes appended, without id and tool.
func (m marker) size() (n int) {
	for i := range m {
		n += len(m[i].raw)
		n += numberLength
	}
	return n
}

func (m marker) append(dst []byte, c *Cut) []byte {
	for i := range m {
		dst = append(dst, m[i].raw...)
		switch m[i].then {
		case "orig":
			dst = strconv.AppendInt(dst, int64(c.Chars), 10)
		case "head":
			dst = strconv.AppendInt(dst, int64(c.Head), 10)
		case "tail":
			dst = strconv.AppendInt(dst, int64(c.Tail), 10)
		case "end":
			dst = strconv.AppendInt(dst, int64(c.Chars-c.Tail), 10)
		case "id":
			dst = rawjson.AppendEscaped(dst, c.ID)
		case "tool":
			dst = rawjson.AppendEscaped(dst, cmp.Or(c.Tool, RecoverCharsTool))
		}
	}
	return dst
}

// Possible contents of a marker's placeholders, also in markers of other programs.
const (
	numberLength  = 19
	numberPattern = `[0-9]{1,19}`
	idLength      = 64
	idPattern     = `[0-9A-Za-z_-]{0,64}`
	toolLength    = 128
	toolPattern   = `[0-9A-Za-z_.:-]{0,128}`
)

// pattern returns a pattern for the marker in a decoded string, with any contents. longest is the
// maximum number of characters it matches.
func (t template) pattern() (re *regexp.Regexp, longest int) {
	var b strings.Builder
	for _, p := range t {
		switch p.place {
		case "":
			b.WriteString(regexp.QuoteMeta(p.text))
			longest += utf8.RuneCountInString(p.text)
		case "id":
			b.WriteString(idPattern)
			longest += idLength
		case "tool":
			b.WriteString(toolPattern)
			longest += toolLength
		default:
			b.WriteString(numberPattern)
			longest += numberLength
		}
	}
	re = regexp.MustCompile(b.String())
	re.Longest()
	return re, longest
}
