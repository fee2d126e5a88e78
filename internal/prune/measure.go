package prune

// measure measures the wanted rows, a few at a time, and passes them to use; a nil wanted means
// all. It returns false if time ran out.
func (t *text) measure(s *shape, wanted func(r int) bool, use func(rows []int, v *[lanes]vector)) bool {
	if t.rows() == 0 {
		return true
	}
	g, ok := newGauge(t, s)
	if !ok {
		return false
	}
	var v [lanes]vector
	rows := make([]int, 0, lanes)
	for r := range t.rows() {
		if r&1023 == 0 && t.late() {
			return false
		}
		g.advance(r)
		if wanted != nil && !wanted(r) {
			continue
		}
		g.fill(r, &v[len(rows)])
		if rows = append(rows, r); len(rows) == lanes {
			use(rows, &v)
			rows = rows[:0]
		}
	}
	if len(rows) > 0 {
		use(rows, &v)
	}
	return true
}

// gauge holds the data for measuring: values of all rows, of all blocks, and walks over
// neighbourhoods.
type gauge struct {
	t *text
	s *shape
	m *matches

	exact, soft, near, hybrid        []float32 // per row
	block, blockSoft, head, headSoft []float32 // per block
	blockScore                       []float32
	rarity                           []float32 // per word
	groups                           []group
	groupOf                          []uint32 // per row

	rank, lineRank, winRank, blockRank, groupRank *ranking

	w50, feedback, whole8, comments *spread
	whole                           []float32
	fresh                           []uint8 // per row: identifiers not used before
	cover20                         *coverage
	log                             *logView // nil for other sources
	goalTerms                       float32
	opening                         []opening // per row
	tests                           float32

	at, section, header       int     // block, heading and header of the current row
	x50, fb, c20, w8, comment float32 // results of the walks for it
}

func newGauge(t *text, s *shape) (*gauge, bool) {
	m := t.match()
	g := &gauge{t: t, s: s, m: m}
	if t.late() {
		return nil, false
	}
	g.exact, g.soft = scaled(t.bm25(m, m.exact, nil, 0)), scaled(t.bm25(m, m.soft, nil, 0))
	headRows := 4
	if t.source == Docs {
		headRows = 1
	}
	g.block, g.blockSoft = scaled(t.bm25(m, m.exact, s.blocks, 0)), scaled(t.bm25(m, m.soft, s.blocks, 0))
	g.head, g.headSoft = scaled(t.bm25(m, m.exact, s.blocks, headRows)), scaled(t.bm25(m, m.soft, s.blocks, headRows))
	if t.late() {
		return nil, false
	}
	g.near = newScaledSpread(g.soft, 3).all()
	g.w50 = newScaledSpread(g.soft, 50)
	if t.late() {
		return nil, false
	}
	g.mix()
	g.rank, g.lineRank, g.winRank = newRanking(g.hybrid), newRanking(g.soft), newRanking(g.near)
	g.feedback = newScaledSpread(t.feedback(m, g.hybrid, g.rank), 3)
	g.groups, g.groupOf = t.groups(s, m, g.soft)
	if t.late() {
		return nil, false
	}
	t.followCalls(g.groups, g.groupOf, g.near)
	g.cover20 = newCoverage(m, t.rows(), 20)
	means := make([]float32, len(g.groups))
	for i := range g.groups {
		means[i] = g.groups[i].mean()
	}
	g.groupRank = newRanking(means)
	for _, w := range m.termWeight {
		g.goalTerms += flag(w > 0)
	}
	if t.source == Logs {
		g.log = t.logView()
	}
	t.clear = t.clearRows(m)
	g.whole = m.wholes(t.rows())
	g.whole8 = newScaledSpread(g.whole, 8)
	comments := make([]float32, t.rows())
	for r, k := range t.kind {
		comments[r] = flag(k&isComment != 0)
	}
	g.comments = newSpread(comments, 10)
	g.fresh = t.freshNames()
	g.rarity = t.rarities()
	if t.source != Docs {
		g.opening, g.tests = t.openings()
	}
	t.nameGroups(g.groups, g.groupOf, m)
	return g, !t.late()
}

