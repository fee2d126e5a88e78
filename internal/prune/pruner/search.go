package pruner

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/prune"
	"secateur/internal/rawjson"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	defaultMatches = 100
	searchTime     = 2 * time.Second // then the search ends with its matches so far
	maxShown       = 100_000         // bytes of matches in a response
	aroundBrief    = 64              // bytes that a response has around each match
	wholeLine      = 500             // lines of at most this many bytes are shown whole
	aroundMatch    = 200             // bytes shown on either side of a match in a longer line
	pieceSize      = 64 << 10        // bytes of a line searched at once, if the pattern is cheap
	pieceOverlap   = 1 << 10         // bytes that two such pieces share
	// Pattern cost times bytes searched between two checks of the clock; about a tenth of a second.
	maxEffort = 4_000_000
)

func (s *Server) searchText(ctx context.Context, arguments jsontext.Value) (toolserver.Result, *wire.Error) {
	args := toolserver.Read(arguments)
	id := args.Text("prune_id")
	wanted, err := compilePattern(args.Text("pattern"), args.Bool("regex"), args.Bool("ignore_case"))
	if err != nil {
		return toolserver.Result{}, wire.InvalidParams("/pattern", err.Error())
	}
	limit, bad := maxChars(ctx, args, maxShown)
	if bad != nil {
		return toolserver.Result{}, bad
	}
	text, failed := s.original(ctx, id)
	if failed != nil {
		return toolserver.Result{}, failed
	}
	most := defaultMatches
	if args.Has("max_matches") {
		most = args.Integer("max_matches")
	}
	watch := stopwatch{now: s.opt.Now, limit: searchTime}
	watch.start()
	f := finder{
		pattern: wanted, text: text, lines: prune.IndexLines(text), most: most, room: limit,
		expired: func() bool { return watch.expired() || ctx.Err() != nil },
	}
	if toolserver.BriefChars(ctx) > 0 {
		f.around = aroundBrief
	}
	f.run()

	out := f.appendMatches([]byte(`{"matches":[`))
	out = rawjson.AppendQuoted(append(out, `],"metadata":{"prune_id":`...), id)
	out = rawjson.AppendQuoted(append(out, `,"pattern":`...), args.Text("pattern"))
	out = appendBool(out, "regex", args.Bool("regex"))
	out = appendBool(out, "ignore_case", args.Bool("ignore_case"))
	out = appendInt(out, "total_lines", f.lines.Len())
	out = appendInt(out, "total_chars", rawjson.Chars(text))
	out = appendBool(out, "truncated", f.more)
	out = append(out, `},"warnings":[`...)
	if f.late {
		out = append(out, `"`+warnTimeout+`"`...)
	}
	s.returned(id, f.matched())
	return answer(ctx, append(out, `]}`...)), nil
}

// finder searches for a pattern line by line.
type finder struct {
	pattern pattern
	text    string
	lines   prune.Lines
	most    int // maximum number of matches
	room    int // maximum size of the matches, in bytes
	around  int // bytes that count for each match besides its text
	expired func() bool

	found  []match
	effort int  // since the last check of the clock
	shown  int  // bytes
	more   bool // some matches were not found
	late   bool // because time ran out
}

// match is a part of a line to show: the whole line, or the surroundings of a match in a long one.
// Offsets are bytes.
type match struct {
	line       int
	start, end int
	clipped    bool
}

func (f *finder) run() {
	offset := 0
	for n := 1; n <= f.lines.Len() && !f.more; n++ {
		line := f.lines.Line(n)
		f.line(n, offset, withoutEnding(line))
		offset += len(line)
	}
}

// spend records the searched bytes, and ends the search when its time is up.
func (f *finder) spend(bytes int) {
	const perCall = 1024 // fixed cost per line, in bytes
	if f.effort += (bytes + perCall) * f.pattern.cost; f.effort < maxEffort {
		return
	}
	f.effort = 0
	if f.expired() {
		f.late, f.more = true, true
	}
}

