package chat

import (
	"slices"
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// Job is a result to be pruned, or one that was and whose bytes are needed again.
type Job struct {
	Message int
	Key     Key  // of the conversation up to the result: the pruned bytes are frozen under it
	Fresh   bool // never sent before
	Later   bool // earlier results were sent masked
	Frozen  bool // pruned only if bytes are frozen under a key; otherwise it was sent whole

	// ThreadKey identifies the result alone. If the server keeps the conversation, nothing else is
	// known of the context. The bytes are then frozen under this key too. Zero: none.
	ThreadKey Key

	// Only lines that an earlier result shows may go: it is short, or was requested again.
	Only bool

	By   Recovery       // recovery advice for its first marker; set by the caller
	Sent map[int]string // pruned forms of the results before it; set by the caller

	alike []int  // earlier results with lines that it may repeat, newest first
	forms *forms // how messages were sent before
}

// isMasked reports whether an earlier result was sent masked.
func (j *Job) isMasked(i int) bool {
	return j.forms != nil && i < len(j.forms.of) && j.forms.of[i].Kind == Masked
}

// Jobs lists the results to send pruned. A result that was already sent is pruned if it was then;
// without evidence it was sent whole. Big new results, after the last answer, are pruned. These
// pass whole: results requested again, recovered texts, and what this agent tends to read twice, by
// file or by tool. Of shorter ones, and of some of these, lines go that an earlier result shows.
func (c *Conversation) Jobs(s Pruning, past Past) []Job {
	forms := c.noteForms(past)
	off := past.Off || past.Record != nil && past.Record.Off || past.Sibling != nil && past.Sibling.Off
	known := max(forms.seen, c.answered())
	var jobs []Job
	isLater := false
	var twice *rereads
	for i := range c.Messages {
		m := &c.Messages[i]
		if !c.canCut(i) {
			continue
		}
		if i < known {
			switch {
			case i < len(forms.of) && forms.of[i].Kind == Pruned:
				jobs = append(jobs, Job{Message: i, Key: c.key(i + 1), Later: isLater, forms: forms})
			case i < len(forms.of) && forms.of[i].Kind == Masked:
				isLater = true
			case i < forms.seen:
			case c.Thread == ThreadCreate:
				jobs = append(jobs, Job{Message: i, Key: c.key(i + 1), ThreadKey: c.threadKey(i), Frozen: true})
			case past.Frozen:
				jobs = append(jobs, Job{Message: i, Key: c.key(i + 1), Frozen: true})
			}
			continue
		}
		if !c.isResult(i) {
			if s.Enabled && s.Arguments == ArgumentsOn && !off && c.mayCutArguments() {
				jobs = append(jobs, Job{Message: i, Key: c.key(i + 1), Fresh: true, Later: isLater, forms: forms})
			}
			continue
		}
		if !s.Enabled || off || m.Chars < s.least() || m.IsError && m.Chars < minCutError {
			continue
		}
		if twice == nil {
			twice = c.rereads(forms)
		}
		tool := c.relate().sinceName(i)
		if c.isRecovered(i, tool) || isSparedTool(tool) || twice.sparesTool(tool) {
			continue
		}
		job := Job{Message: i, Key: c.key(i + 1), Fresh: true, Later: isLater, forms: forms}
		job.Only = m.Chars < s.MinChars || twice.sparesFile(c.askOf(i)) || c.isAgain(i)
		if s.Repeats && c.canRefer() {
			job.alike = c.alikeBefore(i)
		}
		if job.Only && len(job.alike) == 0 {
			continue
		}
		if c.Thread != NoThread { // a new thread may have been sent in one that is lost
			job.ThreadKey = c.threadKey(i)
		}
		jobs = append(jobs, job)
	}
	return jobs
}

// minCutError is the least number of characters of a result that is pruned although its client
// marks it as an error.
const minCutError = 30_000

// threadKey identifies a result by its call and its text.
func (c *Conversation) threadKey(i int) Key {
	d := newDigest()
	d.write([]byte("thread"))
	d.write([]byte(c.Messages[i].CallID))
	d.take(c.Messages[i].said)
	return d.sum()
}

// isRecovered reports whether a result is a recovered original: by its tool, by an original's id in
// the call, or by its own mark.
func (c *Conversation) isRecovered(i int, tool string) bool {
	return isRecovery(tool) || mask.NamesOriginal(c.callOf(i)) || mask.IsRecovered(c.bytes(c.Messages[i].content))
}

// callOf returns the call of a result as the client wrote it.
func (c *Conversation) callOf(result int) []byte {
	r := c.relate()
	if asked := r.answer(r.of[result].since); asked != nil {
		return c.bytes(asked.call.arguments)
	}
	return nil
}

// isRecovery recognizes the tools that recover an original by the end of their names: clients and
// aggregates add prefixes.
func isRecovery(tool string) bool {
	return slices.ContainsFunc(mask.RecoveryTools(), func(name string) bool { return strings.HasSuffix(tool, name) })
}

// Asked says why a text was asked for.
type Asked struct {
	Goal  string       // what the call says, and what the assistant said last
	Parts []prune.Part // what else tells what is wanted
	Call  string       // the call's part of Goal

	// Known tells, for a text, which of its names the model has from elsewhere; nil: none.
	Known func(text string) func(name string) bool
}

// Refers reports whether the pruned form depends on how earlier results are sent.
func (j *Job) Refers() bool { return len(j.alike) > 0 }

// jobAgain completes the job of a result that was sent cut, for the case that its bytes are lost.
func (c *Conversation) jobAgain(s Pruning, job Job) Job {
	if s.Repeats && c.canRefer() {
		job.Only = c.Messages[job.Message].Chars < s.MinChars || c.isAgain(job.Message)
		job.alike = c.alikeBefore(job.Message)
	}
	return job
}

// Prune prunes the result of a job for the goal of the call that produced it; id is that
// of its original. It reports false where the result is to pass whole: too little would be
// won, or expired, which is polled and may be nil, says that it takes too long.
func (c *Conversation) Prune(s Pruning, job Job, id string, expired func() bool) (string, bool) {
	if !c.isResult(job.Message) {
		return c.pruneArguments(job, id)
	}
	if !job.Fresh {
		job = c.jobAgain(s, job)
	}
	text := c.Text(job.Message)
	w := wanted{by: job.By, id: id, only: job.Only}
	if len(job.alike) > 0 && c.mayRefer(job) {
		w.refs = c.repeats(job, text)
	}
	if w.only && len(w.refs) == 0 {
		return "", false
	}
	goal, parts, call := c.goal(job.Message)
	w.Asked = Asked{Goal: goal, Parts: parts, Call: call, Known: func(text string) func(string) bool { return c.knownNames(job.Message, text, job.Sent) }}
	return s.prune(text, w, expired)
}

// Prune prunes a text that stands in no conversation of ours. Its result and expired are as in [Conversation.Prune].
func (s Pruning) Prune(text string, asked Asked, by Recovery, id string, expired func() bool) (string, bool) {
	return s.prune(text, wanted{Asked: asked, by: by, id: id}, expired)
}

// wanted says how a text is cut.
type wanted struct {
	Asked
	by   Recovery    // for its first marker
	id   string      // of its original
	refs []sameLines // lines that are shown elsewhere
	only bool        // nothing but these may go
}

func (s Pruning) prune(text string, w wanted, expired func() bool) (string, bool) {
	if at, ok := rawjson.Embedded(text); ok { // its lines go, and what is left is JSON again
		inner := rawjson.Unquote([]byte(text[at.Start:at.End]))
		out, ok := s.pruneText(inner, w, expired)
		return text[:at.Start] + string(rawjson.AppendQuoted(nil, out)) + text[at.End:], ok
	}
	return s.pruneText(text, w, expired)
}

// pruneText prunes the lines of a text.
func (s Pruning) pruneText(text string, w wanted, expired func() bool) (string, bool) {
	r := newRendering(text, w.id, w.by)
	r.refs = r.worthReferring(w.refs)
	if !w.only {
		if out, ok := s.pruneFor(w.Asked, r, expired); ok {
			return out, true
		}
	}
	if len(r.refs) == 0 || expired != nil && expired() {
		return "", false
	}
	out, _ := r.renderPruned(nil, 0, nil)
	return out, true
}

// pruneFor prunes the lines of a text for a goal.
func (s Pruning) pruneFor(asked Asked, r rendering, expired func() bool) (string, bool) {
	text := r.text
	chars := rawjson.Chars(text)
	if isHandBack(text) {
		return "", false
	}
	var known func(name string) bool
	if asked.Known != nil {
		known = asked.Known(text)
	}
	req := prune.Request{
		Text: text, Goal: asked.Goal, Parts: asked.Parts, Source: sourceOf(asked.Call, text), Structure: prune.Enclosing,
		MinKeepLines: s.MinKeepLines, Expired: expired, Fill: true, Names: true, Known: known, Marker: shortMarker,
	}
	for _, stays := range r.stay { // on top of the target
		s.TargetChars += rawjson.Chars(r.lines.Range(stays.Start, stays.End))
	}
	out, target := "", 0.0
	if prune.FormOf(text) == prune.OneLine {
		target = max(aim*float64(s.TargetChars), textShare*float64(chars))
		out = r.snipLine(target, req, chars)
	} else {
		reading := prune.Read(req)
		target = s.targetOf(reading, chars)
		out = r.pruneLines(s, target, reading, req, chars)
	}
	if expired != nil && expired() {
		return "", false
	}
	out = r.shortenLines(out, int(target/aim))
	if float64(rawjson.Chars(out)) > worthPruning*float64(chars) || hasCutMark(text) && losesCutMark(text, out) {
		return "", false
	}
	return out, true
}

const (
	// worthPruning is the largest remaining share for which pruning is worth showing the model only
	// a part.
	worthPruning = 0.9
	// aim is the part of the target that is aimed at, so that most results meet it.
	aim = 0.9
	// nameShare is the part of target_chars for the names of removed text.
	nameShare = 0.3
	// maxTries limits the search for a ratio that meets the target.
	maxTries = 5
)

// Remaining shares of a text, as measured in docs/pruning-quality.md.
const (
	// fileShare is the remaining share of a program if the goal names none of its definitions: any
	// of them may be edited next.
	fileShare = 0.55
	// textShare is the least remaining share of any other text.
	textShare = 0.15
	// besideNamed is the part of the target that remains beside the definitions that the goal
	// names; leastNamed is the least part with them.
	besideNamed, leastNamed = 0.3, 0.6
)

// targetOf returns the number of characters to prune a text to. It grows with the text, and is
// lower if the goal says what is wanted.
func (s Pruning) targetOf(reading *prune.Reading, chars int) float64 {
	target := aim * float64(s.TargetChars)
	named := float64(reading.Named())
	switch {
	case !reading.IsProgram(): // failing tests
		return max(target, textShare*float64(chars), named+besideNamed*target)
	case named > 0:
		return max(leastNamed*target, named+besideNamed*target)
	}
	return max(target, fileShare*float64(chars))
}

// pruneLines removes lines until the target is met, as far as the bounds allow.
func (r rendering) pruneLines(s Pruning, target float64, reading *prune.Reading, req prune.Request, chars int) string {
	room := nameShare * aim * float64(s.TargetChars)
	best, keep := req.Text, (target-room)/float64(chars)
	if len(r.refs) > 0 {
		best, _ = r.renderPruned(nil, 0, nil)
	}
	for range maxTries {
		if len(r.refs) > 0 && float64(rawjson.Chars(best)) <= target {
			break
		}
		ratio := min(1-keep, s.MaxPruneRatio)
		plan := reading.Plan(ratio)
		if len(plan.Blocks) == 0 {
			break
		}
		out, markers := r.renderPruned(without(withoutCutMarks(req.Text, plan.Blocks), r.stay), int(room), req.Known)
		best = out
		n := float64(rawjson.Chars(out))
		if n <= target || ratio >= s.MaxPruneRatio {
			break
		}
		// The remaining lines must make room for the markers.
		left := max(target-float64(markers), target/4)
		keep *= 0.98 * left / max(n-float64(markers), left)
	}
	return best
}

// snipLine removes parts of a text that is mostly one huge line.
func (r rendering) snipLine(target float64, req prune.Request, chars int) string {
	req.MaxPruneRatio = max(0, 1-target/float64(chars))
	isFirst := true
	snips := slices.DeleteFunc(prune.Plan(req).Snips, func(snip prune.Snip) bool { return r.stays(snip.Line) })
	return prune.Splice(req.Text, snips, func(snip prune.Snip) string {
		defer func() { isFirst = false }()
		return r.markChars(snip.Start, snip.End, isFirst)
	})
}

// markChars returns the marker for characters of the text, from 0, end exclusive.
func (r rendering) markChars(start, end int, isFirst bool) string {
	return r.told(prune.Mark{Unit: prune.InChars, Start: start, End: end}, isFirst)
}

// minLine is the least number of characters of a long line that stay. At least as many must go for
// a marker to be worth it.
const minLine = 80

// shortenLines cuts the middle out of the longest lines until the target is met. It is for a text
// of a few huge lines. Lines with a marker stay unchanged.
func (r rendering) shortenLines(out string, target int) string {
	if rawjson.Chars(out) <= target+target/10 {
		return out
	}
	lines := strings.SplitAfter(out, "\n")
	level := max(lineLevel(lines, target), minLine)
	var b strings.Builder
	told := strings.Contains(out, r.id) // one marker has the id, for all
	// End of the previous lines in the text, in bytes and in characters.
	at, chars := 0, 0
	staying := rendering{stay: harnessLines(prune.IndexLines(out))}
	for i, line := range lines {
		n := rawjson.Chars(line)
		if n <= level+minLine || prune.HasMark(line) || staying.stays(i+1) {
			b.WriteString(line)
			continue
		}
		// Remaining lines are whole and in order.
		start := at + max(0, strings.Index(r.text[at:], line))
		chars += rawjson.Chars(r.text[at:start])
		head := level * 2 / 3
		from, to := offset(line, head), offset(line, n-(level-head))
		b.WriteString(line[:from] + " " + r.markChars(chars+head, chars+n-(level-head), !told) + " ")
		b.WriteString(line[to:])
		told, at, chars = true, start+len(line), chars+n
	}
	return b.String()
}

// lineLevel returns the length to which the longest lines must be cut to meet the target.
func lineLevel(lines []string, target int) int {
	lengths := make([]int, len(lines))
	for i, l := range lines {
		lengths[i] = rawjson.Chars(l)
	}
	slices.Sort(lengths)
	left := target
	for i, n := range lengths {
		if share := left / (len(lengths) - i); share < n {
			return share
		}
		left -= n
	}
	return target
}

// offset returns the start of character number n of a text.
func offset(s string, n int) int {
	for i := range len(s) {
		if s[i]>>6 == 0x80>>6 { // within a character
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
