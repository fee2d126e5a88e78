package prune

import "strings"

// IsBinary says whether a text is no text: it holds bytes that no line of one has. Nothing of it can be left out sensibly.
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
	const share = 20 // one byte in so many
	return odd*share > len(head)
}
