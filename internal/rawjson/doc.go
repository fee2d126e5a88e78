// Package rawjson reads, edits and writes JSON documents as bytes, without decoding them into
// values. One pass checks a document, finds its members and records its long strings. It returns
// offsets and sub-slices.
//
// A [Scanner] has a position in a document. The caller steps into objects to read their members
// ([Scanner.Enter], [Scanner.Next]), and into arrays to read their values ([Scanner.EnterList],
// [Scanner.NextItem]). All other values are checked and skipped whole ([Scanner.Skip],
// [Scanner.SkipString], [Scanner.SkipNoting]). The last one also records strings longer than a
// number of characters. Every byte is checked once, except bytes that the caller already knows
// ([Scanner.Jump]).
//
// A checked document need not be checked again. A [Cursor] walks over it; [Members], [Items],
// [Find] and [Get] are shortcuts to members and values. An [Edit] replaces a range of a document
// ([Apply], [Edited]). [Set], [Remove], [RemoveWithin] and [Insert] change members. An [Object] is
// an object being written. The whole program uses these; no other package handles JSON text by
// hand.
//
// Well-formed means RFC 8259 to the letter. Numbers, literals and escapes follow the grammar.
// Strings have no control characters. The document is valid UTF-8, with only white space around it.
// An escaped lone surrogate (\ud800) conforms to the grammar and passes. The caller limits the
// nesting. Duplicate names are refused in objects that the caller enters and, with
// [Scanner.Unique], in every object. Names are compared after decoding.
//
// The package has its own parser for speed: one pass serves the check, the envelope and the long
// strings. It reads eight bytes at a time inside strings, and uses one bit per open container
// instead of recursion. Tests compare it with encoding/json and go-json-experiment/jsontext. The
// latter refuses lone surrogates or, if told not to, treats all of them as the same name. It is
// also slower by half or more.
//
// Decoded texts are WTF-8: UTF-8 that encodes a lone surrogate in three bytes, as if that were
// allowed. So [Unquote] and [AppendQuoted] lose nothing.
package rawjson
