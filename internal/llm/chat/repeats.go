package chat

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// An agent often reads the same lines twice: a file after an edit, overlapping parts of it. Lines
// that an earlier result of the request shows are not sent again; a marker refers to them.

// Bounds of a run of lines that a marker replaces.
const (
	minRepeatLines = 8
	minRepeat      = 400 // characters
	// aroundChange is how many repeated lines stay next to lines that are new.
	aroundChange = 3
)

// Bounds of the search for repeated lines. Beyond them lines count as new.
const (
	maxScanned = 16 << 20 // bytes of earlier results searched for one result
	maxSteps   = 1 << 20  // lines compared for one result
)

// sameLines is a run of lines that an earlier result shows.
type sameLines struct {
	lines prune.Span // by position in the text
	same  prune.Same
}

// canRefer reports whether results of the request may refer to each other. A provider that keeps or
// edits the history may drop the result that another refers to.
func (c *Conversation) canRefer() bool { return c.Thread == NoThread && c.barrier == Open }

// alikeBefore lists the earlier results, newest first, with lines that a result may repeat. It
// hashes raw lines without leading numbers, so it finds too many at worst.
func (c *Conversation) alikeBefore(result int) (earlier []int) {
	m := &c.Messages[result]
	if m.Chars < minRepeat || isHandBackRaw(c.bytes(m.content)) {
		return nil
	}
	var wanted map[uint64]bool
	eachWindow(c.bytes(m.content), func(h uint64) bool {
		if wanted == nil {
			wanted = make(map[uint64]bool)
		}
		wanted[h] = true
		return true
	})
	oldest, room := c.summarized(), maxScanned
	for i := result - 1; wanted != nil && i >= oldest && room > 0; i-- {
		if !c.isResult(i) || c.Messages[i].Chars < minRepeat {
			continue
		}
		raw := c.bytes(c.Messages[i].content)
		room -= len(raw)
		eachWindow(raw, func(h uint64) bool {
			if !wanted[h] {
				return true
			}
			earlier = append(earlier, i)
			return false
		})
	}
	return earlier
}

// isHandBackRaw is a quick check of a raw string for a sub-agent's report.
func isHandBackRaw(raw []byte) bool {
	return slices.ContainsFunc(handBacks, func(start string) bool { return bytes.Contains(raw, []byte(start)) })
}

// eachWindow yields a hash of every minRepeatLines lines in a raw string. It also splits at an
// escaped \n, since a text may be a string within JSON.
func eachWindow(raw []byte, yield func(hash uint64) bool) {
	raw = raw[1 : len(raw)-1]
	var w window
	for {
		end, next := escapedLineEnd(raw)
		line := bytes.TrimLeft(raw[:end], " 0123456789")
		if hash, full := w.add(maphash.Bytes(callSeed, line)); full && !yield(hash) || next == len(raw) {
			return
		}
		raw = raw[next:]
	}
}

// escapedLineEnd returns where the first line of a raw string ends, and where the next begins.
func escapedLineEnd(raw []byte) (end, next int) {
	for at := 0; ; {
		i := bytes.IndexByte(raw[at:], '\\')
		if i < 0 {
			return len(raw), len(raw)
		}
		start := at + i
		for at = start; at < len(raw) && raw[at] == '\\'; at++ {
		}
		if at == len(raw) {
			return len(raw), len(raw)
		}
		if raw[at] == 'n' {
			return start, at + 1
		}
		at++
	}
}

// window is a rolling hash of the last minRepeatLines lines.
type window struct {
	ring [minRepeatLines]uint64
	sum  uint64
	n    int
}

// add appends a line and returns the hash; full: it covers enough lines.
func (w *window) add(line uint64) (hash uint64, full bool) {
	at := w.n % minRepeatLines
	w.sum = w.sum*mixA + line - w.ring[at]*windowPower
	w.ring[at] = line
	w.n++
	return w.sum, w.n >= minRepeatLines
}

// windowPower removes the oldest line from the sum.
var windowPower = func() uint64 {
	p := uint64(1)
	for range minRepeatLines {
		p *= mixA
	}
	return p
}()

