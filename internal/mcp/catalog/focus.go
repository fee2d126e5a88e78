package catalog

import (
	"slices"

	"secateur/internal/rawjson"
)

// FocusArgument is the optional argument by which a model says what it looks for in a result. It is for us: no server gets it.
const FocusArgument = "secateur_focus"

const focusSchema = `{"type":"string","description":"What you look for in the result; longer results are pruned for it."}`

// focusEdit is the edit that adds the argument to a tool, last among its properties; false where its schema does not allow one more.
func focusEdit(tool []byte) (rawjson.Edit, bool) {
	at := rawjson.Find(tool, "inputSchema")
	schema := at.Of(tool)
	if !takesArguments(schema) || OwnsFocus(tool) {
		return rawjson.Edit{}, false
	}
	member := append(rawjson.AppendQuoted(nil, FocusArgument), ':')
	member = append(member, focusSchema...)
	if properties := rawjson.Find(schema, "properties"); !properties.IsZero() {
		return rawjson.Insert(tool, properties.Within(at), member), true
	}
	member = append(append([]byte(`"properties":{`), member...), '}')
	return rawjson.Insert(tool, at, member), true
}

// OwnsFocus reports whether a tool has an argument of that name itself.
func OwnsFocus(tool []byte) bool {
	return rawjson.Get(rawjson.Get(rawjson.Get(tool, "inputSchema"), "properties"), FocusArgument) != nil
}

// closedBy are the members by which a schema may refuse a property that it does not know.
var closedBy = []string{
	"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "propertyNames", "patternProperties", "unevaluatedProperties",
	"maxProperties", "minProperties", "dependentSchemas", "enum", "const",
}

// takesArguments reports whether a schema is that of a plain object to which a property can be added.
func takesArguments(schema []byte) bool {
	for name, at := range rawjson.Members(schema) {
		value := at.Of(schema)
		switch {
		case string(name) == "additionalProperties":
			if string(value) != "true" {
				return false
			}
		case string(name) == "type":
			if kind, ok := rawjson.Text(value); !ok || kind != "object" {
				return false
			}
		case string(name) == "properties":
			if !rawjson.IsObject(value) {
				return false
			}
		case slices.Contains(closedBy, string(name)):
			return false
		}
	}
	return true
}
