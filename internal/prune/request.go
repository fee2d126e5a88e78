package prune

import (
	"fmt"
	"math"
)

// Source says what kind of text is pruned; each kind has its own protected lines and its own model.
type Source int

// The kinds of text.
const (
	Code Source = iota
	Logs
	Docs
)

// ParseSource reads a source type as requests spell it.
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

// String is the name requests use.
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

// Structure says which structural lines (headers, imports, headings, error lines) are forced to stay.
type Structure int

// The ways to treat structural lines.
const (
	// All keeps every structural line, and gives the lines chosen for the goal at least half of the budget besides.
	All Structure = iota
	// Enclosing keeps the file header and the structural lines around a kept line.
	Enclosing
)

// ParseStructure reads a structure setting.
func ParseStructure(s string) (Structure, error) {
	switch s {
	case "all":
		return All, nil
	case "enclosing":
		return Enclosing, nil
	}
	return 0, fmt.Errorf("structure %q is none of all, enclosing", s)
}

// String is the name settings use.
func (s Structure) String() string {
	if s == Enclosing {
		return "enclosing"
	}
	return "all"
}

// Part is something besides the goal that tells what is wanted, such as the task that the goal is a step of.
type Part struct {
	Text   string
	Weight float64 // beside the goal's 1
}

// Request is a text to prune and the bounds to keep.
type Request struct {
	Text          string
	Goal          string
	Parts         []Part // what else tells what is wanted
	Source        Source
	MaxPruneRatio float64 // most lines cut, as a share of all lines; NaN and below 0 mean 0
	MinKeepLines  int     // least lines kept, where there are that many
	Structure     Structure
	Fill          bool // as much goes as the ratio allows, even of what matches the goal: the size is the point
	Names         bool // lines also count for the names they have: who gets the text may ask for anything in it next

	// Known says whether who gets the text has a name from elsewhere: no line counts for it. It is asked where Names is set; nil says no.
	Known func(name string) bool

	// Marker is the line that will stand for a block, without its line ending. Only what has more tokens than its marker goes. nil:
	// nothing will stand there. See [CostlyID].
	Marker func(Block) string

	// Expired is polled while working; once it says true the plan is to cut nothing. nil never expires.
	Expired func() bool

	// Prefer holds a reranker's score for each line, higher is better; NaN where it has none. It is weighed against the local
	// score and changes the order of preference only, no bound. nil or a slice of another length than the text has lines: no opinion.
	Prefer []float64

	fixed bool // no line stays on top of the budget for its chance: what trials compare with
}

// Result says which lines go. The zero value keeps an empty text.
type Result struct {
	Lines    int     // lines of the text
	Kept     int     // lines that stay
	Blocks   []Block // what goes, in order, no two adjacent
	Snips    []Snip  // parts of huge lines that go, in order; only where a marker can stand for them
	TimedOut bool    // Expired said so; nothing is cut
	Unmet    bool    // the ratio allows a cut, and protection or MinKeepLines forbids every one
}

// Pruned is the number of lines that go.
func (r Result) Pruned() int { return r.Lines - r.Kept }

// Block is a run of lines that goes.
type Block struct {
	Start, End int    // line numbers from 1, both inclusive
	Reason     string // short, in French, one line, without the marker's brackets
}

// Count is the number of lines in the block.
func (b Block) Count() int { return b.End - b.Start + 1 }

// allowance is the most lines of n that may go: the largest m whose share m/n, as any reader of the result computes it,
// is not above the ratio, and which leaves minKeep lines.
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
