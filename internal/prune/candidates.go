package prune

import (
	"slices"
	"strings"
)

// Candidate is a piece of the text worth a reranker's score.
type Candidate struct {
	Start, End int     // line numbers from 1, inclusive
	Text       string  // the lines, after the headers that enclose them
	Score      float64 // by the local engine
}

const (
	pieceRows  = 24   // maximum rows of a piece
	smallPiece = 6    // a block with fewer rows is joined to the one before
	pieceBytes = 6000 // of a piece's text
)

// Candidates splits the text into pieces along its own blocks. It returns at most most of them,
// best first by the local engine. It returns nil if no choice is possible or time ran out.
func Candidates(req Request, most int) []Candidate {
	lines := IndexLines(req.Text)
	if lines.Len() == 0 || most <= 0 || len(req.Text) > MaxText {
		return nil
	}
	t, s, score, ok := examine(req, lines)
	if !ok || t.rows() == 0 {
		return nil
	}
	var out []Candidate
	for _, p := range t.pieces(s) {
		best, sum := score[p.first], float32(0)
		for r := p.first; r <= p.last; r++ {
			best = max(best, score[r])
			sum += score[r]
		}
		value := float64(best) + float64(sum)/float64(p.last-p.first+1)
		out = append(out, Candidate{Start: int(t.line[p.first]) + 1, End: int(t.line[p.last]) + 1, Score: value})
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	out = out[:min(most, len(out))]
	for i := range out {
		out[i].Text = t.inContext(s, out[i])
	}
	return out
}

// pieces returns runs of rows along the blocks: small blocks joined, long ones split.
func (t *text) pieces(s *shape) (out []unit) {
	for i, start := range s.blocks {
		first, end := int(start), t.rows()
		if i+1 < len(s.blocks) {
			end = int(s.blocks[i+1])
		}
		if n := len(out); n > 0 && end-first < smallPiece && end-out[n-1].first <= pieceRows && t.source != Docs {
			out[n-1].last = end - 1
			continue
		}
		for first < end {
			last := min(end, first+pieceRows) - 1
			if end-1-last < smallPiece {
				last = min(end-1, last+smallPiece)
			}
			out = append(out, unit{first, last})
			first = last + 1
		}
	}
	return out
}

// inContext returns a piece's text after the headers around it.
func (t *text) inContext(s *shape, c Candidate) string {
	r := t.rowOf(c.Start - 1)
	var heads []string
	for p := s.parent[r]; p >= 0 && len(heads) < 4; p = s.parent[p] {
		if t.kind[p]&isStructure != 0 {
			heads = append(heads, t.lines.Line(int(t.line[p])+1))
		}
	}
	slices.Reverse(heads)
	text := strings.Join(heads, "") + t.lines.Range(c.Start, c.End)
	if len(text) > pieceBytes {
		text = strings.ToValidUTF8(text[:pieceBytes], "")
	}
	return text
}

// rowOf returns the row of a line that is not blank.
func (t *text) rowOf(line int) int {
	r, _ := slices.BinarySearch(t.line, uint32(line)) //nolint:gosec // lines are fewer than bytes
	return r
}
