package proxy

import (
	"bytes"

	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// events follows a stream of server-sent events as its bytes pass, wherever they are cut, just far enough to know
// whether its end has come.
type events struct {
	format chat.Format
	start  [48]byte // how the current line begins
	length int      // of the current line so far
	last   bool     // the line that is the last, or begins the last event, has come
	done   bool     // all of the last event has
}

// lastEvents are the events that end a stream, by their types. Chat completions have none, but a last line.
var lastEvents = [...][]string{
	chat.Completions: {"[DONE]"},
	chat.Messages:    {"message_stop", "error"},
	chat.Responses:   {"response.completed", "response.failed", "response.incomplete", "error"},
}

// wholeEvents is how many of these bytes, which begin between two events or in the middle of one, are followed by a place
// where an event can begin: a blank line ends an event, and a comment is none.
func wholeEvents(p []byte) int {
	end := lastBlankLine(p)
	for end < len(p) {
		line := bytes.IndexByte(p[end:], '\n') + 1
		if line == 0 || p[end] != ':' {
			break
		}
		end += line
	}
	return end
}

// lastBlankLine is where the last blank line of these bytes ends; 0: there is none. It hops from line end to line end, from the
// last one on, which is next to nothing where a piece ends with an event.
func lastBlankLine(p []byte) (end int) {
	for i := bytes.LastIndexByte(p, '\n'); i > 0; i = bytes.LastIndexByte(p[:i], '\n') {
		if p[i-1] == '\n' || i > 1 && p[i-1] == '\r' && p[i-2] == '\n' {
			end = i + 1
			break
		}
	}
	for i := bytes.LastIndexByte(p[end:], '\r'); i > 0; i = bytes.LastIndexByte(p[end:end+i], '\r') {
		if p[end+i-1] == '\r' {
			return end + i + 1
		}
	}
	return end
}

func (e *events) read(p []byte) {
	// Of many lines only the first, which may have begun before, and the last tell something, unless the end is among them.
	first, last := bytes.IndexByte(p, '\n'), bytes.LastIndexByte(p, '\n')
	if first < last && !e.last && !e.mayEnd(p[first:]) {
		e.readLines(p[:first+1])
		if p = p[first+1:]; !e.last {
			p = p[last-first:]
		}
	}
	e.readLines(p)
}

func (e *events) readLines(p []byte) {
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		if e.length < len(e.start) {
			copy(e.start[e.length:], line)
		}
		e.length += len(line)
		if !ended {
			return
		}
		e.last = e.last || e.saysDone()
		isBlank := e.length == 0 || e.length == 1 && e.start[0] == '\r'
		e.done = e.done || e.last && (e.format == chat.Completions || isBlank)
		e.length = 0
		p = rest
	}
}

// mayEnd tells whether one of these lines may be the last.
func (e *events) mayEnd(p []byte) bool {
	for _, kind := range lastEvents[e.format] {
		if bytes.Contains(p, []byte(kind)) {
			return true
		}
	}
	return false
}

// saysDone tells whether the current line begins as the last one of a stream does, or as the last event.
func (e *events) saysDone() bool {
	line := e.start[:min(e.length, len(e.start))]
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimLeft(data, " ")
	if e.format == chat.Completions {
		return isData && bytes.HasPrefix(data, []byte("[DONE]"))
	}
	name, ok := bytes.CutPrefix(line, []byte("event:"))
	if isData { // some leave out the line that names the event
		data, _ = bytes.CutPrefix(data, []byte(`{"type":`))
		data = bytes.TrimLeft(data, " ")
		name, ok = bytes.CutPrefix(data, []byte(`"`))
	}
	name = bytes.TrimLeft(name, " ")
	for _, kind := range lastEvents[e.format] {
		rest, is := bytes.CutPrefix(name, []byte(kind))
		if ok && is && (len(rest) == 0 || rest[0] == '"' || rest[0] == '\r' || rest[0] == ' ') {
			return true
		}
	}
	return false
}

// finished tells whether the stream has said its last, be it in a line that has no end yet.
func (e *events) finished() bool { return e.last || e.saysDone() }

// hasWholeData tells whether the data of an event is JSON up to its end.
func hasWholeData(event []byte) bool {
	var doc []byte
	for line := range bytes.SplitSeq(event, []byte{'\n'}) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			doc = append(doc, data...)
		}
	}
	return rawjson.Check(doc, chat.MaxDepth) == nil
}
