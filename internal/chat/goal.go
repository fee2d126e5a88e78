package chat

import (
	"path"
	"strings"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// maxSaid is how much of what the assistant said last counts: the end, where it says what
// it is going to look at.
const maxSaid = 1000

// goal is what the result of a message was asked for: what the call says, and what the
// assistant said last. Where it said nothing, the user's last words stand in. All of it
// stands before the result, so later messages cannot change it.
func (c *Conversation) goal(result int) (goal, call string) {
	id := c.Messages[result].CallID
	var args, said, asked string
	for i := result - 1; i >= 0; i-- {
		m := &c.Messages[i]
		switch {
		case m.Role == User && asked == "":
			asked = c.lastText(m)
		case m.Role == Assistant:
			if args == "" {
				args = c.arguments(m, id)
			}
			if said = c.lastText(m); said != "" {
				i = 0 // enough
			}
		}
	}
	if said == "" {
		said = asked
	}
	return args + "\n" + said, args
}

// arguments is what a message's call of that id says, without the JSON around it.
func (c *Conversation) arguments(m *Message, id string) string {
	for _, call := range m.Calls {
		if call.ID != id || call.arguments.end == 0 {
			continue
		}
		text := rawjson.Unquote(c.bytes(call.arguments))
		values, err := rawjson.LongStrings([]byte(text), MaxDepth, 0)
		if err != nil {
			return text
		}
		var b strings.Builder
		for _, v := range values {
			b.WriteString(rawjson.Unquote([]byte(text[v.Start:v.End])))
			b.WriteByte('\n')
		}
		return b.String()
	}
	return ""
}

// lastText is the end of a message's text.
func (c *Conversation) lastText(m *Message) string {
	if m.text.end == 0 {
		return ""
	}
	text := rawjson.Unquote(c.bytes(m.text))
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[len(text)-maxSaid:], "")
	}
	return text
}

// sourceOf guesses what kind of text a result is: by the files that the call names, else by
// what the call runs, else by how the lines look.
func sourceOf(call, text string) prune.Source {
	kind, found := prune.Code, false
	for word := range strings.FieldsFuncSeq(call, notPath) {
		switch strings.ToLower(path.Ext(word)) {
		case ".md", ".rst", ".txt", ".html", ".htm", ".adoc", ".tex":
			kind, found = prune.Docs, true
		case ".log", ".out":
			return prune.Logs
		case ".py", ".go", ".js", ".ts", ".tsx", ".jsx", ".java", ".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".rb", ".php", ".cs", ".kt",
			".swift", ".scala", ".sh", ".sql", ".vue", ".css", ".json", ".yaml", ".yml", ".toml", ".xml", ".cfg", ".ini":
			kind, found = prune.Code, true
		}
	}
	if looksLikeLog(text) {
		return prune.Logs
	}
	if found {
		return kind
	}
	if strings.HasPrefix(strings.TrimSpace(text), "# ") {
		return prune.Docs
	}
	return prune.Code
}

func notPath(r rune) bool {
	return r >= 0x80 || !isWordByte(byte(r&0x7f)) && !strings.ContainsRune("/.-+", r)
}

// looksLikeLog tells what a program wrote while it ran: lines that start with a time, a
// level or the word of a test's outcome, or a traceback at a line's start.
func looksLikeLog(text string) bool {
	lines, hits := 0, 0
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		lines++
		if startsLikeError(line) || startsLikeLog(line) {
			hits++
		}
	}
	return hits >= 3 && hits*25 >= lines
}

func startsLikeLog(line string) bool {
	if len(line) >= 10 && isDigit(line[0]) && isDigit(line[1]) && (line[4] == '-' && line[7] == '-' || line[2] == ':' && line[5] == ':') {
		return true
	}
	line = strings.TrimLeft(line, "[ ")
	for _, w := range []string{"INFO", "DEBUG", "WARN", "ERROR", "FATAL", "TRACE", "FAILED", "PASSED", "FAIL", "PASS", "ok ", "--- ", "=== ", "====", "E   "} {
		if strings.HasPrefix(line, w) {
			return true
		}
	}
	return strings.HasSuffix(line, "... ok") || strings.HasSuffix(line, "... FAIL") || strings.HasSuffix(line, "... ERROR")
}
