package prune

import "strings"

// maxGoalTerms bounds the terms of a goal; what a longer goal says after them is not looked at.
const maxGoalTerms = 256

// goal is what a request asks for, as terms. Its words are data; nothing in them is obeyed.
type goal struct {
	terms   []goalTerm
	index   map[uint64]int // hash of a term to its place in terms
	asksWhy bool           // it asks why something failed, in the words everyone uses for that
	own     int            // terms beyond those words
}

type goalTerm struct {
	hash   uint64
	text   string // lower-case letters of the part, stemmed where it is one
	weight float32
	whole  bool // a word of several parts, such as an identifier
	fail   bool // a word everyone uses to ask about a failure
}

// newGoal finds the terms of a goal: its words without those that say nothing about the text. A goal of nothing but such words
// is taken at its word. What says nothing depends on the source: "fix" opens half of all change requests, and is a topic in a manual.
func newGoal(text string, source Source) *goal {
	const maxBytes = 1 << 16
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	empty := changeWords
	if source == Docs {
		empty = pointerWords
	}
	g := &goal{index: map[uint64]int{}}
	all := &goal{index: map[uint64]int{}}
	s := splitter{}
	s.emit = func(hash uint64, start, end int) {
		word := strings.ToLower(text[start:end])
		t := goalTerm{hash: hash, text: word, weight: 1, whole: hash == hashWhole(word) && isCompound(text[start:end])}
		if !t.whole {
			b := []byte(word)
			t.text = string(b[:stem(b)])
		}
		t.fail = failWords[t.text]
		if t.fail {
			g.asksWhy = true
		}
		all.add(t)
		if len(t.text) > 1 && !emptyWords[t.text] && !empty[t.text] {
			g.add(t)
		}
	}
	s.split(text, 0, len(text))
	if len(g.terms) == 0 {
		g.terms, g.index = all.terms, all.index
	}
	for _, t := range g.terms {
		if !t.fail {
			g.own++
		}
	}
	return g
}

func (g *goal) add(t goalTerm) {
	if _, ok := g.index[t.hash]; ok || len(g.terms) >= maxGoalTerms {
		return
	}
	g.index[t.hash] = len(g.terms)
	g.terms = append(g.terms, t)
}

// isCompound says whether the word has several parts.
func isCompound(word string) bool {
	n := 0
	s := splitter{emit: func(uint64, int, int) { n++ }}
	s.split(word, 0, len(word))
	return n > 1
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
		b := []byte(w)
		set[string(b[:stem(b)])] = true
	}
	return set
}

// emptyWords say nothing about what a goal is after: function words of English and French.
var emptyWords = wordSet(`a an the and or but if then else when while of to in on at by for from with without into onto over under
is are was were be been being it its this that these those as not no nor so than too very can could should would will
shall may might must do does did done has have had having i you he she we they them their our your my me us what which
who whom whose why how where there here all any each few more most other some such only own same s t don just now via
per vs etc e g ie eg using use used uses make makes made let also about after before between because up down out off
again further once both during through against
le la les un une des du de et ou mais si dans sur sous par pour avec sans est sont etait etre ce cet cette ces il elle ils
elles on nous vous je tu que qui quoi dont ou quand comment pas ne plus au aux son sa ses leur leurs mon ma mes se en y
garder trouver afficher expliquer comprendre chercher voir faire fait tout tous toute toutes`)

// changeWords are the verbs of every change request.
var changeWords = wordSet(`fix fixes fixed fixing feat feature add adds added adding remove removes removed removing allow allows
support supports supported ensure update updates change changes changed improve improves handle handles handling
correct correctly properly avoid prevent implement issue bug bugs perf new chore refactor see section details
find show explain keep understand look corriger ajouter supprimer`)

// pointerWords only say that there is something to read.
var pointerWords = wordSet(`see section details documentation docs document guide information refer reference learn page please note
follow following described below above link find show explain understand look`)

// failWords are how people ask about any failure; they tell the intent and nothing of the text.
var failWords = wordSet(`why fail fails failed failure failures failing error errors err exception exceptions crash
crashed broke broken break breaks wrong problem problems build builds ci job jobs run test tests log logs reason cause happened
warning exited abort aborted pourquoi echec echecs echoue echouer erreur erreurs panne plante cause compilation`)
