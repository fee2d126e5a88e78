package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// table is what a command shows of a list.
type table struct {
	head    []string
	rows    [][]string
	numbers map[int]bool // columns that are numbers, which end at the right
}

// print writes the table. On a terminal a row is cut where the terminal ends, and states have their colours.
func (t table) print(w world) {
	widths := make([]int, len(t.head))
	all := append([][]string{t.head}, t.rows...)
	for _, row := range all {
		for i, cell := range row {
			row[i] = visible(cell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range all {
		t.line(w, exact(w.out), widths, row)
	}
}

func (t table) line(w world, out io.Writer, widths []int, row []string) {
	var b strings.Builder
	used := 0
	for i, cell := range row {
		if i > 0 {
			b.WriteString("  ")
			used += 2
		}
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		before, after := "", pad
		if t.numbers[i] {
			before, after = pad, ""
		}
		if rest := w.width - used; w.width > 0 && utf8.RuneCountInString(before+cell) > rest {
			if rest > 0 {
				b.WriteString(clip(before+cell, rest))
			}
			break
		}
		b.WriteString(before + string(w.coloured(cell)) + after)
		used += widths[i]
	}
	fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
}

// clip cuts a text to so many characters.
func clip(s string, most int) string {
	if most < 1 || utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// The colours of a terminal (ECMA-48, SGR).
const (
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// coloured is a word with the colour of what it tells, where colours are wanted.
func (w world) coloured(word string) tinted {
	colour := ""
	switch word {
	case "ready", "ok":
		colour = green
	case "down", "fail":
		colour = red
	case "starting", "restarting", "degraded", "warn":
		colour = yellow
	}
	if colour == "" || !w.colour {
		return tinted(visible(word))
	}
	return tinted(colour + word + plain)
}

// ago is a number of seconds for a person.
func ago(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Truncate(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

// size is a number of bytes for a person.
func size(bytes int64) string {
	const kib, mib = 1 << 10, 1 << 20
	switch {
	case bytes < kib:
		return fmt.Sprintf("%d B", bytes)
	case bytes < mib:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/kib)
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/mib)
}

// oneLine is a text without line breaks and control characters, for a column.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
