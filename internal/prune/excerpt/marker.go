package excerpt

import (
	"strings"

	"secateur/internal/llm/bpe"
	"secateur/internal/prune"
)

// writeGap writes the marker of a part that is cut, or the part itself where the marker has as many tokens.
func (c *cutter) writeGap(b *strings.Builder, gap string, m prune.Mark) {
	marker := c.mark(m)
	if strings.HasSuffix(gap, "\n") {
		marker += "\n"
	}
	if !c.saves(gap, marker) {
		b.WriteString(gap)
		return
	}
	b.WriteString(marker)
	c.told, c.cuts = true, c.cuts+1
}

// mark is a marker. The first that is written tells the id and how to get more.
func (c *cutter) mark(m prune.Mark) string {
	if !c.told {
		m.ID = c.req.ID
		if c.req.Note != nil {
			m.Note = c.req.Note(m)
		}
	}
	return m.String()
}

// saves says whether a part has more tokens than its marker. The first marker of a text is compared without its note: it is for all.
func (c *cutter) saves(gap, marker string) bool {
	if len(gap) <= len(marker)/2 {
		return false
	}
	const surely = 64 // bytes that few tokens have
	cost := bpe.Count(marker)
	return len(gap) > surely*cost || bpe.Count(gap) > cost
}

// places says where the parts of a text are, as recoveries count it.
type places struct {
	text        string
	view        prune.View
	bytes, char int // how far characters are counted
}

func newPlaces(text string) *places {
	return &places{text: text, view: prune.ViewOf(prune.IndexLines(text))}
}

// mark is of the bytes from start to end, which lines hold: whole lines by their numbers, all else by characters. Calls come in order.
func (p *places) mark(start, end int, lines prune.Span) prune.Mark {
	isWhole := (start == 0 || p.text[start-1] == '\n') && (end == len(p.text) || p.text[end-1] == '\n')
	if shown, ok := p.view.Shown(lines); ok && isWhole {
		return prune.Mark{Unit: prune.InLines, Start: shown.Start, End: shown.End}
	}
	return prune.Mark{Unit: prune.InChars, Start: p.chars(start), End: p.chars(end)}
}

// chars is the number of characters before an offset.
func (p *places) chars(offset int) int {
	for ; p.bytes < offset; p.bytes++ {
		if p.text[p.bytes]&0xc0 != 0x80 {
			p.char++
		}
	}
	return p.char
}
