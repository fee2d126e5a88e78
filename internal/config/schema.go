package config

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// schema is the part of JSON Schema 2020-12 that we need, in output order.
type schema struct {
	Schema            string             `json:"$schema,omitempty"`
	ID                string             `json:"$id,omitempty"`
	Ref               string             `json:"$ref,omitempty"`
	Title             string             `json:"title,omitempty"`
	Description       string             `json:"description,omitempty"`
	Type              any                `json:"type,omitempty"` // a word or a list of words
	Enum              []string           `json:"enum,omitempty"`
	Minimum           *float64           `json:"minimum,omitempty"`
	ExclusiveMinimum  *float64           `json:"exclusiveMinimum,omitempty"`
	Maximum           *float64           `json:"maximum,omitempty"`
	Default           any                `json:"default,omitempty"`
	Items             *schema            `json:"items,omitempty"`
	Properties        map[string]*schema `json:"properties,omitempty"`
	PatternProperties map[string]*schema `json:"patternProperties,omitempty"`
	// False or a *schema.
	Additional any                `json:"additionalProperties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	OneOf      []*schema          `json:"oneOf,omitempty"`
	AnyOf      []*schema          `json:"anyOf,omitempty"`
	Defs       map[string]*schema `json:"$defs,omitempty"`
}

// Schema returns the JSON Schema of a configuration file, TOML or JSON, derived from the Settings.
// Its bytes are deterministic.
func Schema() []byte {
	root := schemaOf(reflect.ValueOf(defaults()), "")
	root.Schema = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "secateur configuration"
	root.Properties["$schema"] = &schema{Type: "string"}
	servers := root.Properties["servers"]
	byName := &schema{
		Description: "Servers as an MCP client lists them, by name.",
		Type:        "object",
		Additional:  &schema{Ref: "#/$defs/clientServer"},
	}
	root.Properties["servers"] = &schema{Description: servers.Description, OneOf: []*schema{servers, byName}}
	root.Properties["mcpServers"] = byName
	root.Properties["mcp_servers"] = byName
	root.Defs = map[string]*schema{"clientServer": clientServerSchema()}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("config: " + err.Error()) // a schema consists of strings, numbers and maps
	}
	return append(out, '\n')
}

// schemaOf describes a value and uses it as the default. A zero element of a list or a table has no
// defaults.
func schemaOf(v reflect.Value, pattern string) *schema {
	info, _ := infoOf(pattern)
	s := &schema{Description: info.doc, Enum: info.enum, Minimum: info.least, Maximum: info.most, ExclusiveMinimum: info.above}
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		inner := schemaOf(reflect.Zero(t.Elem()), pattern)
		inner.Default = nil
		return inner
	}
	switch {
	case t == globsType:
		text := &schema{Type: "string"}
		s.AnyOf = []*schema{text, {Type: "array", Items: text}}
	case reflect.PointerTo(t).Implements(shorthandType):
		long := &schema{Description: info.doc}
		long.fill(v, pattern)
		s.OneOf, s.Enum = []*schema{long, {Type: "string", Enum: info.enum}}, nil
	case reflect.PointerTo(t).Implements(textUnmarshalerType):
		s.Type = "string"
		if m, ok := reflect.TypeAssert[encoding.TextMarshaler](v); ok {
			text, err := m.MarshalText()
			s.Default = stringDefault(string(text), err == nil && len(text) == 0)
		}
	case t == durationType:
		unit := time.Second
		if strings.HasSuffix(pattern, "_ms") {
			unit = time.Millisecond
		}
		s.Type, s.Default = "number", float64(v.Int())/float64(unit)
	default:
		s.fill(v, pattern)
	}
	switch info.absent {
	case nil:
	case "":
		s.Default = nil
	default:
		s.Default = info.absent
	}
	return s
}

func (s *schema) fill(v reflect.Value, pattern string) {
	elem := func() reflect.Value { return reflect.Zero(v.Type().Elem()) }
	switch v.Kind() {
	case reflect.Struct:
		s.Type, s.Additional, s.Properties = "object", false, map[string]*schema{}
		s.PatternProperties = map[string]*schema{"^(x-|_)": {}} // see isForOthers
		shape := shapeOf(v.Type())
		for _, key := range shape.names {
			field, _ := shape.field(v, key)
			s.Properties[key] = schemaOf(field, join(pattern, key))
		}
		s.Required = required[pattern]
	case reflect.Map:
		s.Type, s.Additional = "object", forget(schemaOf(elem(), pattern+".*"))
	case reflect.Slice:
		s.Type, s.Items = "array", forget(schemaOf(elem(), pattern+"[]"))
	case reflect.String:
		s.Type, s.Default = "string", stringDefault(v.String(), len(s.Enum) == 0)
	case reflect.Bool:
		s.Type, s.Default = "boolean", v.Bool()
	case reflect.Int, reflect.Int64:
		s.Type, s.Default = "integer", v.Int()
	case reflect.Float64:
		s.Type, s.Default = "number", v.Float()
	}
}

// required lists the keys that an entry must have.
var required = map[string][]string{
	"servers[]":   {"id"},
	"providers.*": {"base_url"},
	"models.*":    {"provider"},
}

// stringDefault omits an empty default, unless the empty string is a meaningful value.
func stringDefault(text string, emptyIsFine bool) any {
	if text == "" && !emptyIsFine {
		return nil
	}
	return text
}

// forget drops the defaults of an entry that exists only if it is written.
func forget(s *schema) *schema {
	s.Default = nil
	for _, p := range s.Properties {
		forget(p)
	}
	return s
}

// clientServerSchema describes a server in a client's file. It allows other keys, because clients
// have keys that we ignore.
func clientServerSchema() *schema {
	text := &schema{Type: "string"}
	texts := &schema{Type: "array", Items: text}
	table := &schema{Type: "object", Additional: &schema{Type: []string{"string", "number", "boolean", "null"}}}
	return &schema{
		Description: "A server in the form of an MCP client's own file; keys not listed here are ignored with a warning.",
		Type:        "object",
		Properties: map[string]*schema{
			"command":   {AnyOf: []*schema{text, texts}},
			"args":      texts,
			"env":       table,
			"envFile":   text,
			"cwd":       text,
			"url":       text,
			"httpUrl":   text,
			"serverUrl": text,
			"headers":   table,
			"type":      text,
			"timeout":   {Type: "number", Minimum: new(0.0)},
			"disabled":  {Type: "boolean"},
			"enabled":   {Type: "boolean"},
		},
	}
}
