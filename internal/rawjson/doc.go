// Package rawjson reads, edits and writes JSON documents over their bytes. Nothing is
// decoded into values: a document is checked, its members are found, its long strings
// are noted, and all of it in one pass that returns offsets and sub-slices.
//
// A [Scanner] stands somewhere in a document. The caller steps into the objects
// it wants to read member by member ([Scanner.Enter], [Scanner.Next]), and into the
// arrays it wants to read value by value ([Scanner.EnterList], [Scanner.NextItem]),
// and has every other value checked and skipped whole ([Scanner.Skip],
// [Scanner.SkipString], [Scanner.SkipNoting]); the last notes the strings longer than
// a number of characters as it goes. Whatever the caller does, every byte is checked
// once, but for those that it knows ([Scanner.Jump]).
//
// A document that a Scanner has seen need not be checked again: a [Cursor] goes over it
// for what stands where, [Members], [Items], [Find] and [Get] are the short ways to an
// object's members and an array's values. An [Edit] replaces a stretch of a document
// ([Apply], [Edited]); [Set], [Remove], [RemoveWithin] and [Insert] are for members. An
// [Object] is one being written. These serve the whole program: nobody else reads,
// cuts up or glues JSON by hand.
//
// What counts as well-formed is RFC 8259 to the letter: numbers, literals and
// escapes as the grammar has them, no control characters in strings, valid UTF-8
// everywhere, nothing but white space around the document. An escaped lone
// surrogate (\ud800) is within the grammar and passes. Nesting is bounded by the
// caller. Names that come twice are refused in the objects the caller steps into
// and, with [Scanner.Unique], in every object; names are compared by what they
// say, not by how they are escaped.
//
// The package has its own parser, for requests too, because one pass is to serve
// the check, the envelope and the long strings, at the speed of reading memory:
// eight bytes at a time inside strings, one bit for an open container instead of a
// call. Tests hold it against encoding/json and go-json-experiment/jsontext; the latter would refuse lone surrogates or, told not to, take all of them for the
// same name, and is slower by half or more.
//
// Decoded texts are WTF-8: UTF-8 in which a lone surrogate is kept as the three
// bytes that UTF-8 would give it if it were allowed to, so that [Unquote] and
// [AppendQuoted] lose nothing.
package rawjson
