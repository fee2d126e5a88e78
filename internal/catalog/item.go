package catalog

import "secateur/internal/rawjson"

// An entry is an item that can be used.
type entry struct {
	server int    // index
	raw    []byte // as it came
	name   string // or URI, or template: what identifies it to its server
	at     span   // of the name in raw
	edits  []Edit // to be made for every client, the name left out
}

// readItem finds what identifies an item. It returns the name, where there is one,
// and what is wrong with the item, if anything.
func readItem(l List, server string, raw []byte) (e entry, problem string) {
	e.raw = rawjson.Trim(raw)
	key := listWords[l].key
	if !isObject(e.raw) {
		return e, "not an object"
	}
	var keys, schemas int
	var isString, isSchema bool
	w := walker{doc: e.raw}
	for w.enter(); !w.done(); {
		switch name := word(w.raw()); string(name) {
		case key:
			keys++
			e.at = w.value()
			e.name, isString = text(e.at.of(e.raw))
		case "inputSchema":
			schemas++
			isSchema = w.peek() == '{'
			w.value()
		default:
			w.value()
		}
	}
	switch {
	case keys == 0:
		return e, key + " is missing"
	case keys > 1:
		return e, key + " is given twice"
	case !isString:
		return e, key + " is not a string"
	case e.name == "":
		return e, key + " is empty"
	case l == Tools && schemas == 0:
		return e, "inputSchema is missing"
	case l == Tools && !isSchema:
		return e, "inputSchema is not an object"
	}
	switch l {
	case Tools:
		e.edits = rewrite(e.raw, toolItem, Outgoing{Server: server}.names())
	case Resources:
		e.edits = []Edit{e.rename(EncodeURI(server, e.name))}
	case Templates:
		e.edits = []Edit{e.rename(EncodeTemplate(server, e.name))}
	}
	return e, ""
}

// rename returns the edit that gives the entry another name.
func (e *entry) rename(name string) Edit {
	return Edit{Start: e.at.start, End: e.at.end, New: rawjson.AppendQuoted(nil, name)}
}

// appendRenamed appends the entry with another name and its own edits.
func (e *entry) appendRenamed(dst []byte, name string) []byte {
	before := 0
	for before < len(e.edits) && e.edits[before].Start < e.at.start {
		before++
	}
	edits := make([]Edit, 0, len(e.edits)+1)
	edits = append(append(append(edits, e.edits[:before]...), e.rename(name)), e.edits[before:]...)
	return Apply(dst, e.raw, edits)
}