// shown is the text of a result: its lines, and those that are really sent.
type shown struct {
	lines   prune.Lines
	view    prune.View
	numbers prune.Numbers
	sent    string // the text as it goes out
	gone    []bool // lines that do not, from 1; nil: all go out
}

// showing returns the text of a result; inner lines if a client wraps it into a line of JSON.
func showing(text, sent string) shown {
	lines := prune.IndexLines(innerText(text))
	s := shown{lines: lines, view: prune.ViewOf(lines), numbers: prune.NumbersOf(lines), sent: innerText(sent)}
	if sent != text {
		s.findGone()
	}
	return s
}

// findGone finds the lines that a pruned form lacks. The others are in order.
func (s *shown) findGone() {
	s.gone = slices.Repeat([]bool{true}, s.lines.Len()+1)
	at := 1
	for line := range strings.Lines(s.sent) {
		if cut, ok := prune.ReadMark(line); ok {
			at = max(at, s.view.Place(cut).End+1)
			continue
		}
		next := at
		for next <= s.lines.Len() && s.lines.Line(next) != line {
			next++
		}
		if next <= s.lines.Len() {
			s.gone[next], at = false, next+1
		}
	}
}

// has reports whether the text has a line, and it goes out.
func (s *shown) has(line int) bool { return line <= s.lines.Len() && (s.gone == nil || !s.gone[line]) }

func innerText(text string) string {
	if at, ok := rawjson.Embedded(text); ok {
		return rawjson.Unquote([]byte(text[at.Start:at.End]))
	}
	return text
}

// line returns a line without its end and its number; number 0: it shows none.
func (s *shown) line(i int) (text string, number int) {
	line := strings.TrimSuffix(s.lines.Line(i), "\n")
	number, size := s.numbers.Read(line)
	return line[size:], number
}

// hashes returns a hash of every line.
func (s *shown) hashes() []uint64 {
	out := make([]uint64, s.lines.Len())
	for i := range out {
		text, _ := s.line(i + 1)
		out[i] = maphash.String(callSeed, text)
	}
	return out
}

// equalRun is a run of equal lines in two texts.
type equalRun struct {
	start, end int // in the new text, both inclusive
	from       int // first line in the earlier one
	message    int // the earlier result
}

// repeats lists the runs of a result that earlier results show.
func (c *Conversation) repeats(job Job, text string) (refs []sameLines) {
	now := showing(text, text)
	stays := newStaying(now.lines)
	hashes := now.hashes()
	starts := make(map[uint64]int, len(hashes))
	var w window
	for i, h := range hashes {
		if hash, full := w.add(h); full {
			if _, ok := starts[hash]; !ok {
				starts[hash] = i + 2 - minRepeatLines
			}
		}
	}
	var runs []equalRun
	texts := map[int]*shown{}
	steps := maxSteps
	for _, i := range job.alike {
		call := c.Messages[i].CallID
		if job.isMasked(i) || !prune.CanRefer(call) || c.resultOf(call, job.Message) != i {
			continue
		}
		whole := c.Text(i)
		sent, isCut := job.Sent[i]
		if !isCut {
			sent = whole
		}
		before := showing(whole, sent)
		texts[i] = &before
		runs = append(runs, before.runsIn(&now, stays, starts, i, &steps)...)
	}
	return now.choose(c, runs, texts)
}

// runsIn finds the runs of an earlier text in a new one.
func (s *shown) runsIn(now *shown, stays staying, starts map[uint64]int, message int, steps *int) (runs []equalRun) {
	var w window
	last := equalRun{}
	for q, h := range s.hashes() {
		hash, full := w.add(h)
		start, ok := starts[hash]
		from := q + 2 - minRepeatLines
		if !full || !ok || last.end >= start && start-from == last.start-last.from {
			continue
		}
		end := start
		_, a := now.line(start)
		_, b := s.line(from)
		for *steps > 0 && now.has(end) && s.has(from+end-start) && !stays.has(end) {
			*steps--
			x, n := now.line(end)
			y, k := s.line(from + end - start)
			if x != y || (n == 0) != (k == 0) || n != 0 && n-k != a-b {
				break
			}
			end++
		}
		if last = (equalRun{start, end - 1, from, message}); end-start >= minRepeatLines {
			runs = append(runs, last)
		}
	}
	return runs
}

