package prune

import "strings"

// Plan decides which lines of a text stay for a goal. Its promises hold for any input: the lines keep their order; no more go than
// MaxPruneRatio allows and no fewer stay than MinKeepLines asks for; protected lines stay, even against the ratio.
func Plan(req Request) Result {
	lines := IndexLines(req.Text)
	if len(req.Text) > MaxText || IsBinary(req.Text) {
		return Result{Lines: lines.Len(), Kept: lines.Len()}
	}
	res := planLines(req, lines)
	if !res.TimedOut && isOneLine(lines) {
		res.Snips = snipLines(req, lines, res.Blocks)
		res.Unmet = res.Unmet && len(res.Snips) == 0
	}
	return res
}

// planLines decides which whole lines go.
func planLines(req Request, lines Lines) Result {
	res := Result{Lines: lines.Len(), Kept: lines.Len()}
	byRatio, most := allowance(lines.Len(), req.MaxPruneRatio, req.MinKeepLines)
	if byRatio == 0 {
		return res
	}
	if most == 0 {
		res.Unmet = true
		return res
	}
	t, shape, score, ok := examine(req, lines)
	if !ok {
		res.TimedOut = true
		return res
	}
	keep, free := t.choose(shape, score, req, most)
	res.Unmet = !free
	res.Blocks = t.worthwhile(t.cuts(shape, keep), req.Marker)
	for _, b := range res.Blocks {
		res.Kept -= b.Count()
	}
	if t.late() {
		return Result{Lines: lines.Len(), Kept: lines.Len(), TimedOut: true}
	}
	return res
}

// examine reads the text and scores its rows. It reports false when time ran out.
func examine(req Request, lines Lines) (*text, *shape, []float32, bool) {
	t, ok := readText(req, lines)
	if !ok {
		return nil, nil, nil, false
	}
	s := t.shape()
	if t.late() {
		return nil, nil, nil, false
	}
	score, ok := t.score(s)
	if !ok {
		return nil, nil, nil, false
	}
	t.prefer(score, req.Prefer)
	return t, s, score, true
}

// shape finds how the text is built.
func (t *text) shape() *shape {
	s := &shape{}
	switch {
	case t.form == Diff:
		t.readDiff(s)
	case t.form == Hits:
		t.readHits(s)
	case t.source == Code && (t.form == JSON || t.form == YAML || t.form == TOML || t.form == Listing):
		t.readKeyed(s)
	case t.page != nil:
		t.readHTML(s)
	case t.source == Docs:
		t.readDocs(s)
	case t.source == Logs:
		t.readLogs()
		t.enclose(s)
		t.splitEvenly(s)
	default:
		t.readCode()
		t.enclose(s)
		t.splitCode(s)
	}
	if t.form == Table && t.rows() > 0 {
		t.kind[0] |= isFileHead // the names of the columns
	}
	t.markTraces()
	t.protectDirectives()
	return s
}

// markTraces marks stack traces in texts other than logs, which have their own way.
func (t *text) markTraces() {
	if t.source == Logs || !t.goal.asksWhy {
		return
	}
	in := false
	for r := range t.rows() {
		line := t.row(r)
		switch {
		case isFrame(line):
			t.kind[r] |= isTrace
			in = true
		case strings.HasPrefix(line, "Traceback (most recent") || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "panic: "):
			t.kind[r] |= isTrace
			in = true
		case in && t.indent[r] > 0:
			t.kind[r] |= isTrace
		case in:
			t.kind[r] |= isTrace // what was thrown
			in = false
		}
	}
}
