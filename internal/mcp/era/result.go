package era

import "secateur/internal/rawjson"

// The values of resultType.
const (
	Complete      = "complete"
	InputRequired = "input_required"
	Task          = "task"
)

// ResultType returns the type of a result. It is Complete if absent, as in results of legacy
// servers, and "" if it is not a string.
func ResultType(result []byte) string {
	raw := rawjson.Get(result, "resultType")
	if rawjson.IsNothing(raw) {
		return Complete
	}
	return string(rawjson.Word(raw))
}

// ResultToLegacy returns a result without the members that only modern clients understand. If
// nothing changes, it returns the same slice.
func ResultToLegacy(result []byte) []byte {
	return rawjson.Remove(result, "resultType", "ttlMs", "cacheScope")
}

// ResultToModern adds to a method's result the members that modern clients expect and legacy
// servers omit. Existing members stay. serverInfo is a raw object, or nil. A result that is not an
// object is returned unchanged.
func ResultToModern(method string, result, serverInfo []byte) []byte {
	if !rawjson.IsObject(result) {
		return result
	}
	found := rawjson.FindAll(result, "resultType", "ttlMs", "cacheScope", "_meta")
	var edits []rawjson.Edit
	var fresh rawjson.Object
	// put sets a member that is absent or null.
	put := func(name string, at rawjson.Span, value string) {
		switch {
		case at.IsZero():
			fresh.Raw(name, []byte(value))
		case rawjson.IsNothing(at.Of(result)):
			edits = append(edits, rawjson.Edit{Span: at, New: []byte(value)})
		}
	}
	put("resultType", found[0], `"complete"`)
	if kind := found[0].Of(result); isCacheable(method) && (rawjson.IsNothing(kind) || string(rawjson.Word(kind)) == Complete) {
		put("ttlMs", found[1], `0`)
		put("cacheScope", found[2], `"private"`)
	}
	if serverInfo != nil {
		if meta := found[3]; rawjson.IsObject(meta.Of(result)) {
			edits = append(edits, serverEdit(result, meta, serverInfo)...)
		} else {
			server := rawjson.Object{'{'}
			server.Raw(MetaServer, serverInfo)
			put("_meta", meta, string(append(server, '}')))
		}
	}
	if len(fresh) > 0 {
		edits = append(edits, rawjson.Insert(result, rawjson.Whole(result), fresh))
	}
	rawjson.SortEdits(edits)
	return rawjson.Edited(result, edits)
}

// serverEdit returns the edit that adds the server's info to _meta; none if it has one already.
func serverEdit(doc []byte, meta rawjson.Span, serverInfo []byte) []rawjson.Edit {
	inner := meta.Of(doc)
	switch at := rawjson.Find(inner, MetaServer); {
	case at.IsZero():
		var server rawjson.Object
		server.Raw(MetaServer, serverInfo)
		return []rawjson.Edit{rawjson.Insert(doc, meta, server)}
	case rawjson.IsNothing(at.Of(inner)):
		return []rawjson.Edit{{Span: at.Within(meta), New: serverInfo}}
	default:
		return nil
	}
}

// isCacheable reports whether a method's results tell modern clients how long to cache them.
func isCacheable(method string) bool {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	default:
		return false
	}
}
