package excerpt

import (
	"math"
	"strings"
)

// Goal says what a result was asked for. Parts that are empty say nothing.
type Goal struct {
	Focus  string   // what the model says that it is looking for
	Call   string   // the call's arguments, the tool's name and title
	Before []string // the arguments of the session's calls before, the newest first
}

// From names the best part that there is, for people to see; "" if there is none.
func (g Goal) From() string {
	switch {
	case strings.TrimSpace(g.Focus) != "":
		return "focus"
	case strings.TrimSpace(g.Call) != "":
		return "call"
	case len(g.Before) > 0:
		return "calls"
	}
	return ""
}

// What the parts of a goal weigh beside what a typical part of the text says.
const (
	focusWeight  = 4
	callWeight   = .7
	beforeWeight = .25
)

// Text is the goal in one text, for the engine of package prune.
func (g Goal) Text() string {
	if g.From() == "focus" {
		return g.Focus + "\n" + g.Call
	}
	return g.Call
}

// wanted are the words of a goal and what each weighs.
type wanted map[uint64]float32

// words takes the goal's words. A word that comes in several parts has the weight of the best.
func (g Goal) words() wanted {
	w := wanted{}
	w.add(g.Focus, focusWeight)
	w.add(g.Call, callWeight)
	weight := float32(beforeWeight)
	for _, call := range g.Before {
		w.add(call, weight)
		weight *= .7
	}
	return w
}

func (w wanted) add(text string, weight float32) {
	eachPart(text, func(word string) {
		if h := hashOf(word); weightOf(word) > .1 && w[h] < weight {
			w[h] = weight
		}
	})
}

// eachPart gives the words of a text, and of identifiers also the words that they are made of.
func eachPart(text string, yield func(word string)) {
	for i, end := nextWord(text, 0); i < len(text); i, end = nextWord(text, end) {
		word := text[i:end]
		yield(word)
		start := 0
		for j := 1; j < len(word); j++ {
			isBorder := word[j] == '_' || classes[word[j]] == upper && classes[word[j-1]] != upper
			if !isBorder {
				continue
			}
			if j-start > 3 {
				yield(strings.Trim(word[start:j], "_"))
			}
			start = j
		}
		if start > 0 && len(word)-start > 3 {
			yield(strings.TrimLeft(word[start:], "_"))
		}
	}
}

// of is the weight of a word, or a part of that of the words that it is made of.
func (w wanted) of(word string) (weight float32) {
	whole := w[hashOf(word)]
	eachPart(word, func(part string) { weight = max(weight, partShare*w[hashOf(part)]) })
	return max(whole, weight)
}

// partShare is what a word counts that only has a word of the goal in it.
const partShare = .25

// spread has the hits in some parts of a text count for the parts around them, too, for those behind them further on. The best part has
// the weight of the goal's best word, however many words it has.
func (w wanted) spread(own []float32) []float32 {
	top, weight := float32(0), float32(0)
	for i := range own {
		top = max(top, own[i])
	}
	if top == 0 {
		return own
	}
	for _, v := range w {
		weight = max(weight, v)
	}
	out := make([]float32, len(own))
	for i, v := range own {
		if v == 0 {
			continue
		}
		for d := -behind; d <= ahead; d++ {
			if j := i + d; j >= 0 && j < len(own) {
				out[j] = max(out[j], min(weight, v*weight/top)*fading[d+behind])
			}
		}
	}
	return out
}

// How far a hit reaches, in parts before it and behind it.
const behind, ahead = 3, 6

// fading is what is left of a hit at each distance.
var fading = func() (f [behind + ahead + 1]float32) {
	for d := -behind; d <= ahead; d++ {
		if d < 0 {
			f[d+behind] = 1 + float32(d)/(behind+1)
		} else {
			f[d+behind] = 1 - float32(d)/(ahead+1)
		}
	}
	return f
}()

// rareness is 1 for a word that is in one of the parts of a text, and less for one that is in more of them.
func rareness(n, parts int) float32 {
	all := float64(parts)
	return float32(math.Log2(1+all/float64(max(n, 1))) / math.Log2(1+all))
}
