package rawjson

// unescape copies a text with its simple escapes decoded. It stops at any other escape, and where less than unescapeAhead bytes are
// left of the text or the room. It may have written more than it says. It may be called where canSkim is true.
//
//go:noescape
func unescape(dst, text []byte) (wrote, read int)
