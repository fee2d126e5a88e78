// Package mask cuts long strings out of a JSON document. What is cut becomes its
// head, a marker that says so, and its tail; everything else keeps its bytes.
//
// The work is split so that the document is read once, by whoever reads it anyway:
// the reader notes the strings longer than [Masker.LongString] characters,
// [Masker.Cuts] decides which of them are to be cut and where, the caller keeps
// their originals ([Cut.Text]), drops the cuts whose original could not be kept,
// and [Masker.Append] writes the document with the rest of them made. Nothing is
// decoded but the originals. [Masker.TextCuts] decides for the result of a tool, of
// which only the texts are to be cut, and finds them itself. [Masker.Mask] does all
// of it for a caller that keeps nothing.
//
// Characters are Unicode code points of the decoded string; an escaped surrogate
// pair is one, and so is an escaped surrogate that stands alone. A cut lies between
// two characters, never inside an escape, a pair or a UTF-8 sequence, and the
// marker between head and tail is never empty, so that no two halves can become
// something else.
package mask
