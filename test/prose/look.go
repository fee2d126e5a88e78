package main

import (
	"go/scanner"
	"go/token"
	"regexp"
	"strings"
	"unicode/utf8"
)

// kind is a reason why a comment is hard to read.
type kind string

const (
	longLine     kind = "comment lines over 110 columns"
	longSentence kind = "sentences over 30 words"
	oldWord      kind = "words of the old style"
)

var kinds = []kind{longLine, longSentence, oldWord}

type finding struct {
	file string
	line int
	kind kind
	text string
}

const (
	mostColumns = 110
	mostWords   = 30
	tabWidth    = 4
)

// oldWords mark sentences that have to be read twice.
var oldWords = regexp.MustCompile(`(?i)\b(what is|whoever|nobody|stands|so many|anew|no more)\b`)

// sentenceEnd is a full stop before a space. The stop of an abbreviation ends a sentence, too: that errs on the short side.
var sentenceEnd = regexp.MustCompile(`[.!?]["')\]]?\s`)

// look returns the findings of one file.
func look(file string, source []byte) (found []finding) {
	lines := strings.Split(string(source), "\n")
	for _, c := range commentsOf(file, source) {
		for i, text := range c.lines {
			if width(lines[c.first+i-1]) > mostColumns {
				found = append(found, finding{file, c.first + i, longLine, text})
			}
			for _, word := range oldWords.FindAllString(text, -1) {
				found = append(found, finding{file, c.first + i, oldWord, word})
			}
		}
		for _, sentence := range sentenceEnd.Split(strings.Join(c.lines, " "), -1) {
			if len(strings.Fields(sentence)) > mostWords {
				found = append(found, finding{file, c.first, longSentence, sentence})
			}
		}
	}
	return found
}

// comment is a run of comment lines without code between them.
type comment struct {
	first int // line
	lines []string
}

// commentsOf returns the comments of a file. Directives and indented examples are none.
func commentsOf(file string, source []byte) (all []comment) {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile(file, fset.Base(), len(source)), source, nil, scanner.ScanComments)
	code := 0 // the last line with code
	for {
		pos, tok, lit := s.Scan()
		line := fset.Position(pos).Line
		if tok == token.EOF {
			return all
		}
		if tok != token.COMMENT {
			code = line
			continue
		}
		text, ok := strings.CutPrefix(lit, "//")
		if !ok || strings.HasPrefix(text, "go:") || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "nolint") {
			continue
		}
		if n := len(all); n > 0 && all[n-1].first+len(all[n-1].lines) == line && code < line {
			all[n-1].lines = append(all[n-1].lines, strings.TrimSpace(text))
			continue
		}
		all = append(all, comment{line, []string{strings.TrimSpace(text)}})
	}
}

func width(line string) int {
	return utf8.RuneCountInString(line) + strings.Count(line, "\t")*(tabWidth-1)
}
