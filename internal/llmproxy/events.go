package llmproxy

import "bytes"

// events follows a stream of server-sent events as its bytes pass, wherever they are cut, just far enough to know
// whether it stands between two events and whether its end has come.
type events struct {
	start  [len("data: [DONE]")]byte // how the current line begins
	length int                       // of the current line so far
	inside bool                      // lines have come since the last blank one
	done   bool                      // data: [DONE] has come
}

func (e *events) read(p []byte) {
	// Of many lines only the first, which may have begun before, and the last two tell something, unless the end is
	// among them.
	first, last := bytes.IndexByte(p, '\n'), bytes.LastIndexByte(p, '\n')
	if first < last && !bytes.Contains(p[first:], []byte("[DONE]")) {
		e.readLines(p[:first+1])
		p = p[bytes.LastIndexByte(p[:last], '\n')+1:]
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
		blank := e.length == 0 || e.length == 1 && e.start[0] == '\r'
		e.inside, e.length = !blank, 0
		p = rest
	}
}

// saysDone tells whether the current line begins as the last one of a stream does.
func (e *events) saysDone() bool {
	data, ok := bytes.CutPrefix(e.start[:min(e.length, len(e.start))], []byte("data:"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(data, " "), []byte("[DONE]"))
}

// between tells whether a new event can begin here.
func (e *events) between() bool { return e.length == 0 && !e.inside }

// finished tells whether the stream has said its last, be it in a line that has no end yet.
func (e *events) finished() bool { return e.done || e.saysDone() }
