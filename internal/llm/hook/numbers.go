package hook

import (
	"strconv"
	"strings"
)

// Claude Code writes before each line of a file that it reads its number, counted from the first on. Where lines are missing, it would count
// wrong from there on. So behind the first marker lines bear the numbers that we write, and end with a carriage return, at which the client
// does not count.

// renumber gives the lines of a pruned text, the first of which is number first, their true numbers. It is not ok where a marker does not
// stand for the lines that are missing.
func renumber(pruned string, first int) (string, bool) {
	var b strings.Builder
	b.Grow(len(pruned) + len(pruned)/8)
	number, ours := first, false
	for i, line := range strings.Split(pruned, "\n") {
		start, end, isMarker := markedLines(line)
		switch {
		case isMarker && start != number:
			return "", false
		case i > 0 && ours:
			b.WriteByte('\r')
		case i > 0:
			b.WriteByte('\n')
		}
		if isMarker {
			b.WriteString(line)
			number, ours = end+1, true
			continue
		}
		if ours {
			b.WriteString(strconv.Itoa(number))
			b.WriteByte('\t')
			line = strings.TrimSuffix(line, "\r")
		}
		b.WriteString(line)
		number++
	}
	return b.String(), true
}

// markedLines reads the lines that a marker stands for, of a line that begins with one.
func markedLines(line string) (start, end int, ok bool) {
	rest, isMarker := strings.CutPrefix(line, "⟦PRUNED lines ")
	if !isMarker {
		return 0, 0, false
	}
	from, rest, _ := strings.Cut(rest, "-")
	to := rest
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		to = rest[:i]
	}
	start, err1 := strconv.Atoi(from)
	end, err2 := strconv.Atoi(to)
	return start, end, err1 == nil && err2 == nil && 0 < start && start <= end
}
