// Package document edits a JSON, TOML or YAML document over its bytes: it puts an entry into a top-level group or takes
// one out, and leaves every byte that is not the edit as it was, with its comments, line endings and indentation.
//
// [Insert], [Remove] and [Find] take a [Place]. The parsers of the three languages say where things stand, and offsets into
// the document say what to cut and what to put in. Whatever an edit gives has been read again, and says the same as before
// but for the entry. [Diff] shows a person what an edit changes.
package document
