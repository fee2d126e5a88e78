package prune

import "strings"

const (
	beginProtected = "⟦NO_PRUNE_BEGIN⟧"
	endProtected   = "⟦NO_PRUNE_END⟧"
)

// protectDirectives notes the runs of lines between the directives, inclusive. An unclosed one
// extends to the end.
func (t *text) protectDirectives() {
	for at := 0; ; {
		i := strings.Index(t.src[at:], beginProtected)
		if i < 0 {
			return
		}
		first := t.lineAt(at + i)
		last := t.lines.Len() - 1
		j := strings.Index(t.src[at+i:], endProtected)
		if j >= 0 {
			last = t.lineAt(at + i + j)
		}
		t.protected = append(t.protected, unit{first, last})
		if j < 0 {
			return
		}
		at += i + j + len(endProtected)
	}
}

// lineAt returns the line, from 0, at an offset.
func (t *text) lineAt(offset int) int {
	lo, hi := 0, len(t.lines.starts)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; int(t.lines.starts[mid]) <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
