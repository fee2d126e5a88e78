package prune

import "strings"

// Plan decides which lines of a text stay for a goal. Its guarantees hold for any input. The lines
// keep their order. At most MaxPruneRatio of them go, and at least MinKeepLines stay. Protected
// lines stay, even against the ratio.
func Plan(req Request) Result { return Read(req).Plan(req.MaxPruneRatio) }

// Reading is a text that is read once, for plans at several ratios. It is not safe for concurrent
// use.
type Reading struct {
	req   Request
	lines Lines
	text  *text // nil until a plan needs it
	shape *shape
	score []float32
	order []uint32 // rows, best first
	late  bool
}

// Read prepares a text for planning; its own MaxPruneRatio is ignored.
func Read(req Request) *Reading { return &Reading{req: req, lines: IndexLines(req.Text)} }

// Plan is [Plan] at a ratio.
func (r *Reading) Plan(ratio float64) Result {
	if len(r.req.Text) > MaxText || IsBinary(r.req.Text) {
		byRatio, most := allowance(r.lines.Len(), ratio, r.req.MinKeepLines)
		return Result{Lines: r.lines.Len(), Kept: r.lines.Len(), Unmet: byRatio > 0 && most == 0}
	}
	r.req.MaxPruneRatio = ratio
	res := r.planLines()
	if !res.TimedOut && isOneLine(r.lines) {
		res.Snips = snipLines(r.req, r.lines, res.Blocks)
		res.Unmet = res.Unmet && len(res.Snips) == 0
	}
	return res
}

// planLines decides which whole lines go.
func (r *Reading) planLines() Result {
	res := Result{Lines: r.lines.Len(), Kept: r.lines.Len()}
	byRatio, most := allowance(r.lines.Len(), r.req.MaxPruneRatio, r.req.MinKeepLines)
	if byRatio == 0 {
		return res
	}
	if most == 0 {
		res.Unmet = true
		return res
	}
	if !r.examine() {
		res.TimedOut = true
		return res
	}
	keep, free := r.text.choose(r.shape, r.score, r.order, r.req, most)
	res.Unmet = !free
	res.Blocks = r.text.worthwhile(r.text.cuts(r.shape, keep), r.req.Marker)
	for _, b := range res.Blocks {
		res.Kept -= b.Count()
	}
	if r.text.late() {
		return Result{Lines: r.lines.Len(), Kept: r.lines.Len(), TimedOut: true}
	}
	return res
}

// IsProgram reports whether the text is a program: source code with definitions, not data or
// command output.
func (r *Reading) IsProgram() bool { return r.isRead() && r.shape.program }

// Named is how many bytes the lines have that stay whatever the ratio: definitions that the goal names, and failing tests with their
// reasons.
func (r *Reading) Named() (size int) {
	if !r.isRead() {
		return 0
	}
	for _, u := range r.shape.named {
		size += len(r.lines.Range(u.first+1, u.last+1))
	}
	return size
}

func (r *Reading) isRead() bool {
	return len(r.req.Text) <= MaxText && !IsBinary(r.req.Text) && r.examine()
}

// examine reads the text and ranks its rows, once. It returns false if time ran out.
func (r *Reading) examine() bool {
	if r.text != nil || r.late {
		return !r.late
	}
	t, s, score, ok := examine(r.req, r.lines)
	if !ok {
		r.late = true
		return false
	}
	r.text, r.shape = t, s
	r.order, r.score = t.rank(s, score, r.req)
	return true
}

// rank orders the rows, best first, with falling scores.
func (t *text) rank(s *shape, score []float32, req Request) (order []uint32, falling []float32) {
	if req.Names {
		order = t.coverOrder(s, score, req.Known)
		return order, ranks(order)
	}
	return bestFirst(score), score
}

// examine reads the text and scores its rows. It returns false if time ran out.
func examine(req Request, lines Lines) (*text, *shape, []float32, bool) {
	t, ok := readText(req, lines)
	if !ok {
		return nil, nil, nil, false
	}
	s := t.shape()
	var failing *failures
	if program := t.isProgram(); program && req.Names {
		s.program = true
		s.named = t.namedDefinitions(s, req.Goal)
	} else if !program && t.page == nil && t.form != JSON && t.form != Diff {
		if failing = t.findFailures(); failing != nil {
			s.named = failing.units()
		}
	}
	if t.late() {
		return nil, nil, nil, false
	}
	score, ok := t.score(s)
	if !ok {
		return nil, nil, nil, false
	}
	if failing != nil {
		failing.weigh(score)
	}
	t.prefer(score, req.Prefer)
	return t, s, score, true
}

// shape finds the structure of the text.
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

// markTraces marks stack traces in texts other than logs, which do so themselves.
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
			t.kind[r] |= isTrace // the exception
			in = false
		}
	}
}
