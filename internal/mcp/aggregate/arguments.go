package aggregate

import (
	"slices"
	"strings"

	"secateur/internal/rawjson"
)

// maxMisfits bounds what is said of arguments.
const maxMisfits = 6

// misfits are the plain mistakes in arguments: members that are missing, unknown or of another type. What it does not understand
// of a schema it leaves to the server: it never refuses what the server might take.
func misfits(schema, arguments []byte) []string {
	if rawjson.IsNothing(arguments) {
		arguments = []byte("{}")
	}
	if !rawjson.IsObject(arguments) {
		return []string{"arguments: expected an object"}
	}
	var found []string
	add := func(problem string) {
		if len(found) < maxMisfits {
			found = append(found, problem)
		}
	}
	var names []string
	properties := rawjson.Get(schema, "properties")
	for key := range rawjson.Members(properties) {
		names = append(names, string(key))
	}
	for raw := range rawjson.Items(rawjson.Get(schema, "required")) {
		if name, ok := rawjson.Text(raw); ok && rawjson.Find(arguments, name).IsZero() {
			add(name + " is missing")
		}
	}
	closed := string(rawjson.Get(schema, "additionalProperties")) == "false" && rawjson.Get(schema, "patternProperties") == nil && isPlainSchema(schema)
	for key, at := range rawjson.Members(arguments) {
		name := string(key)
		if !slices.Contains(names, name) {
			if closed {
				add(name + " is not one of " + strings.Join(names, ", "))
			}
			continue
		}
		property := rawjson.Get(properties, name)
		if want := rawjson.GetText(property, "type"); !fits(want, at.Of(arguments)) && isPlainSchema(property) {
			add(name + ": expected " + want)
		}
	}
	return found
}

// isPlainSchema reports whether a schema says all that it says in its own members.
func isPlainSchema(schema []byte) bool {
	for key := range rawjson.Members(schema) {
		switch string(key) {
		case "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "nullable", "dependentSchemas":
			return false
		}
	}
	return true
}

// fits reports whether a value may be of a type. Servers read numbers and booleans out of strings, so those pass.
func fits(want string, value []byte) bool {
	if len(value) == 0 {
		return true
	}
	switch first := value[0]; want {
	case "object":
		return first == '{' || first == '"'
	case "array":
		return first == '[' || first == '"'
	case "string":
		return first != '{' && first != '['
	case "integer", "number", "boolean":
		return first != '{' && first != '['
	}
	return true
}
