package mask

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/rawjson"
)

// FreeStrings returns the strings whose form a JSON Schema (2020-12 and earlier drafts) does not
// prescribe. They are given in document order.
func FreeStrings(doc []byte, long []rawjson.String, schema []byte) []rawjson.String {
	f := pathFinder{Cursor: rawjson.NewCursor(doc), wanted: long}
	f.value()
	free := long[:0:0]
	known := map[string]bool{} // all elements of an array have the same path
	for i, path := range f.found {
		key := fmt.Sprintf("%#v", path)
		is, seen := known[key]
		if !seen {
			is = prescribed(schema, path)
			known[key] = is
		}
		if !is {
			free = append(free, long[i])
		}
	}
	return free
}

// A Step leads from a container to a member by name, or to any element of an array.
type Step struct {
	Name    string
	Element bool
}

// A pathFinder walks over a document once and records the paths to the wanted strings.
type pathFinder struct {
	rawjson.Cursor
	wanted []rawjson.String
	path   []Step
	found  [][]Step
}

func (f *pathFinder) value() {
	switch first := f.Peek(); {
	case len(f.found) == len(f.wanted):
		f.Value()
	case first == '{':
		for f.Enter(); !f.Done(); {
			f.path = append(f.path, Step{Name: string(f.Name())})
			f.value()
			f.path = f.path[:len(f.path)-1]
		}
	case first == '[':
		for f.Enter(); !f.Done(); {
			f.path = append(f.path, Step{Element: true})
			f.value()
			f.path = f.path[:len(f.path)-1]
		}
	default:
		if at := f.Value(); at.Start == f.wanted[len(f.found)].Start {
			f.found = append(f.found, slices.Clone(f.path))
		}
	}
}

// formKeywords are keywords that prescribe the form of a string.
var formKeywords = []string{"enum", "const", "pattern", "maxLength", "minLength", "format", "contentEncoding"}

// prescribed reports whether a part of a schema that applies at a path prescribes a string's form.
// If unclear, it returns true.
func prescribed(schema []byte, path []Step) bool {
	s := schemaWalk{root: schema}
	s.add(schema)
	for _, p := range path {
		s.step(p)
	}
	return s.unclear || slices.ContainsFunc(s.nodes, func(n []byte) bool {
		return slices.ContainsFunc(formKeywords, func(k string) bool { return !rawjson.Find(n, k).IsZero() })
	})
}

// A schemaWalk follows all parts of a schema that apply to one place of a document.
type schemaWalk struct {
	root    []byte
	nodes   [][]byte
	seen    map[*byte]bool // visited nodes, by address
	unclear bool           // something that applies could not be found
	chooses bool           // a part applies only under conditions: oneOf, not, if
}

// step goes on to a member or the elements of the present place.
func (s *schemaWalk) step(p Step) {
	before := s.nodes
	s.nodes, s.seen = nil, nil
	for _, n := range before {
		s.into(n, p)
	}
}

// maxSchemas limits the parts examined for one place.
const maxSchemas = 256

// add adds a schema with everything that it refers to or combines. true and false prescribe no
// form.
func (s *schemaWalk) add(schema []byte) {
	schema = rawjson.Trim(schema)
	if len(schema) == 0 || schema[0] != '{' || s.seen[&schema[0]] {
		return
	}
	if len(s.nodes) >= maxSchemas {
		s.unclear = true
		return
	}
	if s.seen == nil {
		s.seen = map[*byte]bool{}
	}
	s.seen[&schema[0]] = true
	s.nodes = append(s.nodes, schema)
	for name, at := range rawjson.Members(schema) {
		value := at.Of(schema)
		switch string(name) {
		case "$ref":
			if to := s.resolve(value); to != nil {
				s.add(to)
			} else {
				s.unclear = true
			}
		case "$dynamicRef", "$recursiveRef":
			s.unclear = true
		case "allOf", "anyOf", "oneOf":
			s.chooses = s.chooses || string(name) == "oneOf"
			for item := range rawjson.Items(value) {
				s.add(item)
			}
		case "if", "then", "else", "not":
			s.chooses = true
			s.add(value)
		case "dependentSchemas":
			s.chooses = true
			s.addValues(value)
		}
	}
}

// into adds what a schema says about one further step.
func (s *schemaWalk) into(schema []byte, p Step) {
	for name, at := range rawjson.Members(schema) {
		value := at.Of(schema)
		if !p.Element {
			switch string(name) {
			case "properties":
				s.add(rawjson.Get(value, p.Name))
			case "patternProperties":
				s.addValues(value)
			case "additionalProperties", "unevaluatedProperties":
				s.add(value)
			}
			continue
		}
		switch string(name) {
		case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains":
			if bytes.HasPrefix(value, []byte("[")) {
				for item := range rawjson.Items(value) {
					s.add(item)
				}
			} else {
				s.add(value)
			}
		}
	}
}

func (s *schemaWalk) addValues(object []byte) {
	for _, at := range rawjson.Members(object) {
		s.add(at.Of(object))
	}
}

// resolve finds the target of a $ref within the same schema by JSON Pointer; nil for any other.
func (s *schemaWalk) resolve(ref []byte) []byte {
	text, ok := rawjson.Text(ref)
	pointer, local := strings.CutPrefix(text, "#")
	pointer, err := url.PathUnescape(pointer)
	if !ok || !local || err != nil || pointer != "" && pointer[0] != '/' {
		return nil
	}
	at := s.root
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if at = child(at, part); at == nil {
			return nil
		}
	}
	return at
}

// child returns a member of an object, or an element of an array by its index.
func child(value []byte, name string) []byte {
	if rawjson.IsObject(value) {
		return rawjson.Get(value, name)
	}
	index, err := strconv.Atoi(name)
	if err != nil || !bytes.HasPrefix(value, []byte("[")) {
		return nil
	}
	for item := range rawjson.Items(value) {
		if index == 0 {
			return item
		}
		index--
	}
	return nil
}
