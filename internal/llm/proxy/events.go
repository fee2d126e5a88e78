package proxy

import (
	"bytes"

	"secateur/internal/llm/chat"
	"secateur/internal/rawjson"
)

// events follows a stream of server-sent events, in pieces of any size, just enough to detect its
// end.
type events struct {
	format chat.Format
	start  [48]byte // beginning of the current line
	length int      // of the current line so far
	last   bool     // the last line, or the first line of the last event, has come
	done   bool     // the last event is complete
}

// lastEvents are the types of events that end a stream. Chat completions end with a line instead.
var lastEvents = [...][]string{
	chat.Completions: {"[DONE]"},
	chat.Messages:    {"message_stop", "error"},
	chat.Responses:   {"response.completed", "response.failed", "response.incomplete", "error"},
}

// wholeEvents returns the length of the part of p that ends where a new event can begin. A blank
// line ends an event, and a comment belongs to none. p may begin within an event.
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

// lastBlankLine returns the end of the last blank line; 0: none. It searches backwards from line
// end to line end, which is quick if a piece ends with an event.
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
	// Only the first line, which may have begun earlier, and the last one matter, unless the end is
	// among them.
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

// mayEnd reports whether one of these lines may be the last.
func (e *events) mayEnd(p []byte) bool {
	for _, kind := range lastEvents[e.format] {
		if bytes.Contains(p, []byte(kind)) {
			return true
		}
	}
	return false
}

// saysDone reports whether the current line begins like the last line or event of a stream.
func (e *events) saysDone() bool {
	line := e.start[:min(e.length, len(e.start))]
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	data = bytes.TrimLeft(data, " ")
	if e.format == chat.Completions {
		return isData && bytes.HasPrefix(data, []byte("[DONE]"))
	}
	name, ok := bytes.CutPrefix(line, []byte("event:"))
	if isData { // some omit the line that names the event
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

// finished reports whether the stream has sent its end, even if that line is incomplete.
func (e *events) finished() bool { return e.last || e.saysDone() }

// hasWholeData reports whether the data of an event is complete JSON.
func hasWholeData(event []byte) bool {
	var doc []byte
	for line := range bytes.SplitSeq(event, []byte{'\n'}) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			doc = append(doc, data...)
		}
	}
	return rawjson.Check(doc, chat.MaxDepth) == nil
}
