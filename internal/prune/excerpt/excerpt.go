package excerpt

import (
	"strings"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// Request is a text to shorten.
type Request struct {
	Text   string
	Goal   Goal
	Target int    // characters to shorten it to, about
	ID     string // of the original, which the first marker tells

	// Structured: the text is a JSON document and has to stay one that Schema accepts.
	Structured bool
	Schema     []byte // nil: any

	// Note is a sentence that the first marker adds. nil: none.
	Note func(prune.Mark) string
	// Expired is polled; once it says true the text passes whole. nil: never.
	Expired func() bool
}

const (
	// worthCutting is the share of a text that may be left at most: less saved is not worth a model's seeing a part.
	worthCutting = 0.9
	// maxDepth bounds the documents that are read as JSON.
	maxDepth = 200
	// maxRead is how many bytes of a text are read for its goal: reading takes several times its memory.
	maxRead = 4 << 20
)

// TargetOf is how many characters of a text are worth keeping where at least a target is asked for: it grows with the text, the less the
// longer that is. docs/pruning-quality.md has what that keeps.
func TargetOf(target, chars int) int {
	grown := min(halfUpTo/2+max(0, chars-halfUpTo)/10, chars/2)
	return max(target, min(grown, maxTarget))
}

const (
	halfUpTo  = 100_000 // characters of a text, of which half is kept
	maxTarget = 60_000  // clients refuse results that are much longer
)

// Cut shortens a text. It reports false where the text is to pass whole: too little would go, or time ran out.
func Cut(req Request) (string, bool) {
	if prune.IsBinary(req.Text) || prune.HasMark(req.Text) {
		return "", false
	}
	c := &cutter{req: req, goal: req.Goal}
	cut := c.cut
	switch {
	case req.Structured && len(req.Text) > maxRead:
		return "", false
	case req.Structured && req.Schema != nil:
		cut = c.cutStructured
	case len(req.Text) > maxRead:
		cut = c.cutEnds
	}
	out := cut(req.Text, req.Target)
	if c.expired() || float64(len(out)) > worthCutting*float64(len(req.Text)) {
		return "", false
	}
	return out, true
}

// cutter shortens one text.
type cutter struct {
	req  Request
	goal Goal
	told bool // a marker with the id is written
	cuts int
}

func (c *cutter) expired() bool { return c.req.Expired != nil && c.req.Expired() }

func (c *cutter) cut(text string, target int) string {
	if out, ok := c.cutJSON(text, target); ok {
		return out
	}
	if source, ok := engineSource(text); ok {
		return c.cutByEngine(text, source, target)
	}
	return c.cutUnits(text, target)
}

// cutJSON shortens a JSON document. It reports false for what is none.
func (c *cutter) cutJSON(text string, target int) (string, bool) {
	body := strings.TrimSpace(text)
	if len(body) < 2 || body[0] != '{' && body[0] != '[' {
		return "", false
	}
	long, err := rawjson.LongStrings([]byte(text), maxDepth, minInner)
	if err != nil {
		return "", false
	}
	if out, ok := c.cutStrings(text, long, target); ok {
		return out, true
	}
	return c.cutTree(readTree(body, c.goal.words()), target), true
}

// minInner is how many characters a string has at least that is shortened in itself.
const minInner = 1000

// cutStrings shortens the long strings of a document where they are most of it: files or pages that a server has wrapped. It reports
// false where they are not.
func (c *cutter) cutStrings(text string, long []rawjson.String, target int) (string, bool) {
	inside := 0
	for _, s := range long {
		inside += s.End - s.Start
	}
	if 10*inside <= 6*len(text) {
		return "", false
	}
	room := max(target-(len(text)-inside), target/2)
	var out []byte
	at := 0
	for _, s := range long {
		inner := rawjson.Unquote([]byte(text[s.Start:s.End]))
		out = append(out, text[at:s.Start]...)
		share := max(minInner, len(inner)*room/inside)
		if len(inner) > share {
			inner = c.cut(inner, share)
		}
		out = rawjson.AppendQuoted(out, inner)
		at = s.End
	}
	return string(append(out, text[at:]...)), true
}

// cutEnds keeps the beginning and the end of a text that is too long to be read.
func (c *cutter) cutEnds(text string, target int) string {
	from, to := min(target/2, len(text)), max(len(text)-target/2, target/2)
	for from > 0 && text[from]&0xc0 == 0x80 { // within a character
		from--
	}
	for to < len(text) && text[to]&0xc0 == 0x80 {
		to++
	}
	var b strings.Builder
	b.WriteString(text[:from])
	at := places{text: text}
	c.writeGap(&b, text[from:to], prune.Mark{Unit: prune.InChars, Start: at.chars(from), End: at.chars(to)})
	b.WriteString(text[to:])
	return b.String()
}
