package admission

import (
	"slices"
	"strings"

	"secateur/internal/access"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// We answer denied calls ourselves; they never reach a server. But a name that a server neither
// lists nor has is answered by the server, in its own words. The difference would reveal which
// names the rules deny. So callers from whom something may be hidden get our words in both cases.
// All other responses pass unchanged.

// Absent returns the refusal that replaces a server's response for an unknown name. It returns nil
// if the response may pass. targets are those of the call. lists reports whether the server lists a
// target, so that the caller may know of it.
func (p Permit) Absent(answer *wire.Message, targets []access.Target, lists func(access.Target) bool) *Refusal {
	if p.c == nil || p.c.rules == nil {
		return nil
	}
	named := slices.IndexFunc(targets, func(t access.Target) bool { return t.Kind != access.KindNone })
	if named < 0 || !saysAbsent(answer, targets[named].Name) || !p.c.HidesFrom(p.p, targets[0].Door, targets[0].Server) {
		return nil
	}
	if slices.ContainsFunc(targets[named:], lists) {
		return nil
	}
	return &Refusal{Target: targets[0], Method: p.method}
}

// HidesFrom reports whether something of a server may be hidden from a caller at a door. Such a
// caller must not distinguish hidden from missing things.
func (c *Control) HidesFrom(p *access.Principal, door access.Door, server string) bool {
	return c != nil && c.rules != nil && !c.explains(p) && c.rules.Denies(p, door, server)
}

// Listed reports whether a target's server lists it.
func Listed(all *catalog.Catalog, t access.Target) bool {
	l := catalog.Resources
	switch t.Kind {
	case access.KindTool:
		l = catalog.Tools
	case access.KindPrompt:
		l = catalog.Prompts
	}
	return all.Lists(l, t.Server, t.Name)
}

// saysAbsent reports whether a response about an unlisted thing can mean that it does not exist. An
// error counts whatever its code, because SDKs disagree on it. The exceptions are errors that ask
// for something first: such a server knows the thing. So does a server that explains the failure in
// its result.
func saysAbsent(m *wire.Message, name string) bool {
	if m.Error != nil {
		switch m.ErrorCode() {
		case era.CodeElicitationRequired, era.CodeHeaderMismatch, era.CodeMissingCapability, era.CodeUnsupportedVersion:
			return false
		}
		return true
	}
	const most = 4 << 10
	if len(m.Result) > most+6*len(name) { // the result may repeat the name, escaped
		return false
	}
	if string(rawjson.Get(m.Result, "isError")) == "true" {
		text, only := onlyText(m.Result)
		return only && (strings.Contains(text, name) || strings.Contains(strings.ToLower(text), "unknown") || strings.Contains(strings.ToLower(text), "not found"))
	}
	return isEmptyList(rawjson.Get(m.Result, "contents")) || isEmptyList(rawjson.Get(m.Result, "messages")) ||
		isEmptyList(rawjson.Get(rawjson.Get(m.Result, "completion"), "values"))
}

// onlyText returns the text of a tool result that contains nothing else.
func onlyText(result []byte) (text string, only bool) {
	if rawjson.Get(result, "structuredContent") != nil {
		return "", false
	}
	n := 0
	for item := range rawjson.Items(rawjson.Get(result, "content")) {
		n++
		text = rawjson.GetText(item, "text")
	}
	return text, n == 1 && text != ""
}

func isEmptyList(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	for range rawjson.Items(raw) {
		return false
	}
	return true
}
