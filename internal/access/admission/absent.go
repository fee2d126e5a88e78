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

// What is denied never reaches a server, and is answered by us. What a server does not list may be called all the same, so that a name which
// it does not have is answered by the server, each in its own words: the difference would tell which names the rules deny. So that answer is
// replaced by ours, for those from whom something of the server may be hidden. Nobody else's is touched.

// Absent is the refusal in whose words a server's answer is to be told, since it says that the server has no such thing; nil where the answer
// may pass as it is. Targets are those of the call; lists reports whether the server lists one, so that the caller knows of it.
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

// HidesFrom reports whether there may be something at a door, of a server, that is hidden from a caller, so that they are not to tell it from what is
// not there.
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

// saysAbsent reports whether an answer about a thing that its server does not list can mean that there is none. A server that has failed is taken
// to say so, whatever its code: SDKs disagree on it. One that wants something first, or says in its result what went wrong, knows the thing.
func saysAbsent(m *wire.Message, name string) bool {
	if m.Error != nil {
		switch m.ErrorCode() {
		case era.CodeElicitationRequired, era.CodeHeaderMismatch, era.CodeMissingCapability, era.CodeUnsupportedVersion:
			return false
		}
		return true
	}
	const most = 4 << 10
	if len(m.Result) > most+6*len(name) { // which it may repeat, escaped
		return false
	}
	if string(rawjson.Get(m.Result, "isError")) == "true" {
		text, only := onlyText(m.Result)
		return only && (strings.Contains(text, name) || strings.Contains(strings.ToLower(text), "unknown") || strings.Contains(strings.ToLower(text), "not found"))
	}
	return isEmptyList(rawjson.Get(m.Result, "contents")) || isEmptyList(rawjson.Get(m.Result, "messages")) ||
		isEmptyList(rawjson.Get(rawjson.Get(m.Result, "completion"), "values"))
}

// onlyText is the text of a tool's result that is nothing else.
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
