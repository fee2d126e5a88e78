package prune

import "strings"

// IsBinary reports whether a text has bytes that text files do not have. Such data cannot be pruned
// sensibly.
func IsBinary(text string) bool {
	head := text[:min(len(text), 8<<10)]
	if strings.IndexByte(head, 0) < 0 {
		return false
	}
	odd := 0
	for i := range len(head) {
		if c := head[i]; c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b {
			odd++
		}
	}
	const share = 20 // one byte in this many
	return odd*share > len(head)
}
