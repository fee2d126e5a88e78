package era

import "secateur/internal/rawjson"

// Extensions as named in capabilities (basic, "Extension negotiation").
const (
	ExtensionUI = prefix + "ui" // MCP Apps, SEP-1865: the same in both eras

	// tasksExtension is for modern peers only. Legacy peers have a different kind of tasks.
	tasksExtension = prefix + "tasks"
)

// maxCapabilities limits the capabilities' size in bytes; no client needs more. They are parsed and
// kept, so a small request must not cost much memory.
const maxCapabilities = 64 << 10

// NormalCapabilities returns capabilities in canonical form: members sorted by name at every level,
// without nulls and white space. A value that is not an object or exceeds maxCapabilities declares
// nothing.
func NormalCapabilities(raw []byte) []byte { return capabilities(raw).append(nil) }

func capabilities(raw []byte) node {
	if rawjson.IsObject(raw) && len(raw) <= maxCapabilities {
		return parse(raw)
	}
	return node{kind: '{'}
}

// Covers reports whether have declares everything that want declares.
func Covers(have, want []byte) bool {
	return covers(withForm(capabilities(have)), withForm(capabilities(want)))
}

// Union returns capabilities in canonical form that cover a and b. If a and b have different values
// for a member, such as a version, it covers only one of them.
func Union(a, b []byte) []byte {
	x, y := capabilities(a), capabilities(b)
	if one, other := x.get(elicitation), y.get(elicitation); !one.isNull() && !other.isNull() && one.text() != other.text() {
		x, y = withForm(x), withForm(y)
	}
	return union(x, y).append(nil)
}

const elicitation = "elicitation"

// withForm adds the implied form mode to an elicitation capability that names no mode.
func withForm(caps node) node {
	e := caps.get(elicitation)
	if e.kind != '{' || !e.get("form").isNull() || !e.get("url").isNull() {
		return caps
	}
	return caps.with(elicitation, e.with("form", node{kind: '{'}))
}

// Declares reports whether a server may send this request to a client with these capabilities.
func Declares(caps []byte, method string, params []byte) bool {
	switch method {
	case "ping":
		return true
	case "roots/list":
		return !capabilities(caps).get("roots").isNo()
	case "sampling/createMessage":
		sampling := capabilities(caps).get("sampling")
		wantsTools := !rawjson.IsNothing(rawjson.Get(params, "tools")) || !rawjson.IsNothing(rawjson.Get(params, "toolChoice"))
		return !sampling.isNo() && (!wantsTools || !sampling.get("tools").isNo())
	case "elicitation/create":
		e := withForm(capabilities(caps)).get(elicitation)
		raw := rawjson.Get(params, "mode")
		mode, isText := rawjson.Text(raw)
		switch {
		case rawjson.IsNothing(raw):
			return !e.get("form").isNo()
		case isText && (mode == "form" || mode == "url"):
			return !e.get(mode).isNo()
		default:
			return false
		}
	default:
		return false
	}
}

// ForLegacy returns capabilities without the parts that only modern peers understand.
func ForLegacy(caps []byte) []byte {
	if !rawjson.IsObject(caps) {
		return []byte(`{}`)
	}
	return rawjson.RemoveWithin(caps, "extensions", tasksExtension)
}
