package config

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSchemaGolden(t *testing.T) {
	const file = "testdata/schema.json"
	got := Schema()
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("Schema() differs from %s; run with -update and review the difference", file)
	}
	if !json.Valid(got) {
		t.Error("Schema() is not JSON")
	}
}

// TestKeysMatchSettings checks that the table of keys matches the Settings.
func TestKeysMatchSettings(t *testing.T) {
	used := map[string]bool{}
	var walk func(reflect.Type, string)
	walk = func(typ reflect.Type, pattern string) {
		if pattern != "" && !strings.HasSuffix(pattern, "[]") && !strings.HasSuffix(pattern, ".*") || hasFields(typ) && pattern != "" {
			info, ok := infoOf(pattern)
			if !ok || info.doc == "" {
				t.Errorf("keys has nothing about %s", pattern)
			}
			if _, price, ok := strings.Cut(pattern, ".prices."); ok {
				pattern = "prices." + price
			}
			used[pattern] = true
		}
		switch {
		case typ.Kind() == reflect.Pointer:
			walk(typ.Elem(), pattern)
		case typ.Kind() == reflect.Slice:
			walk(typ.Elem(), pattern+"[]")
		case typ.Kind() == reflect.Map:
			walk(typ.Elem(), pattern+".*")
		case hasFields(typ):
			for name, index := range shapeOf(typ).index {
				walk(typ.FieldByIndex(index).Type, join(pattern, name))
			}
		}
	}
	walk(reflect.TypeFor[Settings](), "")
	for pattern := range keys {
		if !used[pattern] {
			t.Errorf("keys describes %s, which is no key", pattern)
		}
	}
}

func hasFields(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && len(shapeOf(t).names) > 0
}

// TestEnumsAreWhatValidationAccepts tries every word in the schema, and one that is not.
func TestEnumsAreWhatValidationAccepts(t *testing.T) {
	for pattern, info := range keys {
		if info.enum == nil {
			continue
		}
		for _, word := range append(slices.Clone(info.enum), "no such word") {
			text := enumFile(pattern, word)
			_, mistakes := Load("c.toml", []byte(text), Options{})
			if ok := word != "no such word"; ok != (len(mistakes) == 0) {
				t.Errorf("%s = %q: mistakes %v", pattern, word, mistakes)
			}
		}
	}
}

func enumFile(pattern, word string) string {
	if key, ok := strings.CutPrefix(pattern, "servers[]."); ok {
		other := `command = ["x"]`
		switch key {
		case "transport":
			other = `url = "http://h"`
		case "oauth.flow":
			other = "url = \"http://h\"\noauth.client_id = \"i\"\noauth.client_secret = \"s\""
		case "builtin":
			other = ""
		}
		return "[[servers]]\nid = \"a\"\n" + other + "\n" + key + " = \"" + word + "\"\n"
	}
	if key, ok := strings.CutPrefix(pattern, "providers.*."); ok {
		return "[providers.p]\nbase_url = \"http://h\"\n" + key + " = \"" + word + "\"\n"
	}
	if key, ok := strings.CutPrefix(pattern, "tools.clients.*."); ok {
		return "[tools.clients.c]\n" + key + " = \"" + word + "\"\n"
	}
	if pattern == "acl[].action" {
		return "[[acl]]\naction = \"" + word + "\"\n" + map[bool]string{true: "fields = [\"x\"]\n"}[word == "redact"]
	}
	if pattern == "notifications.routes[].to" {
		return "[[notifications.routes]]\nto = \"" + word + "\"\n" + map[bool]string{true: "principals = [\"x\"]\n"}[word == "principals"]
	}
	if pattern == "tls.client_auth" {
		return "[tls]\ncert = \"c\"\nkey = \"k\"\nclient_ca = \"a\"\nclient_auth = \"" + word + "\"\n"
	}
	if key, ok := strings.CutPrefix(pattern, "prices."); ok {
		return "[providers.p]\nbase_url = \"http://h\"\n[providers.p.prices]\n" + key + " = \"" + word + "\"\n"
	}
	return pattern + " = \"" + word + "\"\n"
}

func TestRefusedKeysAreNoKeys(t *testing.T) {
	for _, pattern := range []string{"mcp_pruner.deepinfra_api_key", "mcp_pruner.rerank_api_key"} {
		if _, known := keys[pattern]; known {
			t.Errorf("%s is both refused and known", pattern)
		}
		if reason, ok := refused(pattern); !ok || reason == "" {
			t.Errorf("%s is not refused", pattern)
		}
	}
}
