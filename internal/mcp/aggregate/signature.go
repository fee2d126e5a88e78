package aggregate

import (
	"slices"
	"strings"

	"secateur/internal/rawjson"
)

// Bounds of a signature.
const (
	maxParameters = 8
	maxRequired   = 12
	maxEnum       = 4
	maxEnumChars  = 40
)

// signature is a tool's arguments in one line, (path: string, limit?: integer): the required ones first, then others while there is
// room.
func signature(tool []byte) string {
	schema := rawjson.Get(tool, "inputSchema")
	var required []string
	for raw := range rawjson.Items(rawjson.Get(schema, "required")) {
		if name, ok := rawjson.Text(raw); ok {
			required = append(required, name)
		}
	}
	properties := rawjson.Get(schema, "properties")
	var must, may []string
	for key, at := range rawjson.Members(properties) {
		name, kind := string(key), typeOf(at.Of(properties))
		if slices.Contains(required, name) {
			must = append(must, name+": "+kind)
		} else {
			may = append(may, name+"?: "+kind)
		}
	}
	room := max(0, maxParameters-len(must))
	shown := slices.Concat(must[:min(len(must), maxRequired)], may[:min(len(may), room)])
	line := "(" + strings.Join(shown, ", ")
	if len(shown) < len(must)+len(may) {
		line += ", …"
	}
	return line + ")"
}

// typeOf is a schema in a word.
func typeOf(schema []byte) string {
	if values := rawjson.Get(schema, "enum"); values != nil {
		var all []string
		for raw := range rawjson.Items(values) {
			all = append(all, string(raw))
		}
		if text := strings.Join(all, "|"); len(all) > 0 && len(all) <= maxEnum && len(text) <= maxEnumChars {
			return text
		}
	}
	kind := rawjson.Get(schema, "type")
	if word, ok := rawjson.Text(kind); ok {
		if word == "array" {
			return typeOf(rawjson.Get(schema, "items")) + "[]"
		}
		return word
	}
	var several []string
	for raw := range rawjson.Items(kind) {
		if word, ok := rawjson.Text(raw); ok && word != "null" {
			several = append(several, word)
		}
	}
	if len(several) > 0 {
		return strings.Join(several, "|")
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		for raw := range rawjson.Items(rawjson.Get(schema, key)) {
			if word := typeOf(raw); word != "null" && word != "any" && !slices.Contains(several, word) {
				several = append(several, word)
			}
		}
		if len(several) > 0 && len(several) <= maxEnum {
			return strings.Join(several, "|")
		}
	}
	return "any"
}
