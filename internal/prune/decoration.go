package prune

import "strings"

// Decoration is what a tool puts before the lines of a text: numbers, the file name of a match, the
// signs of a diff, a quote's bracket, the time. It hides indentation, blank lines and every pattern
// at the start of a line. So the engine looks at the text after it. The output keeps it: lines stay
// one to one.

// prefix is a kind of decoration at the start of a line.
type prefix int

const (
	noPrefix     prefix = iota
	numberPrefix        // "    12\t", "12→", "12:", "00012| "
	hitPrefix           // "path:12:", "path-12-"
	diffPrefix          // "+", "-", " "
	quotePrefix         // "> "
	stampPrefix         // "2026-01-02T03:04:05Z "
)

// decoration says how many bytes at the start of each line are not part of the text.
type decoration struct {
	kind   prefix
	number numberForm // for numberPrefix
	skip   []uint16   // per line; nil: none
	frame  []bool     // per line: written by the tool that showed the text; nil: none
}

// sampled is how many non-blank lines are examined for decoration.
const sampled = 256

// findDecoration finds the decoration of a text's lines.
func findDecoration(lines Lines, source Source) decoration {
	d := decoration{frame: findFrame(lines)}
	sample := make([]string, 0, sampled)
	for i := 1; i <= lines.Len() && len(sample) < sampled; i++ {
		if d.frame != nil && d.frame[i-1] {
			continue
		}
		if line := trimLine(lines.Line(i)); strings.TrimSpace(line) != "" {
			sample = append(sample, line)
		}
	}
	const few = 3
	if len(sample) < few {
		return d
	}
	var skip func(line string) int
	number, isNumbered := numbering(sample)
	switch {
	case isNumbered:
		d.kind, d.number, skip = numberPrefix, number, number.skip
	case mostly(sample, func(l string) bool { return skipHit(l) > 0 }, 80):
		d.kind, skip = hitPrefix, skipHit
	case isDiff(sample):
		d.kind, skip = diffPrefix, newDiffReader().skip
	case mostly(sample, func(l string) bool { return l[0] == '>' }, 90):
		d.kind, skip = quotePrefix, skipQuote
	case source == Logs && mostly(sample, func(l string) bool { return skipStamp(l) > 0 }, 30):
		d.kind, skip = stampPrefix, skipStamp
	default:
		return d
	}
	d.skip = make([]uint16, lines.Len())
	for i := range d.skip {
		line := trimLine(lines.Line(i + 1))
		if line != "" {
			d.skip[i] = uint16(min(skip(line), 1<<15)) //nolint:gosec // bounded
		}
	}
	return d
}

// silent reports whether the words of the decoration say nothing about the text.
func (d *decoration) silent() bool { return d.kind != hitPrefix && d.kind != stampPrefix }

func trimLine(line string) string { return strings.TrimRight(line, "\r\n") }

// mostly reports whether at least percent of the lines pass.
func mostly(lines []string, pass func(string) bool, percent int) bool {
	n := 0
	for _, l := range lines {
		if pass(l) {
			n++
		}
	}
	return 100*n >= percent*len(lines)
}

// numberForm is the form of line numbers.
type numberForm struct{ after string } // the text after the number

// numberEnds are what tools write after a line number.
var numberEnds = []string{"\t", "→", "│ ", "│", " | ", "| ", "|", ": ", ":", ") "}

// numbering finds the form of line numbers that most lines begin with. Each is one more than the
// last or, as in search results, at least larger.
func numbering(sample []string) (numberForm, bool) {
	for _, after := range numberEnds {
		f := numberForm{after}
		found, next, larger, last := 0, 0, 0, -1
		for _, line := range sample {
			n, skip := f.read(line)
			if skip == 0 {
				last = -1 // another file begins
				continue
			}
			found++
			if n == last+1 {
				next++
			}
			if n > last {
				larger++
			}
			last = n
		}
		switch {
		case 100*found < 75*len(sample) || found < 3:
		case 100*next >= 60*found:
			return f, true
		case (after == ":" || after == ": ") && 100*larger >= 90*found:
			return f, true // grep -n without names
		}
	}
	return numberForm{}, false
}

func (f numberForm) skip(line string) int {
	_, n := f.read(line)
	return n
}

// read returns the line number and the size of the prefix; size 0: none.
func (f numberForm) read(line string) (number, size int) {
	i := 0
	for i < len(line) && line[i] == ' ' {
		i++
	}
	if i < len(line) && line[i] == 'L' {
		i++
	}
	digits := i
	for i < len(line) && classes[line[i]] == digitClass && i-digits < 8 {
		number = 10*number + int(line[i]-'0')
		i++
	}
	if i == digits {
		return 0, 0
	}
	rest := line[i:]
	switch {
	case strings.HasPrefix(rest, f.after):
		return number, i + len(f.after)
	case f.after[0] == ':' && rest != "" && rest[0] == '-': // context of a match
		return number, i + 1
	case strings.TrimRight(f.after, " ") == rest: // an empty line
		return number, len(line)
	}
	return 0, 0
}

// skipHit returns the length of "path:12:" or "path-12-" at the start of a line; 0: none.
func skipHit(line string) int {
	name := false
	for i := 0; i < len(line) && i < 300; i++ {
		switch c := line[i]; {
		case c == '/' || c == '.' || c == '_':
			name = true
		case c == ' ' || c == '\t' || c == '(' || c == '"' || c == '<' || c == '=':
			return 0
		case (c == ':' || c == '-') && i > 0:
			j := i + 1
			for j < len(line) && classes[line[j]] == digitClass {
				j++
			}
			if j > i+1 && j < len(line) && line[j] == c && name {
				k := j + 1
				for k < len(line) && classes[line[k]] == digitClass {
					k++
				}
				if c == ':' && k > j+1 && k < len(line) && line[k] == ':' { // with a column
					return k + 1
				}
				return j + 1
			}
		}
	}
	return 0
}

// isDiff reports whether the lines are a unified diff.
func isDiff(sample []string) bool {
	hunks, body := 0, 0
	in := false
	for _, l := range sample {
		switch {
		case strings.HasPrefix(l, "@@ -") || strings.HasPrefix(l, "@@@ -"):
			hunks++
			body++
			in = true
		case l[0] == '+' || l[0] == '-' || in && (l[0] == ' ' || l[0] == '\\'):
			body++
		case strings.HasPrefix(l, "diff ") || strings.HasPrefix(l, "index "):
			body++
			in = false
		}
	}
	return hunks > 0 && 100*body >= 60*len(sample)
}

// diffReader distinguishes the lines of hunks from those between them.
type diffReader struct{ in bool }

func newDiffReader() *diffReader { return &diffReader{} }

func (d *diffReader) skip(line string) int {
	switch {
	case strings.HasPrefix(line, "@@"):
		d.in = true
	case strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
		d.in = false
	case d.in && (line[0] == '+' || line[0] == '-' || line[0] == ' '):
		return 1
	case d.in && line[0] != '\\':
		d.in = false
	}
	return 0
}

func skipQuote(line string) int {
	i := 0
	for i < len(line) && line[i] == '>' {
		i++
		if i < len(line) && line[i] == ' ' {
			i++
		}
	}
	return i
}
