package chat

import (
	"path"
	"slices"
	"strings"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// How much of each part of a goal counts.
const (
	maxSaid   = 1000 // the end of the assistant's last text, where it says what it will look at
	maxTask   = 600  // the head of the user's task; what follows is often boilerplate
	maxFailed = 400  // of the error lines of the result before
)

// Weights of the parts of a goal beside the call and the assistant's last text.
const (
	taskWeight   = 1
	failedWeight = .5
)

// goal returns what a result was requested for: the call and the assistant's last text. parts adds
// the task, which is the head of the first and of the latest user message. It also adds the errors
// of the results just before. All of it precedes the result, so later messages cannot change it.
func (c *Conversation) goal(result int) (goal string, parts []prune.Part, call string) {
	id := c.Messages[result].CallID
	var said string
	first, latest := -1, -1
	for i := result - 1; i >= 0; i-- {
		m := &c.Messages[i]
		switch m.Role {
		case User:
			first = i
			if latest < 0 {
				latest = i
			}
		case Assistant:
			if call == "" {
				call = c.arguments(m, id)
			}
			if said == "" {
				said = c.lastText(m)
			}
		}
	}
	if first >= 0 {
		parts = append(parts, prune.Part{Text: c.firstText(&c.Messages[first]), Weight: taskWeight})
	}
	if latest > first {
		parts = append(parts, prune.Part{Text: c.firstText(&c.Messages[latest]), Weight: taskWeight})
	}
	if failed := c.failedBefore(result); failed != "" {
		parts = append(parts, prune.Part{Text: failed, Weight: failedWeight})
	}
	return call + "\n" + said, parts, call
}

// Goal returns, for display, what a pruned result was requested for: the call, the assistant's text
// before it, and the user's task. It returns "" for a masked result, since any old result is
// masked.
func (p *Plan) Goal(c Cut) string {
	if c.Kind != Pruned || c.Arguments {
		return ""
	}
	goal, parts, _ := p.c.goal(c.Message)
	for _, part := range parts {
		if part.Weight == taskWeight {
			goal += "\n" + part.Text
		}
	}
	lines := strings.Split(goal, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" }), "\n")
}

// failedBefore returns the error lines of a result of the previous turn. The assistant had seen it
// when it made the call.
func (c *Conversation) failedBefore(result int) string {
	turns := 0
	for i := result - 1; i >= 0 && turns < 2; i-- {
		if c.Messages[i].Role == Assistant {
			turns++
		}
		if turns != 1 || !c.isResult(i) || c.Messages[i].Chars > 100_000 {
			continue
		}
		var b strings.Builder
		for line := range strings.Lines(c.Text(i)) {
			if startsLikeError(strings.TrimRight(line, "\r\n")) && b.Len() < maxFailed {
				b.WriteString(line[:min(len(line), maxFailed)])
			}
		}
		if b.Len() > 0 {
			return strings.ToValidUTF8(b.String(), "")
		}
	}
	return ""
}

// arguments returns the text of a message's call with that id, without its JSON.
func (c *Conversation) arguments(m *Message, id string) string {
	for _, call := range m.Calls {
		if call.ID != id || call.arguments.end == 0 {
			continue
		}
		text := string(c.bytes(call.arguments))
		if text[0] == '"' { // some formats write arguments as JSON, others as a string with JSON
			text = rawjson.Unquote(c.bytes(call.arguments))
		}
		return CallText(text)
	}
	return ""
}

// CallText is what the arguments of a call say, without the JSON around it.
func CallText(arguments string) string {
	values, err := rawjson.LongStrings([]byte(arguments), MaxDepth, 0)
	if err != nil {
		return arguments
	}
	var b strings.Builder
	for _, v := range values {
		b.WriteString(rawjson.Unquote([]byte(arguments[v.Start:v.End])))
		b.WriteByte('\n')
	}
	return b.String()
}

// lastText is the end of a message's text.
func (c *Conversation) lastText(m *Message) string {
	if m.text.end == 0 {
		return ""
	}
	return clipSaid(rawjson.Unquote(c.bytes(m.text)))
}

func clipSaid(text string) string {
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[len(text)-maxSaid:], "")
	}
	return text
}

// firstText returns the head of a message's text, without a tag that a client puts around it.
func (c *Conversation) firstText(m *Message) string {
	if m.text.end == 0 {
		return ""
	}
	return clipTask(rawjson.Unquote(c.bytes(m.text)))
}

func clipTask(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxTask {
		text = strings.ToValidUTF8(text[:maxTask], "")
	}
	return text
}

// AskedBy is why a text was asked for that a client's program hands over outside of a conversation: the arguments of the call, what the
// assistant said before it, and what the user asked for, the first and the latest. Known names are those in said.
func AskedBy(arguments, assistant string, tasks []string, said [][]byte) Asked {
	a := Asked{Call: CallText(arguments)}
	a.Goal = a.Call + "\n" + clipSaid(assistant)
	for _, task := range tasks {
		a.Parts = append(a.Parts, prune.Part{Text: clipTask(task), Weight: taskWeight})
	}
	if len(said) > 0 {
		a.Known = func(text string) func(name string) bool { return knownIn(text, said) }
	}
	return a
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
	look := prune.Guess("", text)
	switch {
	case look == prune.Logs:
		return look
	case found:
		return kind
	case strings.Count(text, "\n") < 3 && !strings.HasPrefix(text, "# "):
		return prune.Code // too little to tell
	}
	return look
}

func notPath(r rune) bool {
	return r >= 0x80 || !isWordByte(byte(r&0x7f)) && !strings.ContainsRune("/.-+", r)
}
