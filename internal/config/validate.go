package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// validate collects the mistakes of every Settings below v and locates them in the file.
func (d *decoder) validate(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			d.validate(v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			d.validate(v.Index(i), path+"["+strconv.Itoa(i)+"]")
		}
	case reflect.Map:
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int {
			return strings.Compare(a.String(), b.String())
		}) {
			d.validate(v.MapIndex(key), join(path, key.String()))
		}
	case reflect.Struct:
		if s, ok := reflect.TypeAssert[interface{ Validate() error }](v); ok {
			d.invalid(s.Validate(), path)
		}
		// Includes the keys of an embedded struct, whose Validate is promoted.
		shape := d.shape(v.Type())
		for _, key := range shape.names {
			if field, _ := shape.field(v, key); isContainer(field.Type()) {
				d.validate(field, join(path, key))
			}
		}
	}
}

// isContainer reports whether a value of this type may contain a Validate method to call.
func isContainer(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return isContainer(t.Elem())
	default:
		return t.Kind() == reflect.Struct
	}
}

// invalid splits the error of a Validate into findings.
func (d *decoder) invalid(err error, path string) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			d.invalid(e, path)
		}
		return
	}
	key, text := cutKey(err.Error())
	if key != "" && path != "" {
		key = path + "." + key
	} else if key == "" {
		key = path
	}
	if d.isConsequence(key) {
		return
	}
	d.found = append(d.found, finding{place: d.locate(key), text: text})
}

// cutKey splits "key: text". A message without a key is about the whole section.
func cutKey(message string) (key, text string) {
	quoted := false
	for i := range len(message) {
		switch c := message[i]; {
		case c == '"' && (i == 0 || message[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case c == ':' && strings.HasPrefix(message[i:], ": "):
			return message[:i], message[i+2:]
		case c == ' ':
			return "", message
		}
	}
	return "", message
}

// isConsequence reports whether a mistake merely follows from a reported one: about a part of its
// path, or about a misspelt key that makes this one missing.
func (d *decoder) isConsequence(key string) bool {
	for part := key; part != ""; part = part[:max(0, strings.LastIndexAny(part, ".["))] {
		if _, given := d.places[part]; d.bad[part] || d.meant[part] && !given {
			return true
		}
	}
	if key == "listen" {
		return d.bad["auth_token"]
	}
	if server, ok := strings.CutSuffix(key, ".command"); ok {
		return d.bad[server+".url"] || d.bad[server+".builtin"]
	}
	return false
}

// locate finds the position of a key in the file or, if it is absent, of its section.
func (d *decoder) locate(key string) place {
	for have := key; have != ""; have = have[:max(0, strings.LastIndexAny(have, ".["))] {
		if p, ok := d.places[have]; ok {
			if p.file == "" {
				p.label += key[len(have):]
			}
			return p
		}
	}
	return place{label: key, off: noOffset}
}
