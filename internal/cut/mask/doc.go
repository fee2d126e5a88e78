// Package mask cuts long strings out of a JSON document. A cut string becomes its head, a marker
// and its tail; all other bytes stay.
//
// The work is split so that the document is parsed only once, by its reader. The reader records
// strings longer than [Masker.LongString] characters. [Masker.Cuts] decides which of them to cut,
// and where. The caller stores their originals ([Cut.Text]) and drops cuts whose original could not
// be stored. [Masker.Append] writes the document with the remaining cuts. Only the originals are
// decoded. [Masker.TextCuts] is for the result of a tool, in which only texts are cut, and finds
// them itself. [Masker.Mask] does all of it for a caller that stores nothing.
//
// Characters are Unicode code points of the decoded string. An escaped surrogate pair is one, and
// so is an escaped lone surrogate. A cut lies between two characters, never inside an escape, a
// pair or a UTF-8 sequence. The marker is never empty, so that head and tail cannot combine into
// something else.
package mask
