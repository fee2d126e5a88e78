package chat

import (
	"strings"

	"secateur/internal/prune"
)

// Clients themselves shorten results and say so in a line: Codex beyond 10 000 tokens, Claude Code
// beyond 30 000 characters of a command's output. That line must stay, or a model would take the
// rest for the whole.

// cutMarks are the texts of such lines.
var cutMarks = []string{"tokens truncated", "chars truncated", "characters truncated", "lines truncated", "Warning: truncated output", "[... omitted "}

func isCutMark(line string) bool {
	const longest = 200 // a line of a file with these words is often longer
	if len(line) > longest {
		return false
	}
	for _, mark := range cutMarks {
		if strings.Contains(line, mark) {
			return true
		}
	}
	return false
}

// withoutCutMarks removes from blocks the lines in which a client says that it has cut the text.
func withoutCutMarks(text string, blocks []prune.Block) (out []prune.Block) {
	if !hasCutMark(text) {
		return blocks
	}
	lines := prune.IndexLines(text)
	for _, b := range blocks {
		start := b.Start
		for n := b.Start; n <= b.End; n++ {
			if !isCutMark(lines.Range(n, n)) {
				continue
			}
			if n > start {
				out = append(out, prune.Block{Start: start, End: n - 1, Reason: b.Reason})
			}
			start = n + 1
		}
		if start <= b.End {
			out = append(out, prune.Block{Start: start, End: b.End, Reason: b.Reason})
		}
	}
	return out
}

func hasCutMark(text string) bool {
	for _, mark := range cutMarks {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// losesCutMark reports whether a text had such a line and out does not.
func losesCutMark(text, out string) bool {
	for line := range strings.Lines(text) {
		if isCutMark(line) && !strings.Contains(out, strings.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}
