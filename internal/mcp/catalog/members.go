package catalog

import (
	"iter"

	"secateur/internal/rawjson"
)

// handleDepth bounds what clients hand back to us in cursors and URIs.
const handleDepth = 8

// members checks a small document that came back from a client and walks the
// object that it is. Anything else, a name twice included, has no members.
func members(doc []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		check := rawjson.NewScanner(doc, handleDepth)
		check.Unique = true
		if check.Peek() != '{' {
			return
		}
		if _, err := check.Skip(); err != nil || check.End() != nil {
			return
		}
		for name, at := range rawjson.Members(doc) {
			if !yield(string(name), at.Of(doc)) {
				return
			}
		}
	}
}
