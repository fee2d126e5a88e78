package mask

import (
	"slices"

	"secateur/internal/rawjson"
)

// Place is where a marker may stand for elements that are left out of an array.
type Place int

// The places.
const (
	NoPlace     Place = iota // nowhere: the elements have to stay
	AmongTexts               // a string among the elements
	AmongItems               // an object among the elements, with the marker as its only name
	BesideArray              // a further member behind the array
)

// MarkerPlace returns where a JSON Schema accepts a marker for elements that are left out of the
// array at a path. With the marker and without the elements, a valid document stays valid. If
// unclear, it returns NoPlace. objects: the array's elements are objects.
func MarkerPlace(schema []byte, path []Step, objects bool) Place {
	s := schemaWalk{root: schema}
	s.add(schema)
	isMember, besideOpen := false, false
	for i, p := range path {
		if i == len(path)-1 {
			isMember = !p.Element
			besideOpen = all(s.nodes, isOpen)
		}
		s.step(p)
	}
	if !all(s.nodes, isShrinkable) {
		return NoPlace
	}
	s.step(Step{Element: true})
	switch {
	case s.unclear || s.chooses:
		return NoPlace
	case objects && all(s.nodes, takesAnyObject):
		return AmongItems
	case !objects && all(s.nodes, takesAnyText):
		return AmongTexts
	case isMember && besideOpen:
		return BesideArray
	}
	return NoPlace
}

func all(nodes [][]byte, is func([]byte) bool) bool {
	return !slices.ContainsFunc(nodes, func(n []byte) bool { return !is(n) })
}

func has(schema []byte, keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { return !rawjson.Find(schema, k).IsZero() })
}

// isShrinkable reports whether a schema accepts an array with fewer elements.
func isShrinkable(schema []byte) bool {
	items := rawjson.Get(schema, "items")
	return !has(schema, "enum", "const", "minItems", "contains", "prefixItems", "additionalItems", "unevaluatedItems") && (len(items) == 0 || items[0] != '[')
}

// isOpen reports whether a schema accepts an object with a further member.
func isOpen(schema []byte) bool {
	if has(schema, "enum", "const", "patternProperties", "propertyNames", "maxProperties", "unevaluatedProperties") {
		return false
	}
	more := string(rawjson.Get(schema, "additionalProperties"))
	return more == "" || more == "true" || more == "{}"
}

// takesAnyObject reports whether a schema accepts an object with one unknown member.
func takesAnyObject(schema []byte) bool {
	required := string(rawjson.Get(schema, "required"))
	return isOpen(schema) && (required == "" || required == "[]") && !has(schema, "minProperties", "dependentRequired") && takes(schema, "object")
}

// takesAnyText reports whether a schema accepts every string.
func takesAnyText(schema []byte) bool {
	return !has(schema, formKeywords...) && takes(schema, "string")
}

// takes reports whether a schema accepts values of a type.
func takes(schema []byte, kind string) bool {
	raw := rawjson.Get(schema, "type")
	if len(raw) == 0 {
		return true
	}
	if text, ok := rawjson.Text(raw); ok {
		return text == kind
	}
	for item := range rawjson.Items(raw) {
		if text, _ := rawjson.Text(item); text == kind {
			return true
		}
	}
	return false
}
