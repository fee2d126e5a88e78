package bill

import "bytes"

// Meter finds the usage in a stream of server-sent events as it passes. The zero
// value is ready. It holds one line at a time, and of a line much longer than maxMeterLine
// its end: the event that ends a response holds all of it, and tells the usage behind.
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
			m.read(rest[:i]) // the usual case: a whole line, not copied
		} else {
			m.hold(rest[:i])
			m.read(m.line)
		}
		m.line, m.cut = m.line[:0], false
		rest = rest[i+1:]
	}
	return len(p), nil
}

// Usage is what the stream has told so far; false if nothing.
func (m *Meter) Usage() (Usage, bool) {
	if len(m.line) > 0 {
		m.read(m.line) // a last line without its end
	}
	return m.usage, m.found
}

// hold keeps what may be needed of a line. Room for twice as much keeps what is moved in proportion to what comes.
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
	output := max(u.Output, m.usage.Output) // counts only grow: an event with less tells a part of them
	if u.makesSense() && u.Input >= m.usage.Input {
		m.usage, m.found = u, true
	}
	m.usage.Output = output
}

// usageWithin reads the last usage out of the end of a document. Within a string its name would have its quotes escaped.
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

// object is the JSON object that a text begins with, nil if it does not. What counts tokens has no braces in strings.
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
