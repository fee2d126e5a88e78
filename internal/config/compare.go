package config

import (
	"encoding"
	"maps"
	"reflect"
	"slices"

	"secateur/internal/mcp/upstream"
)

// ServerChanges are the ids of servers by their change, each list in order.
type ServerChanges struct {
	Added, Removed, Changed, Unchanged []string
	// Changed keys of servers that keep their process: "servers.files.response_timeout".
	Keys []string
}

// CompareServers reports how servers have changed. A server that was enabled or disabled has
// changed. One that differs only in live settings has not.
func CompareServers(before, after []upstream.Settings) (c ServerChanges) {
	old := make(map[string]upstream.Settings, len(before))
	for _, s := range before {
		old[s.ID] = s
	}
	for _, s := range after {
		was, known := old[s.ID]
		delete(old, s.ID)
		switch {
		case !known:
			c.Added = append(c.Added, s.ID)
		case was.SameProcess(s):
			c.Unchanged = append(c.Unchanged, s.ID)
			compareKeys(&c.Keys, join("servers", s.ID), reflect.ValueOf(was), reflect.ValueOf(s))
		default:
			c.Changed = append(c.Changed, s.ID)
		}
	}
	for _, s := range before {
		if _, gone := old[s.ID]; gone {
			c.Removed = append(c.Removed, s.ID)
		}
	}
	return c
}

// CompareKeys lists the keys with different values in alphabetical order, without those of servers:
// "page_size", "store.url", "providers.kimi.base_url". A list is reported as a whole.
func CompareKeys(before, after Settings) []string {
	var found []string
	compareKeys(&found, "", reflect.ValueOf(before), reflect.ValueOf(after))
	return slices.DeleteFunc(found, func(key string) bool { return key == "servers" })
}

var textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()

func compareKeys(found *[]string, path string, a, b reflect.Value) {
	t := a.Type()
	switch {
	case t.Kind() == reflect.Pointer && !a.IsNil() && !b.IsNil():
		compareKeys(found, path, a.Elem(), b.Elem())
	case t.Kind() == reflect.Struct && !t.Implements(textMarshalerType):
		keys := shapeOf(t)
		if len(keys.names) == 0 && !reflect.DeepEqual(a.Interface(), b.Interface()) {
			*found = append(*found, path)
		}
		for _, name := range keys.names {
			x, _ := keys.field(a, name)
			y, _ := keys.field(b, name)
			compareKeys(found, join(path, name), x, y)
		}
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		compareEntries(found, path, a, b)
	case !reflect.DeepEqual(a.Interface(), b.Interface()):
		*found = append(*found, path)
	}
}

// compareEntries is compareKeys for tables with names chosen by the user.
func compareEntries(found *[]string, path string, a, b reflect.Value) {
	names := map[string]struct{}{}
	for _, k := range slices.Concat(a.MapKeys(), b.MapKeys()) {
		names[k.String()] = struct{}{}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, y := a.MapIndex(reflect.ValueOf(name)), b.MapIndex(reflect.ValueOf(name))
		if x.IsValid() && y.IsValid() {
			compareKeys(found, join(path, name), x, y)
		} else {
			*found = append(*found, join(path, name))
		}
	}
}

// TopKeys returns the top-level keys and sections of a file in alphabetical order.
func TopKeys() []string { return shapeOf(reflect.TypeFor[Settings]()).names }
