package era

import "secateur/internal/rawjson"

// What resultType may say.
const (
	Complete      = "complete"
	InputRequired = "input_required"
	Task          = "task"
)

// ResultType returns what a result is: Complete where it does not say, as those of
// legacy servers do not; "" where it says something that is no string.
func ResultType(result []byte) string {
	raw := rawjson.Get(result, "resultType")
	if rawjson.IsNothing(raw) {
		return Complete
	}
	return string(rawjson.Word(raw))
}

// ResultToLegacy returns a result without what only modern clients understand; the
// same slice where there is none of it.
func ResultToLegacy(result []byte) []byte {
	return rawjson.Remove(result, "resultType", "ttlMs", "cacheScope")
}

// ResultToModern returns the result of a method with what a modern client expects
// of it and a legacy server does not give. What is there stays. ServerInfo is a raw
// object, or nil. A result that is no object is returned as it is.
func ResultToModern(method string, result, serverInfo []byte) []byte {
	if !rawjson.IsObject(result) {
		return result
	}
	found := rawjson.FindAll(result, "resultType", "ttlMs", "cacheScope", "_meta")
	var edits []rawjson.Edit
	var fresh rawjson.Object
	// put gives a member that is lacking its value. It is lacking where it is null.
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

// serverEdit returns the edit that puts a server's info into an _meta, none where
// it has one.
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

// isCacheable tells whether modern clients are told how long they may keep the
// results of a method.
func isCacheable(method string) bool {
	switch method {
	case "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read":
		return true
	default:
		return false
	}
}
