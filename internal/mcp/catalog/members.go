package catalog

import (
	"iter"

	"secateur/internal/rawjson"
)

// handleDepth limits the nesting of what clients return in cursors and URIs.
const handleDepth = 8

// members validates a small document returned by a client and iterates over its members. It yields
// none if the document is not an object or has duplicate names.
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
