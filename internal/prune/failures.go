package prune

import "strings"

// failures are the rows of a test runner's output that tell which tests failed, and why.
type failures struct {
	*text
	names []int // rows with a failing test's name
	first []int // rows with its reason
	also  []int // pytest's rows with the name again, and with the place
	more  []int // rows that tell more of the reason

	listed []listedTest
	seen   map[string]bool // names, and whole rows, of the failing tests so far
	open   reasons         // of the test whose reasons are read
}

// listedTest is a row of a list of failing tests.
type listedTest struct {
	row  int
	name string
}

// reasons is the state of reading why one test failed.
type reasons struct {
	style  style
	indent int // the reasons are deeper than this; -1: as deep as they like
	rows   int // read so far
	first  int // of them the ones that stay with the name, …
	more   int // and those that stay if there is room
	next   int // rows to come that are part of the reason
	place  int // Go: the last row with a place, if it is not in first; -1 for none
}

// style says how a runner writes reasons.
type style uint8

const (
	noStyle  style = iota
	goStyle        // rows with a place
	pyStyle        // rows that begin with E, and the place
	anyStyle       // the first row, and rows that look like a reason
	outStyle       // rows that look like a reason, among the test's own output
	runtime        // a goroutine's frames
	compiler       // rows with a place, below the name of a package
)

const (
	reasonRows = 80 // in which a failing test's reasons are looked for
	mostFirst  = 5  // of them that stay with the name
	mostMore   = 12 // of them that stay if there is room
)

// findFailures reads the output of a test runner, and marks the rows of tests that passed. It returns nil if no test failed.
func (t *text) findFailures() *failures {
	f := &failures{text: t, seen: map[string]bool{}}
	f.begin(noStyle, -1)
	failed := map[string]bool{} // Go prints a test's reasons before its result
	for r := range t.rows() {
		if line := withoutEscapes(t.row(r)); strings.HasPrefix(line, "--- FAIL: ") {
			_, name := verdictOf(line)
			failed[name] = true
		}
	}
	for r := range t.rows() {
		if line := withoutEscapes(t.row(r)); line != "" {
			f.read(r, line, failed)
		}
	}
	f.close()
	for _, l := range f.listed {
		if !f.seen[l.name] {
			f.names = append(f.names, l.row)
		}
	}
	if len(f.names)+len(f.first)+len(f.also) == 0 {
		return nil
	}
	return f
}

// read takes the next row. It closes the reasons before it if it tells of another test.
func (f *failures) read(r int, line string, failed map[string]bool) {
	v, name := verdictOf(line)
	if v == noVerdict {
		f.readOther(r, line)
		return
	}
	f.close()
	switch v {
	case begins:
		f.kind[r] |= isPassed
		if failed[name] {
			f.begin(goStyle, -1)
		}
	case passes:
		f.kind[r] |= isPassed
	case fails, failsBelow:
		f.fail(r, line, name, v == failsBelow)
	case listsFail:
		f.listed = append(f.listed, listedTest{r, name})
		f.begin(noStyle, -1)
	case sumsUp:
		f.names = append(f.names, r)
		f.seen[name] = true
	}
}

// readOther takes a row that says nothing of a test: it may be a reason, or begin a crash.
func (f *failures) readOther(r int, line string) {
	switch {
	case f.indent[r] == 0 && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) && f.comesSoon(r, "goroutine "):
		f.close()
		f.first = append(f.first, r)
		f.begin(runtime, -1)
	case strings.HasPrefix(line, "# ") && r+1 < f.rows() && hasPlace(f.row(r+1), ".go"):
		f.close()
		f.names = append(f.names, r)
		f.begin(compiler, -1)
	default:
		f.reason(r, line)
	}
}

// comesSoon says whether one of the next rows begins with a word.
func (f *failures) comesSoon(r int, word string) bool {
	const soon = 12
	for next := r + 1; next < min(r+soon, f.rows()); next++ {
		if strings.HasPrefix(f.row(next), word) {
			return true
		}
	}
	return false
}

// fail notes a row that names a failing test, and begins to read the reasons.
func (f *failures) fail(r int, line, name string, below bool) {
	if f.seen[line] { // jest repeats the failures of a long run
		return
	}
	f.seen[line], f.seen[name] = true, true
	indent := -1
	if below {
		indent = int(f.indent[r])
	}
	switch {
	case line[0] == '_': // pytest's summary has the name, too
		f.also = append(f.also, r)
		f.begin(pyStyle, indent)
		return
	case strings.HasPrefix(line, "--- FAIL"):
		f.begin(goStyle, indent)
	case strings.HasPrefix(line, "---- "):
		f.begin(outStyle, indent)
	default:
		f.begin(anyStyle, indent)
	}
	f.names = append(f.names, r)
}

