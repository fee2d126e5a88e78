package wire

import (
	"bytes"
	"strings"
	"unicode"

	"secateur/internal/rawjson"
)

// nameText returns what a raw member name says.
func nameText(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		switch text := raw[1 : len(raw)-1]; string(text) { // the common ones without an allocation
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

// stringText returns what a raw value says, "" where it is no string.
func stringText(raw []byte) string {
	if len(raw) == 0 || raw[0] != '"' {
		return ""
	}
	if text, ok := common[string(raw)]; ok { // looked up without a copy
		return text
	}
	return rawjson.Unquote(raw)
}

// isVersion2 tells whether a raw value is the version of JSON-RPC that is spoken here.
func isVersion2(raw []byte) bool { return string(raw) == `"2.0"` || stringText(raw) == "2.0" }

// common are the texts that most messages have, as they are mostly written: reading one takes no memory.
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

// isFolded tells whether a name is one of the envelope's to a reader that does not
// mind upper and lower case, or what cannot be seen: method\u0000 is method to one
// whose texts end at a zero.
func isFolded(name string) bool {
	name = visible(name)
	for _, known := range [...]string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// isNameFolded is isFolded for the name that decides what a call reaches.
func isNameFolded(name string) bool { return strings.EqualFold(visible(name), "name") }

// visible is a name up to its first zero, without the characters that nobody sees.
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

// isStructured tells whether a raw value is an object or an array.
func isStructured(raw []byte) bool { return len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') }

// isInteger tells whether a raw value is a number written without fraction and
// exponent.
func isInteger(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return false
	}
	return !bytes.ContainsAny(raw, ".eE")
}
