package config_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"secateur/internal/config"
)

// property is the schema of a key.
type property struct {
	Description string              `json:"description"`
	Enum        []any               `json:"enum"`
	Default     any                 `json:"default"`
	Properties  map[string]property `json:"properties"`
	Items       *property           `json:"items"`
	// Allowed forms; the first is ours.
	OneOf []property `json:"oneOf"`
	// false, or the schema of every member.
	Values json.RawMessage `json:"additionalProperties"`
}

// ours returns the property in the form that our own files have.
func (p property) ours() property {
	if len(p.OneOf) > 0 {
		return p.OneOf[0]
	}
	return p
}

// value returns the schema of the members of a table with the user's names; nil: no such table.
func (p property) value() *property {
	var v property
	if json.Unmarshal(p.Values, &v) != nil || len(v.Properties) == 0 {
		return nil
	}
	return &v
}

// The table in docs/configuration.md lists every key; -update writes it.
func TestTheDocumentationListsEveryKey(t *testing.T) {
	const file, begin, end = "../../docs/configuration.md", "<!-- keys -->\n", "<!-- /keys -->\n"
	var root property
	if err := json.Unmarshal(config.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("\n| key | default | |\n|---|---|---|\n")
	list(&table, "", root)
	table.WriteString("\n")

	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(doc), begin)
	have, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table", file)
	}
	if have == table.String() {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is out of date; run go test ./internal/config -run Documentation -update", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o600); err != nil {
		t.Fatal(err)
	}
}

func list(out *strings.Builder, prefix string, p property) {
	var names []string
	for name := range p.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		sub, path := p.Properties[name].ours(), prefix+name
		switch {
		case strings.HasPrefix(name, "$") || name == "mcpServers" || name == "mcp_servers":
		case len(sub.Properties) > 0:
			fmt.Fprintf(out, "| **`%s`** | | %s |\n", path, sub.Description)
			list(out, path+".", sub)
		case sub.Items != nil && len(sub.Items.Properties) > 0:
			fmt.Fprintf(out, "| **`%s[]`** | | %s |\n", path, sub.Description)
			list(out, path+"[].", *sub.Items)
		case sub.value() != nil:
			fmt.Fprintf(out, "| **`%s.NAME`** | | %s |\n", path, sub.Description)
			list(out, path+".NAME.", *sub.value())
		default:
			text := strings.ReplaceAll(sub.Description, "|", "\\|")
			if len(sub.Enum) > 0 {
				text += " One of " + strings.Trim(fmt.Sprint(sub.Enum), "[]") + "."
			}
			fmt.Fprintf(out, "| `%s` | %s | %s |\n", path, value(sub.Default), text)
		}
	}
}

func value(v any) string {
	if v == nil || v == "" {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return "`" + strings.ReplaceAll(strings.Trim(string(text), `"`), "|", "\\|") + "`"
}
