package bill

import (
	"bytes"
	"cmp"
)

// Meter finds the usage in a stream of server-sent events as it passes. The zero value is ready. It
// holds one line at a time, and only the end of a line much longer than maxMeterLine. That suffices
// because a response's final event repeats the whole response and has the usage at its end.
type Meter struct {
	line  []byte
	cut   bool // the beginning of the current line is gone
	usage Usage
	found bool
}

const maxMeterLine = 64 << 10

// Write takes the next bytes of the stream. It never fails.
func (m *Meter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			m.hold(rest)
			break
		}
		if len(m.line) == 0 && !m.cut && i <= maxMeterLine {
			m.read(rest[:i]) // the common case: a whole line, without a copy
		} else {
			m.hold(rest[:i])
			m.read(m.line)
		}
		m.line, m.cut = m.line[:0], false
		rest = rest[i+1:]
	}
	return len(p), nil
}

// Usage returns the usage reported so far, or false if none.
func (m *Meter) Usage() (Usage, bool) {
	if len(m.line) > 0 {
		m.read(m.line) // a last line without a newline
	}
	return m.usage, m.found
}

// hold buffers the end of a line. A buffer of twice the size keeps the copying proportional to the
// input.
func (m *Meter) hold(p []byte) {
	m.line = append(m.line, p[max(0, len(p)-maxMeterLine):]...)
	if len(p) > maxMeterLine || len(m.line) > 2*maxMeterLine {
		m.cut = true
		m.line = append(m.line[:0], m.line[len(m.line)-maxMeterLine:]...)
	}
}

func (m *Meter) read(line []byte) {
	var u Usage
	if m.cut {
		u = usageWithin(line)
	} else if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		u = parseUsage(data)
	}
	// counts only grow: an event with a smaller one is partial
	output := max(u.Output, m.usage.Output)
	id, missed := cmp.Or(m.usage.ID, u.ID), max(u.Missed, m.usage.Missed)
	if u.makesSense() && u.Input >= m.usage.Input {
		m.usage, m.found = u, true
	}
	m.usage.Output, m.usage.ID, m.usage.Missed = output, id, missed
}

// usageWithin reads the last usage from the end of a document. Inside a JSON string the name would
// have escaped quotes.
func usageWithin(tail []byte) Usage {
	name := []byte(`"usage":`)
	for end := len(tail); ; {
		i := bytes.LastIndex(tail[:end], name)
		if i < 0 {
			return Usage{}
		}
		if i == 0 || tail[i-1] != '\\' {
			if value := object(tail[i+len(name):]); value != nil {
				return parseUsage(append(append([]byte(`{"usage":`), value...), '}'))
			}
		}
		end = i
	}
}

// object returns the JSON object at the start of text, or nil. It ignores strings: usage has no
// braces in strings.
func object(text []byte) []byte {
	text = bytes.TrimLeft(text, " ")
	depth := 0
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			return text[:i+min(1, i)]
		}
	}
	return nil
}
