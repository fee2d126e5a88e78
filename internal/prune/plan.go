package prune

// Plan decides which lines of a text stay for a goal. Its promises hold for any input: the lines keep their order; no more go than
// MaxPruneRatio allows and no fewer stay than MinKeepLines asks for; protected lines stay, even against the ratio.
func Plan(req Request) Result {
	lines := IndexLines(req.Text)
	res := Result{Lines: lines.Len(), Kept: lines.Len()}
	byRatio, most := allowance(lines.Len(), req.MaxPruneRatio, req.MinKeepLines)
	if byRatio == 0 || len(req.Text) > MaxText {
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
	switch t.source {
	case Docs:
		t.readDocs(s)
	case Logs:
		t.readLogs()
		t.enclose(s)
		t.splitEvenly(s)
	default:
		t.readCode()
		t.enclose(s)
		t.splitCode(s)
	}
	t.protectDirectives()
	return s
}
