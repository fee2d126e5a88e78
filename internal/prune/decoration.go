package prune

import "strings"

// Decoration is what a tool puts around the lines of a text: numbers, the name of the file a hit is in, the signs of a diff, a
// quote's bracket, the time. Behind it indent, blank lines and every pattern at a line's start are hidden, so the engine looks at
// what follows it. The output keeps it: lines stay one to one.

// prefix is what one kind of decoration is at the start of a line.
type prefix int

const (
	noPrefix     prefix = iota
	numberPrefix        // "    12\t", "12→", "12:", "00012| "
	hitPrefix           // "path:12:", "path-12-"
	diffPrefix          // "+", "-", " "
	quotePrefix         // "> "
	stampPrefix         // "2026-01-02T03:04:05Z "
)

// decoration says how many bytes at each line's start are not the text's own.
type decoration struct {
	kind   prefix
	number numberForm // of numberPrefix
	skip   []uint16   // per line; nil: none
	frame  []bool     // per line: written by the tool that showed the text; nil: none
}

// sampled is how many filled lines decide what decorates a text.
const sampled = 256

// findDecoration looks for what decorates the lines of a text.
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

// silent says whether the words of the decoration tell nothing of the text.
func (d *decoration) silent() bool { return d.kind != hitPrefix && d.kind != stampPrefix }

func trimLine(line string) string { return strings.TrimRight(line, "\r\n") }

// mostly says whether at least percent of the lines pass.
func mostly(lines []string, pass func(string) bool, percent int) bool {
	n := 0
	for _, l := range lines {
		if pass(l) {
			n++
		}
	}
	return 100*n >= percent*len(lines)
}

// numberForm is how a text's lines are numbered.
type numberForm struct{ after string } // what stands behind the number

// numberEnds are what tools write behind a line's number.
var numberEnds = []string{"\t", "→", "│ ", "│", " | ", "| ", "|", ": ", ":", ") "}

// numbering finds the form in which most lines begin with numbers that count lines: each is one more than the one before, or, as in
// the answer of a search, at least larger.
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

// read is the number a line begins with and how many bytes it takes with what stands around it; 0 bytes where there is none.
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
	case f.after[0] == ':' && rest != "" && rest[0] == '-': // context of a hit
		return number, i + 1
	case strings.TrimRight(f.after, " ") == rest: // an empty line
		return number, len(line)
	}
	return 0, 0
}

// skipHit is the length of "path:12:" or "path-12-" at a line's start, 0 for other lines.
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

// isDiff says whether the lines are those of a unified diff.
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

// diffReader tells the lines of hunks from what stands between them.
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
