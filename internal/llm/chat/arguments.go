package chat

import (
	"bytes"
	"slices"
	"strings"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// A model's own calls come back with every later request: whole files that it wrote, scripts that it
// ran. Long strings in them are cut when they are first sent back, and never later: a model may have
// bound its reasoning to what was sent.

// Values of [Pruning.Arguments].
const (
	ArgumentsOff = "off"
	ArgumentsOn  = "on"
)

const (
	// minArgument is the least number of characters of a string that is cut.
	minArgument = 1000
	// argumentHead is how many characters of its beginning stay, in whole lines.
	argumentHead = 200
	// argumentNames is how many characters of names its marker has.
	argumentNames = 220
	// minQuote is the least number of characters by which a later call quotes a text.
	minQuote = 20
)

// argument is a long string in the arguments of a call.
type argument struct {
	call int          // index in its message
	at   rawjson.Span // in the call's document, with quotes; empty: the document is the text
	text string
}

// hasArguments reports whether a message has a call whose arguments may be cut.
func (c *Conversation) hasArguments(i int) bool {
	if i < 0 || i >= len(c.Messages) || c.Messages[i].Role != Assistant {
		return false
	}
	return slices.ContainsFunc(c.Messages[i].Calls, func(call Call) bool { return call.arguments.end-call.arguments.start >= minArgument })
}

// canCut reports whether a message is a result or a call that can be cut.
func (c *Conversation) canCut(i int) bool { return c.isResult(i) || c.hasArguments(i) }

// document returns the arguments of a call, decoded if a format writes them as a string.
func (c *Conversation) document(call *Call) (doc []byte, isString bool) {
	if doc = c.bytes(call.arguments); len(doc) > 0 && doc[0] == '"' {
		return []byte(rawjson.Unquote(doc)), true
	}
	return doc, false
}

// longArguments lists the long strings in a message's calls.
func (c *Conversation) longArguments(i int) (all []argument) {
	for k := range c.Messages[i].Calls {
		call := &c.Messages[i].Calls[k]
		if call.arguments.end-call.arguments.start < minArgument {
			continue
		}
		doc, isString := c.document(call)
		if isString && c.Format == Responses && !bytes.HasPrefix(rawjson.Trim(doc), []byte("{")) {
			// The input of a custom tool.
			if text := string(doc); rawjson.Chars(text) >= minArgument {
				all = append(all, argument{call: k, text: text})
			}
			continue
		}
		long, err := rawjson.LongStrings(doc, MaxDepth, minArgument-1)
		if err != nil {
			continue // a call that no tool understands
		}
		for _, s := range long {
			if bytes.HasPrefix(rawjson.Trim(doc[s.End:]), []byte(":")) {
				continue // a name
			}
			all = append(all, argument{call: k, at: rawjson.Span{Start: s.Start, End: s.End}, text: rawjson.Unquote(doc[s.Start:s.End])})
		}
	}
	return all
}

// Original returns the text that a cut of a message removes from: its content, or the long strings
// of its calls, each with a line end.
func (c *Conversation) Original(i int) string {
	if c.Messages[i].Role != Assistant {
		return c.Text(i)
	}
	var b strings.Builder
	for _, a := range c.longArguments(i) {
		b.WriteString(withLineEnd(a.text))
	}
	return b.String()
}

func withLineEnd(text string) string {
	if strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// mayCutArguments reports whether calls of the conversation may be cut. A model that has written one
// of our markers takes them for its own words.
func (c *Conversation) mayCutArguments() bool {
	return c.canRefer() && c.Imitations() == 0 && !slices.ContainsFunc(c.Messages, func(m Message) bool { return m.special == reference })
}

// Imitations counts the calls in which the model has written a marker of ours.
func (c *Conversation) Imitations() (n int) {
	for i := range c.Messages {
		n += c.imitationsIn(i)
	}
	return n
}

// ImitatesNow reports whether a call of the newest answer holds such a marker.
func (c *Conversation) ImitatesNow() bool {
	for i := c.answered(); i < len(c.Messages); i++ {
		if c.imitationsIn(i) > 0 {
			return true
		}
	}
	return false
}

func (c *Conversation) imitationsIn(i int) (n int) {
	for _, call := range c.Messages[i].Calls {
		raw := c.bytes(call.arguments)
		if bytes.Contains(raw, []byte("⟦PRUN")) || bytes.Contains(raw, []byte(`\u27e6PRUN`)) || bytes.Contains(raw, []byte(`\u27E6PRUN`)) {
			n++
		}
	}
	return n
}

// pruneArguments returns the calls of a job's message with their long strings cut: a list with the
// arguments of each, "" for those that stay. It reports false if all stay.
func (c *Conversation) pruneArguments(job Job, id string) (string, bool) {
	m := &c.Messages[job.Message]
	joined := c.Original(job.Message)
	r := newRendering(joined, id, job.By)
	all := c.longArguments(job.Message)
	known := c.knownNames(job.Message, joined, job.Sent)
	docs := make([]string, len(m.Calls))
	edits := make([][]rawjson.Edit, len(m.Calls))
	first, isFirst, isCut := 1, true, false
	for _, a := range all {
		lines := prune.Span{Start: first, End: first + strings.Count(withLineEnd(a.text), "\n") - 1}
		first = lines.End + 1
		if c.keepsArgument(job.Message, a) {
			continue
		}
		text, ok := r.cutArgument(lines, isFirst, known)
		if !ok {
			continue
		}
		isFirst, isCut = false, true
		if a.at.End == 0 {
			docs[a.call] = text
			continue
		}
		edits[a.call] = append(edits[a.call], rawjson.Edit{Span: a.at, New: rawjson.AppendQuoted(nil, text)})
	}
	for k := range edits {
		if len(edits[k]) > 0 {
			doc, _ := c.document(&m.Calls[k])
			docs[k] = string(rawjson.Edited(doc, edits[k]))
		}
	}
	return string(rawjson.AppendTexts(nil, docs)), isCut
}

// keepsArgument reports whether a long string stays: its call failed or has no result yet, it is
// JSON, it holds a marker, or a later call quotes it.
func (c *Conversation) keepsArgument(message int, a argument) bool {
	call := &c.Messages[message].Calls[a.call]
	result := -1
	for i := message + 1; i < len(c.Messages) && result < 0; i++ {
		if m := &c.Messages[i]; m.Role == Tool && m.CallID == call.ID {
			result = i
		}
	}
	if result < 0 || c.Messages[result].IsError || looksLikeError(c.Text(result)) || prune.HasMark(a.text) {
		return true
	}
	if text := strings.TrimSpace(a.text); strings.IndexAny(text, "{[") == 0 && rawjson.Check([]byte(text), MaxDepth) == nil {
		return true // a later item may refer to any of its members
	}
	for i := message; i < len(c.Messages); i++ {
		for k := range c.Messages[i].Calls {
			if i > message || k > a.call {
				if c.quotes(&c.Messages[i].Calls[k], a.text) {
					return true
				}
			}
		}
	}
	return false
}

// quotes reports whether a call has a string of some length from a text.
func (c *Conversation) quotes(call *Call, text string) bool {
	doc, _ := c.document(call)
	said, err := rawjson.LongStrings(doc, MaxDepth, minQuote-1)
	if err != nil {
		return len(doc) >= minQuote && strings.Contains(text, string(doc))
	}
	return slices.ContainsFunc(said, func(s rawjson.String) bool { return strings.Contains(text, rawjson.Unquote(doc[s.Start:s.End])) })
}

// cutArgument returns lines of the text as their head and a marker. It reports false if that takes
// no fewer tokens.
func (r rendering) cutArgument(lines prune.Span, isFirst bool, known func(name string) bool) (string, bool) {
	whole := r.lines.Range(lines.Start, lines.End)
	stay := lines.Start
	for n := 0; stay <= lines.End; stay++ {
		if n += rawjson.Chars(r.lines.Line(stay)); n > argumentHead {
			break
		}
	}
	costly := r
	costly.id = prune.CostlyID
	if stay == lines.Start && 2*len(r.lines.Line(stay)) > len(whole) { // a huge first line
		head := whole[:offset(whole, argumentHead)]
		from := rawjson.Chars(r.lines.Range(1, lines.Start-1))
		to := from + rawjson.Chars(whole)
		out := head + " " + r.markChars(from+argumentHead, to, isFirst)
		return out, savesTokens(whole[len(head):], " "+costly.markChars(from+argumentHead, to, isFirst))
	}
	if stay > lines.End {
		return "", false
	}
	block := prune.Block{Start: stay, End: lines.End}
	names := namesOf(r.lines, []prune.Block{block}, argumentNames, known)[0]
	body := r.lines.Range(block.Start, block.End)
	for len(names) > 0 && !savesTokens(body, costly.mark(block, isFirst, names)) {
		names = names[:len(names)-1]
	}
	return r.lines.Range(lines.Start, stay-1) + r.mark(block, isFirst, names), savesTokens(body, costly.mark(block, isFirst, names))
}

// sentArguments yields the calls of a message whose arguments were cut, with the new ones.
func (c *Conversation) sentArguments(i int, sent string) func(yield func(call *Call, doc string) bool) {
	return func(yield func(call *Call, doc string) bool) {
		k := 0
		for raw := range rawjson.Items([]byte(sent)) {
			if doc := rawjson.Unquote(raw); k < len(c.Messages[i].Calls) && doc != "" && !yield(&c.Messages[i].Calls[k], doc) {
				return
			}
			k++
		}
	}
}

// appendArguments appends new arguments of a call in the form of the old ones.
func (c *Conversation) appendArguments(dst []byte, call *Call, doc string) []byte {
	if c.bytes(call.arguments)[0] == '"' {
		return rawjson.AppendQuoted(dst, doc)
	}
	return append(dst, doc...)
}
