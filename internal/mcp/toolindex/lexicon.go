package toolindex

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed lexicon.txt
var lexiconText string

//go:embed learned.txt
var learnedText string

// Lexicon is what is known of words.
type Lexicon struct {
	concepts map[string][]concept // of a stem: its groups of synonyms, then its subjects
	isTopic  []bool               // by concept: a subject
	trust    map[string]float32   // of a stem in a query: how much it says; absent: 1
	leads    map[string][]lead    // of a stem in a query: what else tools then have
}

// concept is a group of synonyms or a subject.
type concept int32

// lead is a stem that tools have where a query has another.
type lead struct {
	to     string
	weight float32
}

// Words returns the lexicon of the program.
func Words() *Lexicon { return shipped() }

var shipped = sync.OnceValue(func() *Lexicon { return ParseLexicon(lexiconText, learnedText) })

// ParseLexicon reads the table of synonyms and subjects and what was learned, both in the form that the program carries. Lines
// that are not understood are passed over.
func ParseLexicon(table, learned string) *Lexicon {
	l := &Lexicon{concepts: map[string][]concept{}, trust: map[string]float32{}, leads: map[string][]lead{}}
	for _, topics := range []bool{false, true} {
		for line := range strings.Lines(table) {
			fields := strings.Fields(line)
			if len(fields) < 2 || strings.HasPrefix(fields[0], "#") || strings.HasPrefix(fields[0], "~") != topics {
				continue
			}
			if topics {
				fields = fields[1:]
			}
			c := concept(len(l.isTopic)) //nolint:gosec // a few hundred
			l.isTopic = append(l.isTopic, topics)
			for _, w := range fields {
				if s := stem(w); !slices.Contains(l.concepts[s], c) {
					l.concepts[s] = append(l.concepts[s], c)
				}
			}
		}
	}
	for line := range strings.Lines(learned) {
		fields := strings.Fields(line)
		switch len(fields) {
		case 2: // how much a word says
			if v, err := strconv.ParseFloat(fields[1], 32); err == nil {
				l.trust[fields[0]] = float32(v)
			}
		case 3: // a word, another, how likely
			if v, err := strconv.ParseFloat(fields[2], 32); err == nil {
				l.leads[fields[0]] = append(l.leads[fields[0]], lead{fields[1], float32(v)})
			}
		}
	}
	return l
}

// trusted is how much a stem of a query says.
func (l *Lexicon) trusted(s string) float32 {
	if v, ok := l.trust[s]; ok {
		return v
	}
	return 1
}

// has reports whether a stem is in the table.
func (l *Lexicon) has(s string) bool { return len(l.concepts[s]) > 0 }
