package era

import "secateur/internal/rawjson"

// Extensions, as capabilities name them (basic, "Extension negotiation").
const (
	ExtensionUI = prefix + "ui" // MCP Apps, SEP-1865: the same in both eras

	// tasksExtension is what only modern peers speak; legacy ones have tasks of
	// another kind.
	tasksExtension = prefix + "tasks"
)

// maxCapabilities is more than any client needs, in bytes. They are taken apart and
// kept, so a client must not be able to make much of little.
const maxCapabilities = 64 << 10

// NormalCapabilities returns capabilities in a form that is the same for the same
// capabilities: members by name at every level, no null ones, no white space. What
// is no object, or larger than any client needs, declares nothing.
func NormalCapabilities(raw []byte) []byte { return capabilities(raw).append(nil) }

func capabilities(raw []byte) node {
	if rawjson.IsObject(raw) && len(raw) <= maxCapabilities {
		return parse(raw)
	}
	return node{kind: '{'}
}

// Covers tells whether everything that want declares, have declares too.
func Covers(have, want []byte) bool {
	return covers(withForm(capabilities(have)), withForm(capabilities(want)))
}

// Union returns capabilities, in their normal form, that cover a and b. Where a and b
// have different values, of a version say, it can cover only one of them.
func Union(a, b []byte) []byte {
	x, y := capabilities(a), capabilities(b)
	if one, other := x.get(elicitation), y.get(elicitation); !one.isNull() && !other.isNull() && one.text() != other.text() {
		x, y = withForm(x), withForm(y)
	}
	return union(x, y).append(nil)
}

const elicitation = "elicitation"

// withForm writes out what an elicitation that names no mode means: forms.
func withForm(caps node) node {
	e := caps.get(elicitation)
	if e.kind != '{' || !e.get("form").isNull() || !e.get("url").isNull() {
		return caps
	}
	return caps.with(elicitation, e.with("form", node{kind: '{'}))
}

// Declares tells whether a server may send a request to a client with these
// capabilities.
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

// ForLegacy returns capabilities without what only modern peers understand.
func ForLegacy(caps []byte) []byte {
	if !rawjson.IsObject(caps) {
		return []byte(`{}`)
	}
	return rawjson.RemoveWithin(caps, "extensions", tasksExtension)
}
