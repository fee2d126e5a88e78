package provider_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// writer makes up texts of several kinds, which tokenizers count differently.
type writer struct{ *rand.Rand }

var words = strings.Fields(`the of and to in is that for it as was with be by on not he his but at are this have from or had an they which one you were
her all she there would their we him been has when who will more no if out so said what up its about into than them can only other new some could time these
two may then do first any my now such like our over man me even most made after also did many before must through back years where much your way well down
should because each just those people how too little state good very make world still own see men work long get here between both life being under never day
same another know while last might us great old year off come since against go came right used take three repository function parameter connection timeout`)

func (w writer) word() string { return words[w.IntN(len(words))] }

func (w writer) prose(chars int) string {
	var b strings.Builder
	for b.Len() < chars {
		b.WriteString(w.word())
		switch w.IntN(12) {
		case 0:
			b.WriteString(". ")
		case 1:
			b.WriteString(",\n")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func (w writer) name() string {
	return w.word() + "_" + w.word() + fmt.Sprint(w.IntN(100))
}

func (w writer) code(chars int) string {
	var b strings.Builder
	for b.Len() < chars {
		switch w.IntN(5) {
		case 0:
			fmt.Fprintf(&b, "def %s(self, %s, %s=None):\n", w.name(), w.name(), w.word())
		case 1:
			fmt.Fprintf(&b, "        if self.%s[%q] != %d: return %s(%s)\n", w.name(), w.word(), w.IntN(1000), w.name(), w.word())
		case 2:
			fmt.Fprintf(&b, "    %s = {%q: %s.%s(), %q: [%d, %d]}\n", w.name(), w.word(), w.word(), w.word(), w.word(), w.IntN(50), w.IntN(5000))
		case 3:
			fmt.Fprintf(&b, "    # %s %s %s\n", w.word(), w.word(), w.word())
		default:
			fmt.Fprintf(&b, "    for %s in range(%d): %s.append(%s * 2)\n", w.word(), w.IntN(99), w.name(), w.word())
		}
	}
	return b.String()
}

func (w writer) logs(chars int) string {
	var b strings.Builder
	for b.Len() < chars {
		fmt.Fprintf(&b, "2026-11-%02dT%02d:%02d:%02d.%03dZ INFO [%s] request id=%08x took=%dms path=/%s/%s\n", 1+w.IntN(28), w.IntN(24), w.IntN(60), w.IntN(60),
			w.IntN(1000), w.word(), w.Uint32(), w.IntN(900), w.word(), w.name())
	}
	return b.String()
}

func (w writer) json(chars int) string {
	var b strings.Builder
	b.WriteString("[")
	for b.Len() < chars {
		fmt.Fprintf(&b, `{"id":%d,"name":%q,"tags":[%q,%q],"hash":"%016x","ok":true},`+"\n", w.IntN(1e6), w.name(), w.word(), w.word(), w.Uint64())
	}
	return b.String() + "{}]"
}

// result makes up a tool's result.
func (w writer) result(chars int) string {
	switch w.IntN(4) {
	case 0:
		return w.prose(chars)
	case 1:
		return w.logs(chars)
	case 2:
		return w.json(chars)
	default:
		return w.code(chars)
	}
}

// size draws the length of a result as agents see them: most are short, some are huge.
func (w writer) size() int {
	switch w.IntN(10) {
	case 0:
		return 15000 + w.IntN(40000)
	case 1, 2:
		return 5000 + w.IntN(8000)
	case 3, 4, 5:
		return 1500 + w.IntN(3000)
	default:
		return 20 + w.IntN(1200)
	}
}
