package excerpt

import (
	"strings"

	"secateur/internal/prune"
)

// engineSource says whether the lines of a text are for package prune to choose, and what kind of text it is.
func engineSource(text string) (prune.Source, bool) {
	switch prune.FormOf(text) {
	case prune.Diff, prune.Hits:
		return prune.Code, true
	case prune.HTML:
		return prune.Docs, true
	case prune.Plain:
		source := prune.Guess("", text)
		return source, source != prune.Docs
	}
	return 0, false
}

// maxTries bounds the search for a ratio that meets the target.
const maxTries = 5

// cutByEngine takes out the lines that the goal needs least.
func (c *cutter) cutByEngine(text string, source prune.Source, target int) string {
	reading := prune.Read(prune.Request{
		Text: text, Goal: c.goal.Text(), Parts: c.goal.parts(), Source: source, Structure: prune.Enclosing, Fill: true, Names: true,
		Marker: func(b prune.Block) string {
			return prune.Mark{Unit: prune.InLines, Start: b.Start, End: b.End}.String()
		},
		Expired: c.req.Expired,
	})
	lines := prune.IndexLines(text)
	keep := float64(target) / float64(len(text))
	var blocks []prune.Block
	for range maxTries {
		plan := reading.Plan(1 - keep)
		if len(plan.Blocks) == 0 {
			break
		}
		blocks = plan.Blocks
		size := len(text)
		for _, b := range blocks {
			size -= len(lines.Range(b.Start, b.End)) - gapCost
		}
		if size <= target || keep < leastKept {
			break
		}
		keep *= .95 * float64(target) / float64(size)
	}
	var b strings.Builder
	at, next := newPlaces(text), 1
	written := 0 // bytes of the text
	for _, block := range blocks {
		kept, gap := lines.Range(next, block.Start-1), lines.Range(block.Start, block.End)
		next = block.End + 1
		b.WriteString(kept)
		written += len(kept)
		c.writeGap(&b, gap, at.mark(written, written+len(gap), prune.Span{Start: block.Start, End: block.End}))
		written += len(gap)
	}
	b.WriteString(text[written:])
	return b.String()
}

// leastKept is the share of the lines that stays in any case.
const leastKept = .02

// parts are what the goal says besides its text.
func (g Goal) parts() (parts []prune.Part) {
	weight := float64(beforeWeight)
	for _, call := range g.Before {
		parts = append(parts, prune.Part{Text: call, Weight: weight})
		weight *= .7
	}
	return parts
}