// choose returns references for runs that do not overlap. At each line the run that goes farthest
// wins, then the newest result. Lines around a change stay.
func (s *shown) choose(c *Conversation, runs []equalRun, texts map[int]*shown) (refs []sameLines) {
	total := s.lines.Len()
	for at := 1; at <= total; {
		best := equalRun{}
		for _, r := range runs {
			if r.start <= at && at <= r.end && r.end > best.end {
				best = r
			}
		}
		if best.end == 0 {
			at++
			continue
		}
		r := equalRun{at, best.end, best.from + at - best.start, best.message}
		at = best.end + 1
		if r.start > 1 {
			r.start, r.from = r.start+aroundChange, r.from+aroundChange
		}
		if r.end < total {
			r.end -= aroundChange
		}
		if ref, ok := s.refer(r, c.Messages[r.message].CallID, texts[r.message]); ok {
			refs = append(refs, ref)
		}
	}
	return refs
}

// refer makes a reference of a run if it is long enough and the earlier result really shows it.
func (s *shown) refer(r equalRun, call string, earlier *shown) (ref sameLines, ok bool) {
	if r.end-r.start+1 < minRepeatLines {
		return ref, false
	}
	lines := prune.Span{Start: r.start, End: r.end}
	there := prune.Span{Start: r.from, End: r.from + r.end - r.start}
	body := s.lines.Range(lines.Start, lines.End)
	shownThere, ok := earlier.view.Shown(there)
	_, isShown := s.view.Shown(lines)
	if !ok || !isShown || rawjson.Chars(body) < minRepeat || !strings.Contains(earlier.sent, strings.TrimSuffix(earlier.lines.Range(there.Start, there.End), "\n")) {
		return ref, false
	}
	return sameLines{lines, prune.Same{Call: call, Start: shownThere.Start, End: shownThere.End}}, true
}

// staying are the lines of a text that are never cut.
type staying struct {
	harness []prune.Span
	marks   map[int]bool // in which a client says that it has cut the text
}

func newStaying(lines prune.Lines) staying {
	s := staying{harness: harnessLines(lines)}
	if hasCutMark(lines.Range(1, lines.Len())) {
		s.marks = map[int]bool{}
		for i := 1; i <= lines.Len(); i++ {
			if isCutMark(lines.Line(i)) {
				s.marks[i] = true
			}
		}
	}
	return s
}

func (s staying) has(line int) bool {
	return s.marks[line] || slices.ContainsFunc(s.harness, func(h prune.Span) bool { return h.Start <= line && line <= h.End })
}

// resultOf returns the last result of a call before a message; -1: none.
func (c *Conversation) resultOf(call string, before int) int {
	for i := before - 1; i >= 0; i-- {
		if m := &c.Messages[i]; m.Role == Tool && m.CallID == call {
			return i
		}
	}
	return -1
}

// mayRefer reports whether a result may refer to earlier ones. It passes whole if it repeats a
// result that was cut, or answers the same request as one that was pruned: the agent wants the text.
func (c *Conversation) mayRefer(job Job) bool {
	r := repeat{c: c, result: job.Message}
	near, asked := 0, true
	for earlier := job.Message - 1; earlier >= 0 && near < nearResults; earlier-- {
		if !c.isResult(earlier) {
			continue
		}
		near++
		sent, isCut := job.Sent[earlier]
		isMasked := job.isMasked(earlier)
		if (isCut || isMasked) && r.of(earlier) {
			return false
		}
		if asked && r.asked().isSame(c.askOf(earlier)) {
			if isMasked || isCut && !onlyRefers(sent) {
				return false
			}
			asked = false // the latest decides
		}
	}
	return true
}

// onlyRefers reports whether every marker of a text refers to another result.
func onlyRefers(sent string) bool {
	return strings.Count(sent, "⟦PRUN") == len(prune.ReadReferences(sent))
}
