package llmproxy

import "bytes"

// events follows a stream of server-sent events as its bytes pass, wherever they are cut, just far enough to know
// whether its end has come.
type events struct {
	start  [len("data: [DONE]")]byte // how the current line begins
	length int                       // of the current line so far
	done   bool                      // data: [DONE] has come
}

// wholeEvents is how many of these bytes, which begin between two events or in the middle of one, are followed by a place
// where an event can begin: a blank line ends an event, and a comment is none.
func wholeEvents(p []byte) int {
	end := 0
	for _, blank := range []string{"\n\n", "\n\r\n", "\r\r"} {
		if i := bytes.LastIndex(p, []byte(blank)); i >= 0 {
			end = max(end, i+len(blank))
		}
	}
	for end < len(p) {
		line := bytes.IndexByte(p[end:], '\n') + 1
		if line == 0 || p[end] != ':' {
			break
		}
		end += line
	}
	return end
}

func (e *events) read(p []byte) {
	// Of many lines only the first, which may have begun before, and the last tell something, unless the end is among them.
	first, last := bytes.IndexByte(p, '\n'), bytes.LastIndexByte(p, '\n')
	if first < last && !bytes.Contains(p[first:], []byte("[DONE]")) {
		e.readLines(p[:first+1])
		p = p[last+1:]
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
		e.done = e.done || e.saysDone()
		e.length = 0
		p = rest
	}
}

// saysDone tells whether the current line begins as the last one of a stream does.
func (e *events) saysDone() bool {
	data, ok := bytes.CutPrefix(e.start[:min(e.length, len(e.start))], []byte("data:"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(data, " "), []byte("[DONE]"))
}

// finished tells whether the stream has said its last, be it in a line that has no end yet.
func (e *events) finished() bool { return e.done || e.saysDone() }
