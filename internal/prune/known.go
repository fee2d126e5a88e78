package prune

import "math/bits"

// knownWords caches the terms of words in a text. Most words repeat, and finding the terms of a
// word costs far more than finding the word. It takes plain ASCII words of bounded length, up to a
// limit.
type knownWords struct {
	slots []uint32 // word number + 1, open addressing
	shift uint     // 64 minus the bits of a slot number
	words []knownWord
	terms []uint32 // of words with several
	limit int
}

// knownWord is a cached word.
type knownWord struct {
	key  uint64 // its bytes up to seven, a hash of longer ones
	at   uint32 // its offset in the text
	term uint32 // its term, or the start of its terms
	size uint8
	has  uint8 // number of terms
}

// longestKnown is the maximum length of a cached word in bytes.
const longestKnown = 40

func newKnownWords(textLen int) *knownWords {
	const slotBits = 11
	return &knownWords{slots: make([]uint32, 1<<slotBits), shift: 64 - slotBits, limit: max(1<<14, textLen/48)}
}

// split adds the terms of text[start:end] to a text's next row.
func (k *knownWords) split(s *splitter, text string, start, end int) {
	t := s.into
	for i := start; i < end; {
		switch classes[text[i]] {
		case sepClass, underClass:
			if text[i] == 0x1b {
				i = skipEscape(text, i, end)
			} else {
				i++
			}
			continue
		}
		if i+wordBytes > end { // too close to the end to load a word
			i = k.word(s, text, i, end)
			continue
		}
		key := load(text, i)
		stop := notPlain(key)
		size := bits.TrailingZeros64(stop) / 8
		if size == wordBytes {
			i = k.word(s, text, i, end)
			continue
		}
		if key>>(8*size)&0x80 != 0 || size > longNumber && classes[text[i]] == digitClass {
			i = s.word(text, i, end)
			continue
		}
		key &= 1<<(8*size) - 1
		number := k.slots[key*hashPrime>>k.shift]
		// Not found at the first try.
		if number == 0 || k.words[number-1].key != key || k.words[number-1].has != 1 {
			i = k.find(s, text, key, i, size, end)
			continue
		}
		id := k.words[number-1].term
		t.vocab.see(id, len(t.line))
		t.terms = append(t.terms, id)
		i += size
	}
}

// mostLooked limits the probes for a word, so that words made to collide cost no more than others.
const mostLooked = 32

// longNumber is the length from which a number seldom repeats.
const longNumber = 4

// word adds the terms of the word at i to the row, and returns the word's end.
func (k *knownWords) word(s *splitter, text string, i, end int) int {
	key, size := plainWord(text, i, end)
	if size == 0 || size > longNumber && classes[text[i]] == digitClass {
		return s.word(text, i, end)
	}
	return k.find(s, text, key, i, size, end)
}

// find adds the terms of the word of this size at i to the row, cached or not. It returns the
// word's end.
func (k *knownWords) find(s *splitter, text string, key uint64, i, size, end int) int {
	t := s.into
	mask := uint64(len(k.slots)) - 1
	at := key * hashPrime >> k.shift
	for looked := 0; k.slots[at] != 0; at = (at + 1) & mask {
		if looked++; looked > mostLooked {
			return s.word(text, i, end)
		}
		w := &k.words[k.slots[at]-1]
		if w.key != key || int(w.size) != size || size >= wordBytes && text[w.at:int(w.at)+size] != text[i:i+size] {
			continue
		}
		if w.has == 1 {
			t.vocab.see(w.term, len(t.line))
			t.terms = append(t.terms, w.term)
			return i + size
		}
		terms := k.terms[w.term : w.term+uint32(w.has)]
		for _, id := range terms {
			t.vocab.see(id, len(t.line))
		}
		t.terms = append(t.terms, terms...)
		return i + size
	}
	before := len(t.terms)
	next := s.word(text, i, end)
	if len(k.words) < k.limit {
		k.slots[at] = uint32(len(k.words)) + 1 //nolint:gosec // the limit keeps it far below
		k.add(key, i, size, t.terms[before:])
	}
	return next
}

func (k *knownWords) add(key uint64, at, size int, terms []uint32) {
	w := knownWord{key: key, at: uint32(at), size: uint8(size), has: uint8(len(terms))} //nolint:gosec // offsets are below MaxText, words are short
	if len(terms) == 1 {
		w.term = terms[0]
	} else {
		w.term = uint32(len(k.terms)) //nolint:gosec // fewer than bytes
		k.terms = append(k.terms, terms...)
	}
	k.words = append(k.words, w)
	if 2*len(k.words) <= len(k.slots) {
		return
	}
	k.shift -= 2
	k.slots = make([]uint32, 4*len(k.slots))
	mask := uint64(len(k.slots)) - 1
	for number := range k.words {
		at := k.words[number].key * hashPrime >> k.shift
		for k.slots[at] != 0 {
			at = (at + 1) & mask
		}
		k.slots[at] = uint32(number) + 1
	}
}

// wordBytes is how many bytes of a text are processed in one step.
const wordBytes = 8

// plainWord returns the size and the key of the word at i; size 0: it is long or not ASCII.
func plainWord(text string, i, end int) (key uint64, size int) {
	for at := i; size <= longestKnown; at += wordBytes {
		x := loadUpTo(text, at, end)
		stop := notPlain(x)
		n := bits.TrailingZeros64(stop) / 8
		if n < wordBytes {
			x &= 1<<(8*n) - 1
		}
		if at == i {
			key = x
		} else {
			key = (key ^ x) * hashPrime
			key ^= key >> 29
		}
		size += n
		if n < wordBytes {
			if i+size < end && text[i+size] >= 0x80 || size > longestKnown {
				return 0, 0
			}
			return key, size
		}
	}
	return 0, 0
}

// load returns eight bytes as a little-endian number.
func load(text string, at int) uint64 {
	b := text[at : at+wordBytes]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// loadUpTo is load with zeros after end.
func loadUpTo(text string, at, end int) (x uint64) {
	if at+wordBytes <= end {
		return load(text, at)
	}
	for n := 0; at+n < end; n++ {
		x |= uint64(text[at+n]) << (8 * n)
	}
	return x
}

// notPlain sets the high bit of every byte that is no ASCII letter, digit or underscore, and clears
// everything else.
func notPlain(x uint64) uint64 {
	const every = everyByte
	low := x &^ highBits
	small := low | 0x20*every
	letter := small + (0x80-'a')*every // its high bit is set from a on
	afterLetter := small + (0x80-'z'-1)*every
	digit := low + (0x80-'0')*every
	afterDigit := low + (0x80-'9'-1)*every
	underscore := ^((low ^ '_'*every) + 0x7f*every)
	plain := letter&^afterLetter | digit&^afterDigit | underscore
	return ^plain&highBits | x&highBits
}
