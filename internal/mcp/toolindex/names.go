package toolindex

import (
	"strings"
	"unicode"
)

// Tiers of items that a query names.
const (
	partOfName = 1 + iota // the query is a part of the name
	inQuery               // the query has the name in it, written as one
	wholeName             // the query is the name
)

// names finds items by their names, whatever stands between the words of these.
type names struct {
	bare  []string           // by item, in letters and digits
	whole map[string][]int32 // items by name, and by server and name
}

func newNames(items []Item) names {
	n := names{bare: make([]string, len(items)), whole: make(map[string][]int32, 2*len(items))}
	for i, it := range items {
		bare := squeezed(it.Name)
		n.bare[i] = bare
		at := int32(i)
		if bare != "" {
			n.whole[bare] = append(n.whole[bare], at)
		}
		if full := squeezed(it.Server) + bare; full != bare {
			n.whole[full] = append(n.whole[full], at)
		}
	}
	return n
}

// find returns the tiers of the items that a query names.
func (n names) find(query string) map[int32]int {
	found := map[int32]int{}
	fields := strings.Fields(query)
	all := squeezed(query)
	if all == "" {
		return found
	}
	const fewWords = 6
	if len(fields) <= fewWords {
		for _, at := range n.whole[all] {
			found[at] = wholeName
		}
	}
	for _, f := range fields {
		if !looksNamed(f) {
			continue
		}
		for _, at := range n.whole[squeezed(f)] {
			found[at] = max(found[at], inQuery)
		}
	}
	const least = 4 // letters of a part
	if len(fields) == 1 && looksNamed(fields[0]) && len(all) >= least {
		for i, bare := range n.bare {
			if at := int32(i); strings.Contains(bare, all) {
				found[at] = max(found[at], partOfName)
			}
		}
	}
	return found
}

// looksNamed tells an identifier from a word: it has a separator or an upper case letter within.
func looksNamed(s string) bool {
	s = strings.Trim(s, "`'\"().,;!?<>")
	if strings.Contains(s, "_") || strings.Contains(s, "::") {
		return true
	}
	for i, r := range s {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(s[i-1])) {
			return true
		}
		if r == '-' || r == '.' {
			return true
		}
	}
	return false
}

// squeezed leaves letters and digits, in lower case.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
