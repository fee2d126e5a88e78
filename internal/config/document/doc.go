// Package document edits the bytes of a JSON, TOML or YAML document. It inserts an entry into a
// top-level group or removes one, and keeps every other byte. Comments, line endings and
// indentation stay.
//
// [Insert], [Remove] and [Find] take a [Place]. The parsers of the three languages give the offsets
// at which to cut and to insert. The result of every edit is parsed again; it must equal the
// original except for the entry. [Diff] shows a person the changes.
package document
