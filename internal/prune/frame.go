package prune

import "strings"

// frameLines is how many lines at either end of a text are searched for a tool's frame.
const frameLines = 8

// findFrame finds the lines that a tool wrote around the text. They are not part of the text: they
// are kept and not measured.
func findFrame(lines Lines) []bool {
	n := lines.Len()
	var out []bool
	mark := func(i int) {
		if out == nil {
			out = make([]bool, n)
		}
		out[i-1] = true
	}
	if n < 4 {
		return nil
	}
	for i := 1; i <= min(frameLines, n/2); i++ {
		line := strings.TrimSpace(lines.Line(i))
		if isFrameLine(line) {
			mark(i)
		} else if line != "" {
			break
		}
	}
	for i := n; i > max(n-frameLines, n/2); i-- {
		line := strings.TrimSpace(lines.Line(i))
		if isFrameLine(line) {
			mark(i)
		} else if line != "" {
			break
		}
	}
	return out
}

// isFrameLine recognizes what agents' tools write before and after the text they show.
func isFrameLine(line string) bool {
	if line == "" || len(line) > 300 {
		return false
	}
	switch line[0] {
	case '<':
		for _, tag := range frameTags {
			if rest, ok := strings.CutPrefix(strings.TrimPrefix(line[1:], "/"), tag); ok && rest != "" && (rest[0] == '>' || rest[0] == ' ') {
				return true
			}
		}
		return false
	case '[':
		return strings.HasPrefix(line, "[File: ") || strings.HasSuffix(line, "]") && (strings.Contains(line, "lines total") ||
			strings.Contains(line, "truncated") || strings.Contains(line, "omitted"))
	case '(':
		return strings.HasSuffix(line, ")") && (strings.Contains(line, "more lines above") || strings.Contains(line, "more lines below") ||
			strings.Contains(line, "End of file") || strings.HasPrefix(line, "(Open file: ") || strings.HasPrefix(line, "(Current directory: ") ||
			strings.Contains(line, "truncated"))
	}
	for _, start := range frameStarts {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

var (
	frameTags   = strings.Fields("returncode output stdout stderr file path content type warning output_head output_tail elided_chars system-reminder")
	frameStarts = []string{
		"Here's the result of running ", "Exit code: ", "Wall time: ", "Chunk ID: ", "Process exited with code ", "Total output lines: ",
		"Output:", "Original token count: ", "Showing lines ", "bash-$",
	}
)
