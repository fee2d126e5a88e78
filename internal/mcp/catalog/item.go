package catalog

import (
	"bytes"
	"slices"

	"secateur/internal/mcp/era"
	"secateur/internal/rawjson"
)

// An entry is a usable item.
type entry struct {
	server int            // index of the server
	raw    []byte         // raw bytes as received
	name   string         // name, URI or template: identifies it to its server
	at     rawjson.Span   // span of the name in raw
	edits  []rawjson.Edit // edits for all clients, except the name
	focus  bool           // one of them adds FocusArgument
	task   bool           // a tool that can be called as a task only
}

// readItem finds an item's name. It returns the name, if any, and the problem with the item, if
// any.
func readItem(l List, server string, raw []byte) (e entry, problem string) {
	e.raw = rawjson.Trim(raw)
	key := listWords[l].key
	c := rawjson.NewCursor(e.raw)
	if c.Peek() != '{' {
		return e, "not an object"
	}
	var keys, schemas int
	var isString, isSchema bool
	for c.Enter(); !c.Done(); {
		switch string(c.Name()) {
		case key:
			keys++
			e.at = c.Value()
			e.name, isString = rawjson.Text(e.at.Of(e.raw))
		case "inputSchema":
			schemas++
			isSchema = c.Peek() == '{'
			c.Value()
		default:
			c.Value()
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
		if problem := toolProblem(e.raw); problem != "" {
			return e, problem
		}
		e.task = needsTask(e.raw)
		e.edits = rewrite(e.raw, toolItem, Outgoing{Server: server}.names())
	case Resources:
		e.edits = []rawjson.Edit{e.rename(EncodeURI(server, e.name))}
	case Templates:
		e.edits = []rawjson.Edit{e.rename(EncodeTemplate(server, e.name))}
	}
	return e, ""
}

// toolProblem returns why a tool must not be offered, or "": its x-mcp-header annotations are
// invalid (2026-07-28, Streamable HTTP, custom headers).
func toolProblem(tool []byte) string {
	if !bytes.Contains(tool, []byte("x-mcp-header")) {
		return ""
	}
	if _, err := era.ReadToolHeaders(tool); err != nil {
		return err.Error()
	}
	return ""
}

// needsTask reports whether a tool can be called as a task only (2025-11-25, tasks).
func needsTask(tool []byte) bool {
	return bytes.Contains(tool, []byte("taskSupport")) && rawjson.GetText(rawjson.Get(tool, "execution"), "taskSupport") == "required"
}

// rename returns the edit that gives the entry another name.
func (e *entry) rename(name string) rawjson.Edit {
	return rawjson.Edit{Span: e.at, New: rawjson.AppendQuoted(nil, name)}
}

// appendRenamed appends the entry with another name and its own edits.
func (e *entry) appendRenamed(dst []byte, name string) []byte {
	before := 0
	for before < len(e.edits) && e.edits[before].Start < e.at.Start {
		before++
	}
	edits := make([]rawjson.Edit, 0, len(e.edits)+1)
	edits = append(append(append(edits, e.edits[:before]...), e.rename(name)), e.edits[before:]...)
	return rawjson.Apply(dst, e.raw, edits)
}

// addFocus adds the argument that says what is wanted of a result, where the tool can have it.
func (e *entry) addFocus() {
	edit, ok := focusEdit(e.raw)
	if !ok {
		return
	}
	e.focus = true
	e.edits = append(slices.Clip(e.edits), edit)
	rawjson.SortEdits(e.edits)
}
