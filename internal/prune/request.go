package prune

import (
	"fmt"
	"math"
)

// Source is the kind of text; each kind has its own protected lines and its own model.
type Source int

// The kinds of text.
const (
	Code Source = iota
	Logs
	Docs
)

// ParseSource parses a source type as requests spell it.
func ParseSource(s string) (Source, error) {
	switch s {
	case "code":
		return Code, nil
	case "logs":
		return Logs, nil
	case "docs":
		return Docs, nil
	}
	return 0, fmt.Errorf("source type %q is none of code, logs, docs", s)
}

// String returns the name in requests.
func (s Source) String() string {
	switch s {
	case Logs:
		return "logs"
	case Docs:
		return "docs"
	default:
		return "code"
	}
}

// Structure says which structural lines (headers, imports, headings, error lines) always stay.
type Structure int

// The ways to treat structural lines.
const (
	// All keeps every structural line, and also gives the lines chosen for the goal at least half
	// of the budget.
	All Structure = iota
	// Enclosing keeps the file header and the structural lines around a kept line.
	Enclosing
)

// ParseStructure parses a structure setting.
func ParseStructure(s string) (Structure, error) {
	switch s {
	case "all":
		return All, nil
	case "enclosing":
		return Enclosing, nil
	}
	return 0, fmt.Errorf("structure %q is none of all, enclosing", s)
}

// String returns the name in settings.
func (s Structure) String() string {
	if s == Enclosing {
		return "enclosing"
	}
	return "all"
}

// Part is a hint besides the goal, such as the task that the goal is a step of.
type Part struct {
	Text   string
	Weight float64 // relative to the goal's 1
}

// Request is a text to prune and its bounds.
type Request struct {
	Text          string
	Goal          string
	Parts         []Part // further hints
	Source        Source
	MaxPruneRatio float64 // maximum share of lines to cut; NaN and below 0 mean 0
	MinKeepLines  int     // minimum number of lines to keep, if the text has that many
	Structure     Structure
	// Cut as much as the ratio allows, even matches of the goal: the size matters.
	Fill bool
	// Lines also count for their names: the reader may ask for anything in the text next.
	Names bool

	// Known reports whether the reader has a name from elsewhere: no line counts for it. It is used
	// if Names is set; nil: none.
	Known func(name string) bool

	// Marker returns the line that will replace a block, without its line ending. Only blocks with
	// more tokens than their marker go. nil: no markers. See [CostlyID].
	Marker func(Block) string

	// Expired is polled during the work. Once it returns true the plan cuts nothing. nil never
	// expires.
	Expired func() bool

	// Prefer has a reranker's score for each line, higher is better; NaN: none. It is weighed
	// against the local score, and changes only the order of preference, no bound. nil or another
	// length than the text's lines: ignored.
	Prefer []float64

	fixed bool // keep no line beyond the budget for its chance; for comparisons in trials
}

// Result says which lines go. The zero value keeps an empty text.
type Result struct {
	Lines    int     // lines of the text
	Kept     int     // lines that stay
	Blocks   []Block // removed blocks, in order, no two adjacent
	Snips    []Snip  // removed parts of huge lines, in order; only if markers are used
	TimedOut bool    // Expired returned true; nothing is cut
	Unmet    bool    // the ratio allows a cut, but protection or MinKeepLines forbids every one
}

// Pruned returns the number of removed lines.
func (r Result) Pruned() int { return r.Lines - r.Kept }

// Block is a run of removed lines.
type Block struct {
	Start, End int    // line numbers from 1, both inclusive
	Reason     string // short, in French, one line, without the marker's brackets
}

// Count returns the number of lines in the block.
func (b Block) Count() int { return b.End - b.Start + 1 }

// allowance returns the most lines of n that may go: the largest m whose share m/n, as any reader
// computes it, is not above the ratio. byBoth also leaves minKeep lines.
func allowance(n int, ratio float64, minKeep int) (byRatio, byBoth int) {
	if n <= 0 || math.IsNaN(ratio) || ratio <= 0 {
		return 0, 0
	}
	m := n
	if ratio < 1 {
		m = min(n, int(ratio*float64(n))+1)
		for m > 0 && float64(m)/float64(n) > ratio {
			m--
		}
	}
	return m, max(0, min(m, n-max(0, minKeep)))
}