// line searches one line, which starts at an offset of the text. A short matching line is shown
// whole; a long one is shown around each match.
func (f *finder) line(n, offset int, line string) {
	if len(line) <= wholeLine {
		if f.pattern.MatchString(line) {
			f.add(match{n, offset, offset + len(line), false})
		}
		f.spend(len(line))
		return
	}
	l := longLine{finder: f, n: n, offset: offset, text: line}
	if len(line) <= maxEffort/f.pattern.cost {
		first := f.pattern.FindStringIndex(line)
		f.spend(len(line))
		if first == nil {
			return
		}
		l.show(first[0], first[1])
	}
	size := min(pieceSize, max(maxEffort/f.pattern.cost, 2*pieceOverlap))
	for from := l.done; !f.more; from += size - pieceOverlap {
		to := min(from+size, len(line))
		l.search(charStart(line, from), charStart(line, to))
		if to == len(line) {
			return
		}
	}
}

// longLine is a line that is shown in parts.
type longLine struct {
	*finder
	n, offset int
	text      string
	done      int // everything before it was shown or belongs to a shown match
}

// search looks through a piece of the line for one match at a time. A pattern can look far beyond
// each match, so finding all at once could take quadratic time. A pattern with assertions can be
// wrong at the end of a piece within the line. Such a match is left to the next piece, which sees
// beyond.
func (l *longLine) search(from, to int) {
	for from = max(from, l.done); from < to && !l.more; from = max(from, l.done) {
		start, end, ok := l.find(from, to)
		l.spend(to - from)
		if !ok || end == to && to < len(l.text) && l.pattern.asserts {
			return
		}
		l.show(start, end)
	}
}

// find returns the first match at or after an offset. The pattern also sees the character before,
// so a match that starts there is skipped.
func (l *longLine) find(from, to int) (start, end int, ok bool) {
	before := charStart(l.text, max(0, from-1))
	for _, m := range l.pattern.FindAllStringIndex(l.text[before:to], 2) {
		if start = before + m[0]; start >= from {
			return start, before + m[1], true
		}
	}
	return 0, 0, false
}

// show adds the surroundings of a match to the results.
func (l *longLine) show(start, end int) {
	a := charStart(l.text, max(0, start-aroundMatch, l.done))
	b := charStart(l.text, min(len(l.text), end+aroundMatch, a+2*wholeLine))
	l.add(match{l.n, l.offset + a, l.offset + b, true})
	l.done = max(b, end)
}

func (f *finder) add(m match) {
	f.shown += m.end - m.start + f.around
	if len(f.found) == f.most || f.shown > f.room {
		f.more = true
		return
	}
	f.found = append(f.found, m)
}

// matched returns the text of all matches.
func (f *finder) matched() string {
	var b strings.Builder
	for _, m := range f.found {
		b.WriteString(f.text[m.start:m.end])
		b.WriteByte('\n')
	}
	return b.String()
}

// appendMatches writes the matches with offsets in characters, as recover_chars expects them.
func (f *finder) appendMatches(out []byte) []byte {
	at, chars := 0, 0
	for i, m := range f.found {
		if i > 0 {
			out = append(out, ',')
		}
		chars += rawjson.Chars(f.text[at:m.start])
		at = m.start
		out = append(out, `{"line":`...)
		out = strconv.AppendInt(out, int64(m.line), 10)
		out = appendInt(out, "start", chars)
		out = appendInt(out, "end", chars+rawjson.Chars(f.text[m.start:m.end]))
		out = rawjson.AppendQuoted(append(out, `,"text":`...), f.text[m.start:m.end])
		out = append(appendBool(out, "clipped", m.clipped), '}')
	}
	return out
}

// withoutEnding returns a line without its line ending.
func withoutEnding(line string) string {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	}
	return line
}

// charStart moves an offset back to the start of a character.
func charStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}
