package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// screen writes text for a person. It escapes the characters that a terminal acts on or does not show, which servers, files and running
// programs may send. Tabs and line ends stay. The escapes are those of JSON, so JSON keeps its meaning.
type screen struct {
	to io.Writer

	mu   sync.Mutex
	rest []byte // the start of a character whose other bytes have not been written yet
}

// Write escapes and writes a piece of text. It holds back a character that is not whole.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := slices.Concat(s.rest, p)
	n := wholeText(text)
	s.rest = text[n:]
	if _, err := io.WriteString(s.to, visible(string(text[:n]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes a character that was held back.
func (s *screen) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.to, visible(string(s.rest)))
	s.rest = nil
}

// wholeText is the length of a text without a last character whose other bytes may follow. A carriage return may be half a line end.
func wholeText(text []byte) int {
	if n := len(text); n > 0 && text[n-1] == '\r' {
		return n - 1
	}
	for n := len(text) - 1; n >= 0 && n >= len(text)-utf8.UTFMax; n-- {
		if utf8.RuneStart(text[n]) {
			if utf8.FullRune(text[n:]) {
				break
			}
			return n
		}
	}
	return len(text)
}

// exact is the writer below a screen, for protocols and for text that goes to a program or a file.
func exact(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.to
	}
	return w
}

// visible escapes the characters of a text that a terminal acts on or does not show. Bytes that are no UTF-8 become U+FFFD.
func visible(text string) string {
	if !strings.ContainsFunc(text, isHidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\r' && strings.HasPrefix(text[i:], "\r\n"), !isHidden(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isHidden reports whether a terminal acts on a character or shows nothing for it: control characters, bidirectional controls, zero width,
// tags, variation selectors and fillers.
func isHidden(r rune) bool {
	if r >= ' ' && r < 0x7f || r == '\n' || r == '\t' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// tinted is a text with colours of ours in it.
type tinted string

// printf prints a line that may have colours of ours. All other text in it is escaped.
func (w world) printf(format string, args ...any) {
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = visible(text)
		}
	}
	fmt.Fprintf(exact(w.out), format, args...)
}
