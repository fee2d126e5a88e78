package wire

import (
	"bytes"
	"strings"
	"unicode"

	"secateur/internal/rawjson"
)

// nameText returns the decoded text of a raw member name.
func nameText(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		switch text := raw[1 : len(raw)-1]; string(text) { // common names need no allocation
		case "jsonrpc":
			return "jsonrpc"
		case "id":
			return "id"
		case "method":
			return "method"
		case "params":
			return "params"
		case "result":
			return "result"
		case "error":
			return "error"
		case "name":
			return "name"
		case "arguments":
			return "arguments"
		}
	}
	return rawjson.Unquote(raw)
}

// stringText returns the decoded text of a raw value, "" if it is not a string.
func stringText(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	if text, ok := common[string(raw)]; ok { // this lookup does not copy
		return text
	}
	return rawjson.Unquote(raw)
}

// isVersion2 reports whether a raw value is the JSON-RPC version "2.0".
func isVersion2(raw []byte) bool { return string(raw) == `"2.0"` || stringText(raw) == "2.0" }

// common maps frequent raw strings to their texts, so that reading them does not allocate.
var common = func() map[string]string {
	texts := map[string]string{}
	for _, s := range []string{
		"initialize", "ping", "tools/call", "tools/list", "resources/list", "resources/read", "resources/templates/list",
		"prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "server/discover", "subscriptions/listen",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/message",
	} {
		texts[`"`+s+`"`] = s
	}
	return texts
}()

// isFolded reports whether a lenient parser could take a name for an envelope member. Such a parser
// may ignore case or invisible characters, or end strings at a zero byte (method\u0000).
func isFolded(name string) bool {
	name = visible(name)
	for _, known := range [...]string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// isNameFolded is isFolded for the member "name", which selects the target of a call.
func isNameFolded(name string) bool { return strings.EqualFold(visible(name), "name") }

// visible returns a name up to its first zero byte, without invisible characters.
func visible(name string) string {
	name, _, _ = strings.Cut(name, "\x00")
	hides := func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }
	if !strings.ContainsFunc(name, hides) {
		return name
	}
	return strings.Map(func(r rune) rune {
		if hides(r) {
			return -1
		}
		return r
	}, name)
}

// isStructured reports whether a raw value is an object or an array.
func isStructured(raw []byte) bool { return len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') }

// isInteger reports whether a raw value is a number without fraction and exponent.
func isInteger(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return false
	}
	return !bytes.ContainsAny(raw, ".eE")
}