// mix computes the fixed mix of line, neighbourhood and block scores, and ranks the blocks.
func (g *gauge) mix() {
	n := g.t.rows()
	g.hybrid = make([]float32, n)
	w12 := newScaledSpread(g.soft, 12)
	b := 0
	for r := range n {
		for b+1 < len(g.s.blocks) && int(g.s.blocks[b+1]) <= r {
			b++
		}
		near := g.blockSoft[b] + float32(.3*g.soft[r]) + g.near[r] + float32(.5*w12.next())
		g.hybrid[r] = near/2.8 + float32(.3*g.w50.next()) + float32(.3*g.headSoft[b])
	}
	g.w50.begin()
	g.blockScore = make([]float32, len(g.s.blocks))
	for b := range g.blockScore {
		g.blockScore[b] = g.blockSoft[b] + float32(.5*g.headSoft[b])
	}
	g.blockRank = newRanking(g.blockScore)
}

// advance walks to row r.
func (g *gauge) advance(r int) {
	g.x50, g.fb, g.c20 = g.w50.next(), g.feedback.next(), g.cover20.next()
	g.w8, g.comment = g.whole8.next(), g.comments.next()
	if g.t.kind[r]&isStructure != 0 {
		g.header = r
	}
	for g.at+1 < len(g.s.blocks) && int(g.s.blocks[g.at+1]) <= r {
		g.at++
	}
	if g.t.kind[r]&isHeading != 0 {
		g.section = r
	}
	if g.log != nil {
		g.log.advance()
	}
}

// fill measures row r, after advance.
func (g *gauge) fill(r int, v *vector) {
	t, m, b := g.t, g.m, g.at
	v[fLine], v[fLineSoft], v[fWin3], v[fWin50] = g.exact[r], g.soft[r], g.near[r], g.x50
	v[fBlock], v[fBlockSoft], v[fHead], v[fHeadSoft] = g.block[b], g.blockSoft[b], g.head[b], g.headSoft[b]
	v[fHybrid], v[fRank] = g.hybrid[r], g.rank.of(g.hybrid[r])/float32(t.rows())
	v[fCover], v[fCover20] = m.coverOf(r), g.c20
	v[fPair] = float32(m.pairs(r))
	v[fBlockRank] = min(100, g.blockRank.of(g.blockScore[b]))
	v[fLineRank], v[fWinRank] = min(500, g.lineRank.of(g.soft[r])), min(500, g.winRank.of(g.near[r]))
	v[fFeedback] = g.fb
	v[fWhole], v[fWhole8] = g.whole[r], g.w8
	v[fNewNames] = float32(g.fresh[r])
	v[fHeadNear] = float32(min(200, r-g.header))
	v[fInComment] = g.comment
	v[fRare] = g.rare(r)
	v[fGoalTerms], v[fGoalOwn], v[fAsksWhy] = g.goalTerms, float32(t.goal.own), flag(t.goal.asksWhy)
	g.fillNear(r, v)
	g.fillGroup(r, v)
	g.fillPlace(r, v)
	g.fillKind(r, v)
	if g.log != nil {
		g.log.fill(r, v)
	}
}

// fillGroup measures the headers above a row.
func (g *gauge) fillGroup(r int, v *vector) {
	x := &g.groups[g.groupOf[r]]
	m := g.m
	v[fCoverGroup], v[fTreeCover] = m.coverMask(x.seen), m.coverMask(x.treeSeen)
	v[fHeadCover], v[fChainCover] = m.coverMask(x.headSeen), m.coverMask(x.chainSeen)
	v[fWholeGroup] = min(4, float32(x.whole))
	v[fGroupMean], v[fGroupMax], v[fGroupRank] = x.mean(), x.top, min(100, g.groupRank.of(x.mean()))
	v[fGroupRows], v[fTreeRows] = min(500, float32(x.rows)), min(500, float32(x.treeRows))
	v[fHeadMatch], v[fUpperMatch], v[fCaller] = x.match, x.above, x.caller
	v[fOwnHead], v[fUpperHead] = 0, 0
	p := int32(r) //nolint:gosec // rows are fewer than MaxText
	if g.t.kind[r]&isStructure == 0 {
		p = g.t.header(g.s, r)
	}
	if p < 0 {
		return
	}
	v[fOwnHead] = g.soft[p]
	for range 4 {
		if p = g.t.header(g.s, int(p)); p < 0 {
			return
		}
		v[fUpperHead] = max(v[fUpperHead], g.soft[p])
	}
}

