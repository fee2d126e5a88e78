// Package toolindex finds tools, prompts and resources by what a person or a model asks for in words.
//
// A [Part] is what one server lists, read into terms once (part.go). [New] joins parts into an [Index]; a server whose list
// changes needs only its own part made again. [Index.Find] answers a query in two steps. The first is BM25 over weighted
// fields (index.go, search.go), in which a word also counts, for less, where the tool has a synonym or another word of the
// same subject. The second measures the best candidates more closely (measure.go) and orders them by a linear model
// (model.go). Names go before both: a query that is a tool's name, or a part of it, finds that tool first (names.go).
//
// Words are split out of identifiers (words.go) and stemmed (stem.go). Synonyms and subjects are a table written by hand
// (lexicon.txt); which words predict which others, and which predict nothing, was learned from queries (learned.txt). The
// trainer is test/eval/toolrank.
//
// Everything here is a pure function of its arguments: the same index gives the same answer, byte for byte.
package toolindex
