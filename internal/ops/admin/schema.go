package admin

import (
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// schema is the part of JSON Schema (2020-12, as in OpenAPI 3.1) that our types need.
type schema struct {
	Ref        string             `json:"$ref,omitzero"`
	Type       any                `json:"type,omitzero"` // one name, or several
	Format     string             `json:"format,omitzero"`
	Enum       []string           `json:"enum,omitzero"`
	Items      *schema            `json:"items,omitzero"`
	Properties map[string]*schema `json:"properties,omitzero"`
	Required   []string           `json:"required,omitzero"`
	Additional any                `json:"additionalProperties,omitzero"`
	AnyOf      []*schema          `json:"anyOf,omitzero"`
}

// schemas are the named schemas of a document.
type schemas map[string]*schema

var (
	timeType  = reflect.TypeFor[time.Time]()
	valueType = reflect.TypeFor[jsontext.Value]()
)

// of returns the schema of a Go type as encoding writes it. A struct becomes a named schema.
func (s schemas) of(t reflect.Type) *schema {
	switch t {
	case timeType:
		return &schema{Type: "string", Format: "date-time"}
	case valueType:
		return &schema{} // any JSON from a server or a client
	}
	switch t.Kind() {
	case reflect.Pointer:
		inner := s.of(t.Elem())
		if inner.Ref != "" {
			return &schema{AnyOf: []*schema{inner, {Type: "null"}}}
		}
		if name, ok := inner.Type.(string); ok {
			inner.Type = []string{name, "null"}
		}
		return inner
	case reflect.Struct:
		return s.named(t)
	case reflect.Slice:
		return &schema{Type: "array", Items: s.of(t.Elem())}
	case reflect.Map:
		return &schema{Type: "object", Additional: s.of(t.Elem())}
	case reflect.Bool:
		return &schema{Type: "boolean"}
	case reflect.Float64:
		return &schema{Type: "number"}
	case reflect.String:
		return &schema{Type: "string"}
	default:
		return &schema{Type: "integer"}
	}
}

func (s schemas) named(t reflect.Type) *schema {
	name := t.Name()
	ref := &schema{Ref: "#/components/schemas/" + name}
	if _, known := s[name]; known {
		return ref
	}
	object := &schema{Type: "object", Properties: map[string]*schema{}, Additional: false}
	s[name] = object
	s.fields(t, object)
	return ref
}

func (s schemas) fields(t reflect.Type, object *schema) {
	for f := range t.Fields() {
		if f.Anonymous {
			s.fields(f.Type, object)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		object.Properties[name] = s.of(f.Type)
		if !strings.Contains(options, "omit") {
			object.Required = append(object.Required, name)
		}
	}
}
