package chat

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// If a result is requested again, its first form was not enough. Clients write something new into
// every result, such as a counter or a duration, so equal bytes are not required.

// isAgain reports whether a result repeats an earlier one, or answers the same request.
func (c *Conversation) isAgain(result int) bool {
	r := repeat{c: c, result: result}
	near := 0
	for earlier := result - 1; earlier >= 0 && near < nearResults; earlier-- {
		if !c.isResult(earlier) {
			continue
		}
		near++
		if r.of(earlier) || r.asked().isSame(c.askOf(earlier)) {
			return true
		}
	}
	return false
}

// Bounds of the search for equal results. Beyond them a result counts as new.
const (
	nearResults = 512      // earlier results that one is compared with
	maxCompared = 64 << 20 // characters compared in a conversation
)

// repeatsAny reports whether a result repeats one of the others before it.
func (c *Conversation) repeatsAny(result int, others []int) bool {
	r := repeat{c: c, result: result}
	return slices.ContainsFunc(others, func(earlier int) bool { return earlier < result && r.of(earlier) })
}

// repeat is a result that may repeat another.
type repeat struct {
	c      *Conversation
	result int
	body   string // its text, decoded on demand
}

// alike is the maximum difference in characters between two equal results.
const alike = 2048

// of reports whether it repeats an earlier result, or a part of it, ignoring the client's text
// around them.
func (r *repeat) of(earlier int) bool {
	a, b := &r.c.Messages[r.result], &r.c.Messages[earlier]
	if a.said == b.said {
		return true
	}
	seen := r.c.relate()
	if seen.compared > maxCompared || a.Chars < worthFetching || a.Chars > b.Chars+alike || a.Chars < b.Chars-alike && !r.asked().isAbout(r.c.askOf(earlier)) {
		return false
	}
	seen.compared += b.Chars
	if r.body == "" {
		r.body = bodyOf(r.c.Text(r.result))
	}
	return len(r.body) >= worthFetching/2 && strings.Contains(bodyOf(r.c.Text(earlier)), r.body)
}

func (r *repeat) asked() ask { return r.c.askOf(r.result) }

// clientLines are prefixes of lines that clients write before or after a tool's output.
var clientLines = []string{
	"Chunk ID: ", "Wall time", "Process exited with code ", "Original token count: ", "Total output lines: ", "Output:", "Exit code: ",
	"Script completed", "Script running with cell ID ", "Process Group PGID: ", "Background PIDs: ", "Exit Code: ", "Signal: ", "(End of file", "</",
}

// bodyOf returns a result without the client's text around it.
func bodyOf(text string) string {
	if strings.HasPrefix(text, `{"output":`) { // an older form of Codex includes the duration
		if i := strings.LastIndex(text, `,"metadata":{`); i > 0 {
			text = text[:i]
		}
	}
	lines := prune.IndexLines(text)
	first, last := 1, lines.Len()
	for _, s := range harnessLines(lines) {
		switch {
		case s.Start <= first+frameOf:
			first = max(first, s.End+1)
		default:
			last = min(last, s.Start-1)
		}
	}
	for first <= last && isClientLine(lines.Line(first)) {
		first++
	}
	for last >= first && isClientLine(lines.Line(last)) {
		last--
	}
	return strings.TrimSpace(lines.Range(first, last))
}

// frameOf is how many header lines may precede the client's lines.
const frameOf = 8

func isClientLine(line string) bool {
	line = strings.TrimSpace(line)
	if line == "" {
		return true
	}
	for _, start := range clientLines {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// ask is what a call asks for.
type ask struct {
	tool     string
	file     string // the file to read; "": none
	from, to int    // lines of it
	rest     Key    // of everything else that the result depends on
}

var (
	fileMembers  = wordSet("file_path filePath path absolute_path notebook_path target_file filename file relative_path")
	whatMembers  = wordSet("command cmd script code pattern query regex url uri")
	fromMembers  = wordSet("offset start_line startLine line_start start")
	toMembers    = wordSet("end_line endLine line_end end")
	limitMembers = wordSet("limit line_count num_lines")
	// idleMembers are a model's remarks about a call, and its timeouts: they do not change the
	// result.
	idleMembers = wordSet("description explanation justification reason timeout timeout_ms yield_time_ms max_output_tokens " +
		"max_tokens task_progress requires_approval sandbox_permissions with_escalated_permissions run_in_background is_background")
)

// askOf returns what the call of a result asks for. It is zero for a call that names no file,
// command or search.
func (c *Conversation) askOf(result int) ask {
	r := c.relate()
	a, found := r.asks[result]
	if !found {
		if r.asks == nil {
			r.asks = map[int]ask{}
		}
		a = c.readAsk(r, result)
		r.asks[result] = a
	}
	return a
}

func (c *Conversation) readAsk(r *results, result int) ask {
	asked := r.answer(r.of[result].since)
	if asked == nil || asked.call.arguments.end == 0 {
		return ask{}
	}
	doc := c.bytes(asked.call.arguments)
	if doc[0] == '"' {
		doc = []byte(rawjson.Unquote(doc))
	}
	return readAsk(asked.name, doc)
}

// AskKey names what a call asks for, whichever lines of it; not ok: it names no file, command or search.
func AskKey(tool string, arguments []byte) (key Key, ok bool) {
	a := readAsk(tool, arguments).whole()
	if a.tool == "" {
		return Key{}, false
	}
	return keyOf([]byte(a.tool + "\x00" + a.file + "\x00" + string(a.rest[:]))), true
}

// readAsk is what a call of a tool with these arguments asks for.
func readAsk(tool string, doc []byte) (a ask) {
	if len(doc) == 0 {
		return a
	}
	a = ask{tool: tool, to: math.MaxInt}
	if doc[0] != '{' { // what Codex has run
		a.rest = keyOf(doc)
		return a
	}
	isNamed, limit := false, 0
	var rest []byte
	for name, at := range rawjson.Members(doc) {
		raw := at.Of(doc)
		n, err := strconv.Atoi(string(raw))
		switch {
		case idleMembers[string(name)]:
		case fileMembers[string(name)] && raw[0] == '"':
			a.file, isNamed = rawjson.Unquote(raw), true
		case fromMembers[string(name)] && err == nil:
			a.from = n
		case toMembers[string(name)] && err == nil:
			a.to = n
		case limitMembers[string(name)] && err == nil:
			limit = n
		default:
			isNamed = isNamed || whatMembers[string(name)]
			rest = append(append(append(append(rest, name...), '='), raw...), ';')
		}
	}
	if !isNamed {
		return ask{}
	}
	if limit > 0 {
		a.to = a.from + limit - 1
	}
	a.rest = keyOf(rest)
	return a
}

func keyOf(text []byte) Key {
	d := newDigest()
	d.write(text)
	return d.sum()
}

// isAbout reports whether two calls ask for the same file, command or search.
func (a ask) isAbout(b ask) bool {
	return a.tool != "" && a.tool == b.tool && a.file == b.file && a.rest == b.rest
}

// whole returns the call without its range of lines, so that all parts of a file are equal.
func (a ask) whole() ask {
	a.from, a.to = 0, 0
	return a
}

// isSame reports whether they also ask for some of the same lines.
func (a ask) isSame(b ask) bool { return a.isAbout(b) && a.from <= b.to && b.from <= a.to }
