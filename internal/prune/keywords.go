package prune

import "strings"

// role is what a word does at the start of a line of code, as a set of bits.
type role uint8

const (
	closes   role = 1 << iota // closes or continues a block
	modifies                  // precedes the keyword of a definition
	defines                   // opens a definition, if the rest of the line has that shape
	calls                     // what looks like a function head after it is none
)

// roleOf returns the role of a word.
func roleOf(word string) role {
	if !keywordShapes.has(word) {
		return 0
	}
	return keywords[word]
}

// keywords are the words of common languages that determine the kind of a line.
var keywords = func() map[string]role {
	table := map[string]role{}
	for words, r := range map[string]role{
		`else elif elsif elseif except finally catch rescue ensure end endif endfunction done fi esac where then begin`: closes,

		`public private protected internal static final abstract async export default unsafe extern inline virtual override open sealed
		partial readonly declare suspend data inner fileprivate mutating nonisolated lazy case companion tailrec operator infix actual
		expect synchronized native strictfp transient volatile constexpr consteval friend typename local global pub template const`: modifies,

		`class interface enum struct trait impl union namespace module object protocol extension record def defp defmodule defmacro
		defprotocol defimpl defstruct fn func fun function sub proc procedure type typedef mod actor annotation mixin newtype instance
		macro macro_rules typealias delegate constructor init deinit subroutine program unit test describe service message rpc contract`: defines,

		`if for while switch return else catch case throw new delete await yield assert echo print goto typeof sizeof in not and or do
		try with using lock foreach elif unless until match when raise defer go select super this self lambda except loop guard fixed
		checked unchecked static_assert require puts printf fprintf`: calls,
	} {
		for w := range strings.FieldsSeq(words) {
			table[w] |= r
		}
	}
	return table
}()

var keywordShapes = shapesOf(keywords)

// wordShapes has, for each first letter, the lengths of a set's words. It rules out most other
// words quickly.
type wordShapes [256]uint32

func shapesOf[T any](words map[string]T) *wordShapes {
	s := &wordShapes{}
	for w := range words {
		s[w[0]] |= 1 << len(w)
	}
	return s
}

// has reports whether a word may be in the set.
func (s *wordShapes) has(word string) bool {
	return word != "" && s[word[0]]>>len(word)&1 != 0
}