// fillPlace measures the position of a row.
func (g *gauge) fillPlace(r int, v *vector) {
	t, n := g.t, g.t.rows()
	v[fPosition] = float32(r) / float32(n)
	v[fTop], v[fEnd] = float32(min(200, r)), float32(min(200, n-1-r))
	v[fIndent], v[fDepth] = float32(min(80, t.indent[r])), float32(min(20, g.s.depth[r]))
	v[fTerms] = float32(min(60, t.first[r+1]-t.first[r]))
	v[fGapBefore], v[fGapAfter] = 0, 0
	if r > 0 {
		v[fGapBefore] = float32(min(3, t.line[r]-t.line[r-1]-1))
	}
	if r+1 < n {
		v[fGapAfter] = float32(min(3, t.line[r+1]-t.line[r]-1))
	}
	first, end := int(g.s.blocks[g.at]), n
	if g.at+1 < len(g.s.blocks) {
		end = int(g.s.blocks[g.at+1])
	}
	v[fInBlock], v[fBlockRows] = float32(min(100, r-first)), float32(min(200, end-first))
	v[fToBlockEnd] = float32(min(100, end-1-r))
	v[fSectionAt] = float32(min(200, r-g.section))
}

// fillKind measures the kind of a row.
func (g *gauge) fillKind(r int, v *vector) {
	k := g.t.kind[r]
	v[fComment], v[fStructure], v[fImport] = flag(k&isComment != 0), flag(k&isStructure != 0), flag(k&isImport != 0)
	v[fDirective], v[fHeading], v[fFenced] = flag(k&isDirective != 0), flag(k&isHeading != 0), flag(k&isFenced != 0)
	line := g.t.row(r)
	if g.t.source != Docs {
		fillShape(line, v)
		g.fillOpening(r, v)
	}
	v[fLength] = float32(min(300, len(line)))
	v[fList] = flag(line[0] == '-' || line[0] == '*' || line[0] == '+' || classes[line[0]] == digitClass)
	v[fProse] = flag(classes[line[0]] == upperClass)
}

// shapeBytes is how much of a row is examined for its style.
const shapeBytes = 120

// telling are the signs that show how a row is written.
var telling = [256]bool{'=': true, '(': true, '"': true, '\'': true, '`': true}

// fillShape measures how a row is written.
func fillShape(line string, v *vector) {
	assign, called, quoted := false, false, false
	for i, c := range []byte(line[:min(len(line), shapeBytes)]) {
		if !telling[c] || i == 0 {
			continue
		}
		switch c {
		case '=':
			assign = assign || line[i-1] != '=' && line[i-1] != '!' && (i+1 == len(line) || line[i+1] != '=')
		case '(':
			called = called || classes[line[i-1]] != sepClass
		default:
			quoted = true
		}
	}
	v[fAssign], v[fCalls], v[fQuoted] = flag(assign), flag(called), flag(quoted)
}

// wholes returns the weight of the goal's identifiers in each row.
func (m *matches) wholes(rows int) []float32 {
	out := make([]float32, rows)
	for r := range out {
		for _, n := range m.of(r) {
			if m.whole[n] {
				out[r] += m.termWeight[m.term[n]]
			}
		}
	}
	return scaled(out)
}

// freshNames counts, for every row, the words of several parts that no earlier row has.
func (t *text) freshNames() []uint8 {
	out := make([]uint8, t.rows())
	for id := 1; id < t.vocab.len(); id++ {
		x := &t.vocab.terms[id]
		if x.size < 6 || !x.compound {
			continue
		}
		if r := x.born; out[r] < 8 {
			out[r]++
		}
	}
	return out
}

// pairs counts neighbouring words of the goal that are also neighbours in a row.
func (m *matches) pairs(r int) (n int) {
	found := m.of(r)
	for i := 1; i < len(found) && n < 4; i++ {
		if m.term[found[i]] == m.term[found[i-1]]+1 {
			n++
		}
	}
	return n
}

// rarities returns the weights of all words of the text by how few rows have them, at most 1.
func (t *text) rarities() []float32 {
	out := make([]float32, t.vocab.len())
	n := float32(t.rows())
	scale := float32(1 / logOf(2+float64(n)))
	for id := range out {
		out[id] = float32(scale * fastLog(1+n/float32(max(1, t.vocab.terms[id].rows))))
	}
	return out
}

// rare returns the mean rarity of a row's words.
func (g *gauge) rare(r int) float32 {
	terms := g.t.termsOf(r)
	if len(terms) == 0 {
		return 0
	}
	terms = terms[:min(64, len(terms))]
	sum := float32(0)
	for _, id := range terms {
		sum += g.rarity[id]
	}
	return sum / float32(len(terms))
}
