package prune

// text is the parsed text: its lines, its rows, their terms. A row is a line that is not blank and
// does not repeat the two rows before it.
type text struct {
	src    string
	told   Source // as the request says
	source Source // as used: the form may know better
	form   Form
	lines  Lines
	deco   decoration
	page   *page // of an HTML document that is read as one; else nil
	goal   *goal
	vocab  *vocab

	line    []uint32 // of each row: the line number, from 0
	body    []uint32 // of each row: start of its text, after decoration and indent
	stop    []uint32 // of each row: end of its text, before white space and line ending
	first   []uint32 // of each row: start of its terms in terms; one more at the end
	indent  []uint16 // of each row: columns of white space before it
	kind    []kind   // of each row
	terms   []uint32 // vocabulary numbers
	expired func() bool

	protected []unit // runs of lines between the protecting directives
	clear     []bool // of each row: it has everything that the goal names; nil: none does
}

// kind is what a row is, as a set of bits.
type kind uint32

const (
	isProtected kind = 1 << iota // stays regardless of the ratio
	isStructure                  // a header, an import, a heading
	isImport
	isComment
	isClosing   // only closes what an earlier row opened, or continues it (else, except)
	isDirective // preprocessor line or label: its indent means nothing
	isFileHead
	isHeading
	isFenced // part of a fenced block or a table; the unit says which
	isError
	isWeakError
	isTrace
	isRed
	isCommand
	isExit
	isLevelLow  // its own level is debug or info
	isLevelHigh // its own level is warning or worse
	isDecorator
	isBoilerplate // of a page: nothing to read, as in scripts, styles, navigation
	isPassed      // of a test that began, passed or was skipped
)

// pollBytes is how much work is done between two checks of the deadline.
const pollBytes = 1 << 16

// readText finds rows and terms. It returns false if time ran out.
func readText(req Request, lines Lines) (*text, bool) {
	t := &text{
		src: req.Text, told: req.Source, source: req.Source, lines: lines, deco: findDecoration(lines, req.Source),
		goal: newGoal(req), vocab: newVocab(len(req.Text)), expired: req.Expired,
	}
	t.form = formOf(lines, t.deco)
	if kind, ok := t.form.source(); ok && (t.told != Logs || t.form == JSON || t.form == Diff) {
		t.source = kind
	}
	if t.form == HTML && t.source == Docs {
		t.page = readPage(lines, t.deco)
	}
	rows := min(lines.Len(), max(64, len(req.Text)/8))
	t.line, t.body, t.stop = make([]uint32, 0, rows), make([]uint32, 0, rows), make([]uint32, 0, rows)
	t.first = make([]uint32, 0, rows+1)
	t.indent = make([]uint16, 0, rows)
	t.terms = make([]uint32, 0, len(req.Text)/6)
	s := splitter{into: t, known: newKnownWords(len(req.Text))}
	done := 0
	ok := t.eachRow(func(line, columns, body, end int) bool {
		t.first = append(t.first, uint32(len(t.terms))) //nolint:gosec // fewer than bytes
		from := body
		if t.deco.skip != nil && !t.deco.silent() {
			body = t.lines.start(line + 1)
		}
		if t.page != nil {
			for _, p := range t.page.of(line) {
				s.split(req.Text, int(p.from), int(p.to))
			}
			done += end - body
			body = end
			if done >= pollBytes {
				done = 0
				if t.late() {
					return false
				}
			}
		}
		for body < end { // a line may be the whole text
			stop := min(end, body+pollBytes)
			for stop < end && classes[req.Text[stop]] != sepClass && stop < body+2*pollBytes {
				stop++
			}
			s.split(req.Text, body, stop)
			done += stop - body + 16
			body = stop
			if done >= pollBytes {
				done = 0
				if t.late() {
					return false
				}
			}
		}
		t.line = append(t.line, uint32(line)) //nolint:gosec // fewer than bytes
		for end > from && (t.src[end-1] == ' ' || t.src[end-1] == '\t') {
			end--
		}
		t.body, t.stop = append(t.body, uint32(from)), append(t.stop, uint32(end)) //nolint:gosec // offsets are below MaxText
		t.indent = append(t.indent, uint16(columns))                               //nolint:gosec // skipSpace bounds it
		return true
	})
	if !ok {
		return nil, false
	}
	t.kind = make([]kind, len(t.line))
	t.first = append(t.first, uint32(len(t.terms))) //nolint:gosec // fewer than bytes
	return t, true
}

func (t *text) late() bool { return t.expired != nil && t.expired() }

func (t *text) rows() int { return len(t.line) }

// bounds returns the offsets of line i, from 0, without its decoration and its line ending.
func (t *text) bounds(i int) (start, end int) {
	start, end = t.lines.start(i+1), t.lines.start(i+2)
	if t.deco.skip != nil {
		start += int(t.deco.skip[i])
	}
	if end > start && t.src[end-1] == '\n' {
		end--
	}
	if end > start && t.src[end-1] == '\r' {
		end--
	}
	return start, end
}

// row returns the text of a row without its indent and its line ending.
func (t *text) row(r int) string { return t.src[t.body[r]:t.stop[r]] }

// termsOf returns the terms of a row.
func (t *text) termsOf(r int) []uint32 { return t.terms[t.first[r]:t.first[r+1]] }

// eachRow calls use for every row with its line, from 0, its indent, and the start and end of its
// text. It stops and returns false when use does.
func (t *text) eachRow(use func(line, columns, body, end int) bool) bool {
	last, same := "", 0
	for i := range t.lines.Len() {
		if t.deco.frame != nil && t.deco.frame[i] {
			continue
		}
		start, end := t.bounds(i)
		body, columns := skipSpace(t.src, start, end)
		if body == end {
			continue
		}
		if line := t.src[start:end]; line != last {
			last, same = line, 1
		} else if same++; same > 3 {
			continue
		}
		if !use(i, columns, body, end) {
			return false
		}
	}
	return true
}

// skipSpace returns the end of the white space at start, and its columns; a tab is four. A byte
// order mark, form feeds and terminal escape sequences are white space.
func skipSpace(s string, start, end int) (at, columns int) {
	for at = start; at < end; at++ {
		switch s[at] {
		case ' ':
			columns++
		case '\t':
			columns += 4
		case '\r', '\f', '\v':
		case 0x1b:
			at = skipEscape(s, at, end) - 1
		case 0xef:
			if at != 0 || end-at < 3 || s[at:at+3] != "\ufeff" {
				return at, min(columns, 1<<15)
			}
			at += 2
		default:
			return at, min(columns, 1<<15)
		}
	}
	return at, min(columns, 1<<15)
}
