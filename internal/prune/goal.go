package prune

import "strings"

// maxGoalTerms limits the terms of a goal; the rest of a longer goal is ignored.
const maxGoalTerms = 256

// goal is what a request asks for, as terms. Its words are data; nothing in them is obeyed.
type goal struct {
	terms   []goalTerm
	index   map[uint64]int // hash of a term to its index in terms
	asksWhy bool           // it asks why something failed, in the common words for that
	own     int            // number of terms other than those words
}

type goalTerm struct {
	hash   uint64
	text   string // lower-case letters of the part, stemmed if it is a part
	weight float32
	times  float32 // occurrences in the goal
	whole  bool    // a word of several parts, such as an identifier
	fail   bool    // a common word for asking about a failure
}

// newGoal finds the terms of a goal: its words, without those that say nothing about the text. A
// goal of only such words keeps them. Which words say nothing depends on the source: "fix" opens
// half of all change requests, but is a topic in a manual. The weight of a term is the sum over the
// parts that name it, and grows with repetition.
func newGoal(req Request) *goal {
	g := &goal{index: map[uint64]int{}}
	all := &goal{index: map[uint64]int{}}
	g.read(all, req.Goal, 1, req.Source)
	for _, part := range req.Parts {
		if part.Weight > 0 {
			g.read(all, part.Text, float32(part.Weight), req.Source)
		}
	}
	if len(g.terms) == 0 {
		g.terms, g.index = all.terms, all.index
	}
	for i := range g.terms {
		t := &g.terms[i]
		if !t.fail {
			g.own++
		}
		t.weight = float32(min(heaviest, t.weight) * (1 + float32(repeated*fastLog(t.times))))
	}
	return g
}

const (
	heaviest = 2  // maximum weight of a term, however many parts name it
	repeated = .4 // additional weight of a repeated term
	loudest  = 8  // repetitions that count
)

// read adds the terms of a part; all also gets those that say nothing.
func (g *goal) read(all *goal, text string, weight float32, source Source) {
	const maxBytes = 1 << 16
	if len(text) > maxBytes {
		text = text[:maxBytes]
	}
	empty := changeWords
	if source == Docs {
		empty = pointerWords
	}
	part := map[uint64]bool{}
	s := splitter{}
	s.emit = func(hash uint64, start, end int, whole bool) {
		word := strings.ToLower(text[start:end])
		t := goalTerm{hash: hash, text: word, weight: weight, times: 1, whole: whole}
		if !t.whole {
			b := []byte(word)
			t.text = string(b[:stem(b)])
		}
		t.fail = failWords[t.text]
		if t.fail {
			g.asksWhy = true
		}
		first := !part[hash]
		part[hash] = true
		all.add(t, first)
		if (len(t.text) > 1 || classes[word[0]] == digitClass) && !emptyWords[t.text] && !empty[t.text] {
			g.add(t, first)
		}
	}
	s.split(text, 0, len(text))
}

// add adds a term; first means that its part has not named it before.
func (g *goal) add(t goalTerm, first bool) {
	if i, ok := g.index[t.hash]; ok {
		old := &g.terms[i]
		old.times = min(loudest, old.times+1)
		if first {
			old.weight += t.weight
		}
		return
	}
	if len(g.terms) >= maxGoalTerms {
		return
	}
	g.index[t.hash] = len(g.terms)
	g.terms = append(g.terms, t)
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

// emptyWords say nothing about the goal: function words of English and French.
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

// pointerWords only say that something can be read.
var pointerWords = wordSet(`see section details documentation docs document guide information refer reference learn page please note
follow following described below above link find show explain understand look`)

// failWords are the common words about any failure. They show the intent but say nothing about the
// text.
var failWords = wordSet(`why fail fails failed failure failures failing error errors err exception exceptions crash
crashed broke broken break breaks wrong problem problems build builds ci job jobs run test tests log logs reason cause happened
warning exited abort aborted pourquoi echec echecs echoue echouer erreur erreurs panne plante cause compilation`)
