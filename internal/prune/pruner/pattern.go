package pruner

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

const (
	maxPattern     = 1000 // bytes of a pattern; less than pieceOverlap
	maxPatternCost = 2000 // steps of a pattern, with repetitions multiplied out
)

// pattern is a compiled search pattern.
type pattern struct {
	*regexp.Regexp
	cost    int  // approximate number of instructions
	asserts bool // it depends on the text around a match: ^, $, \b
}

// compilePattern compiles literal text, or a regular expression of bounded cost.
func compilePattern(text string, isRegexp, ignoreCase bool) (pattern, error) {
	switch {
	case text == "":
		return pattern{}, errors.New("must not be empty")
	case len(text) > maxPattern:
		return pattern{}, fmt.Errorf("is longer than %d bytes", maxPattern)
	case !utf8.ValidString(text):
		return pattern{}, errors.New("is not valid Unicode")
	case !isRegexp:
		text = regexp.QuoteMeta(text)
	}
	if ignoreCase {
		text = "(?i)" + text
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return pattern{}, fmt.Errorf("is no regular expression: %w", err)
	}
	p := pattern{cost: cost(tree), asserts: asserts(tree)}
	if p.cost > maxPatternCost {
		return pattern{}, errors.New("is too large a regular expression: repeat less")
	}
	if p.Regexp, err = regexp.Compile(text); err != nil {
		return pattern{}, fmt.Errorf("is no regular expression: %w", err)
	}
	return p, nil
}

// cost returns the approximate number of instructions of a compiled expression.
func cost(re *syntax.Regexp) int {
	sum := 1
	if re.Op == syntax.OpLiteral {
		sum = len(re.Rune)
	}
	for _, sub := range re.Sub {
		sum += cost(sub)
	}
	if re.Op == syntax.OpRepeat {
		sum *= max(re.Min, re.Max, 1)
	}
	return sum
}

func asserts(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return slices.ContainsFunc(re.Sub, asserts)
}