func (f *failures) begin(s style, indent int) { f.open = reasons{style: s, indent: indent, place: -1} }

// close ends the reasons of a test. Go's last row with a place is where it gave up.
func (f *failures) close() {
	if f.open.place >= 0 {
		f.first = append(f.first, f.open.place)
	}
	f.begin(noStyle, -1)
}

// reason takes a row that may tell why the test failed.
func (f *failures) reason(r int, line string) {
	o := &f.open
	if o.rows++; int(f.indent[r]) <= o.indent || o.rows > reasonRows {
		f.close()
		return
	}
	first, more := false, false
	switch o.style {
	case noStyle:
		first = o.rows == 1 && strings.HasPrefix(line, "→ ") // vitest's list
	case goStyle:
		f.goReason(r, line)
		return
	case pyStyle:
		if hasPlace(line, ".py") && !strings.HasSuffix(line, ":") && !strings.Contains(line, ": in ") {
			f.also = append(f.also, r)
			return
		}
		more = line == "E" || strings.HasPrefix(line, "E  ") || strings.HasPrefix(line, "> ")
		first = line[0] == 'E' && more && o.first == 0
	case anyStyle, outStyle:
		first = o.style == anyStyle && o.rows == 1 || looksLikeReason(line)
		more = !isFrame(line) || o.rows < 4
		if strings.HasPrefix(line, "thread '") {
			o.next = 2 // with what it said
		}
	case runtime:
		first = strings.HasPrefix(line, "goroutine ") && o.first == 0
		more = true
		if strings.HasPrefix(line, "panic(") {
			o.next = 4 // its place, and the frame that panicked
		}
	case compiler:
		first = hasPlace(line, ".go")
	}
	f.take(r, first, more)
}

// goReason takes a row of a Go test's output: those with a place are the test's own, and deeper rows go on with them.
func (f *failures) goReason(r int, line string) {
	o := &f.open
	switch {
	case f.indent[r] > 0 && hasPlace(line, ".go"):
		if o.place >= 0 && o.more < mostMore {
			f.more = append(f.more, o.place)
			o.more++
		}
		o.place = r
		if o.first == 0 {
			o.place = -1
			f.take(r, true, false)
		}
	case f.indent[r] > 0:
		f.take(r, strings.HasPrefix(line, "Error:") || strings.HasPrefix(line, "expected") || strings.HasPrefix(line, "actual"), true)
	}
}

// take keeps a row of a reason, as far as there is room.
func (f *failures) take(r int, first, more bool) {
	o := &f.open
	if o.next > 0 {
		o.next--
		first = true
	}
	switch {
	case first && o.first < mostFirst:
		o.first++
		f.first = append(f.first, r)
	case (first || more) && o.more < mostMore:
		o.more++
		f.more = append(f.more, r)
	}
}

// looksLikeReason says whether a row reads like the message of a failed assertion or an exception.
func looksLikeReason(line string) bool {
	for _, start := range [...]string{"Expected", "Received", "expected", "left: ", "right: ", "thread '", "Error: ", "assertion ", "note: test did not"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	word := firstField(line)
	return strings.HasSuffix(word, "Error:") || strings.HasSuffix(word, "Exception:") || strings.HasSuffix(word, "Error") || strings.HasSuffix(word, "Exception")
}

// withoutEscapes is a row without a terminal's colours.
func withoutEscapes(line string) string {
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		if line[i] == 0x1b {
			i = skipEscape(line, i, len(line))
			continue
		}
		b.WriteByte(line[i])
		i++
	}
	return strings.TrimSpace(b.String())
}

// units are the lines of the failing tests' names and then of their first reasons, in order of need. They take a part of the text at most.
func (f *failures) units() (out []unit) {
	left := min(namedBytes, len(f.src)/namedShare)
	for _, rows := range [...][]int{f.names, f.first, f.also} {
		for _, r := range rows {
			line := int(f.line[r])
			if left -= f.lines.start(line+2) - f.lines.start(line+1); left < 0 {
				return out
			}
			out = append(out, unit{line, line})
		}
	}
	return out
}

// weigh gives the rows chances by which names come first, then reasons, and rows of tests that passed last.
func (f *failures) weigh(chance []float32) {
	const (
		nameChance  = 2 // the best of the others has about 1
		firstChance = 1.5
		moreChance  = .7
		passed      = .05
	)
	for r, k := range f.kind {
		if k&isPassed == 0 {
			continue
		}
		f.kind[r] &^= isError // such as "Errors: 0"
		if f.clear == nil || !f.clear[r] {
			chance[r] *= passed
		}
	}
	for _, g := range [...]struct {
		rows []int
		at   float32
	}{{f.more, moreChance}, {f.also, firstChance}, {f.first, firstChance}, {f.names, nameChance}} {
		for _, r := range g.rows {
			chance[r] = max(chance[r], g.at)
		}
	}
}
