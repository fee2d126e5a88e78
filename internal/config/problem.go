package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Severity distinguishes a mistake from a warning.
type Severity int

// A Mistake keeps the program from starting, Unready one server, a Warning nothing.
const (
	Mistake Severity = iota
	Warning
	Unready
)

// String returns the word for display.
func (s Severity) String() string {
	switch s {
	case Warning:
		return "warning"
	case Unready:
		return "server left out"
	default:
		return "mistake"
	}
}

// Problem is a mistake or a warning. Its text never holds a secret.
type Problem struct {
	File   string // the file as it was named, "environment", or "command line"
	Line   int    // from 1; 0: unknown
	Column int    // in characters, from 1; 0: unknown
	// "servers[0].command"; a variable or a flag if File is no file; "": the whole file.
	Key      string
	Text     string
	Severity Severity
}

// String returns the one-line form that editors and terminals can jump to: "secateur.toml:12:3:
// servers[0].comand: …".
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		b.WriteString(":" + strconv.Itoa(p.Line))
		if p.Column > 0 {
			b.WriteString(":" + strconv.Itoa(p.Column))
		}
	}
	for _, part := range []string{p.Key, p.Text} {
		if part == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(part)
	}
	return b.String()
}

// finding is a Problem whose position is still an offset into the file.
type finding struct {
	place
	text     string
	severity Severity
}

// place is the origin of a value.
type place struct {
	file  string // "" for the configuration file itself
	label string // the key as its author wrote it
	off   int    // offset of the key in the file, or noOffset
}

// noOffset marks a value without a position in the file.
const noOffset = -1

// problems converts findings into Problems in the order of the file, those without a line last. It
// walks the data only once.
func problems(file string, data []byte, found []finding) []Problem {
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Compare(uint(a.off), uint(b.off)) // noOffset becomes the largest number
	})
	out := make([]Problem, 0, len(found))
	said := make(map[Problem]bool, len(found))
	at, line, column := 0, 1, 1
	for _, f := range found {
		p := Problem{File: cmp.Or(f.file, file), Key: f.label, Text: f.text, Severity: f.severity}
		if f.off != noOffset && f.file == "" {
			for stop := min(f.off, len(data)); at < stop; {
				r, size := utf8.DecodeRune(data[at:])
				at += size
				if r == '\n' {
					line, column = line+1, 1
				} else {
					column++
				}
			}
			p.Line, p.Column = line, column
		}
		if !said[p] {
			said[p] = true
			out = append(out, p)
		}
	}
	return out
}
