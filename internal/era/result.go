package era

import "slices"

// What resultType may say.
const (
	Complete      = "complete"
	InputRequired = "input_required"
	Task          = "task"
)

// ResultType returns what a result is: Complete where it does not say, as those of
// legacy servers do not; "" where it says something that is no string.
func ResultType(result []byte) string {
	raw := find(result, "resultType")[0].of(result)
	if isNothing(raw) {
		return Complete
	}
	kind, _ := text(raw)
	return kind
}

// ResultToLegacy returns a result without what only modern clients understand; the
// same slice where there is none of it.
func ResultToLegacy(result []byte) []byte {
	return without(result, "resultType", "ttlMs", "cacheScope")
}

// ResultToModern returns the result of a method with what a modern client expects
// of it and a legacy server does not give. What is there stays. ServerInfo is a raw
// object, or nil. A result that is no object is returned as it is.
func ResultToModern(method string, result, serverInfo []byte) []byte {
	if !isObject(result) {
		return result
	}
	found := find(result, "resultType", "ttlMs", "cacheScope", "_meta")
	var edits []edit
	var fresh []byte
	// put gives a member that is lacking its value. It is lacking where it is null.
	put := func(name string, at span, value string) {
		switch {
		case at.end == 0:
			fresh = appendMember(fresh, name, []byte(value))
		case isNothing(at.of(result)):
			edits = append(edits, edit{at, []byte(value)})
		}
	}
	put("resultType", found[0], `"complete"`)
	if kind := found[0].of(result); isCacheable(method) && (isNothing(kind) || textOf(kind) == Complete) {
		put("ttlMs", found[1], `0`)
		put("cacheScope", found[2], `"private"`)
	}
	if serverInfo != nil {
		if meta := found[3]; isObject(meta.of(result)) {
			edits = append(edits, serverEdit(result, meta, serverInfo)...)
		} else {
			put("_meta", meta, string(append(appendMember([]byte{'{'}, MetaServer, serverInfo), '}')))
		}
	}
	if len(fresh) > 0 {
		edits = append(edits, appending(result, end(result), fresh))
	}
	return edited(result, edits)
}

// serverEdit returns the edit that puts a server's info into an _meta, none where
// it has one.
func serverEdit(doc []byte, meta span, serverInfo []byte) []edit {
	inner := meta.of(doc)
	switch at := find(inner, MetaServer)[0]; {
	case at.end == 0:
		return []edit{appending(doc, meta.end, appendMember(nil, MetaServer, serverInfo))}
	case isNothing(at.of(inner)):
		return []edit{{span{meta.start + at.start, meta.start + at.end}, slices.Clone(serverInfo)}}
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
