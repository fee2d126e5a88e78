package toolserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Schema is the part of JSON Schema that tool arguments need. Other keywords are refused when a
// tool is created, so that everything in a listed schema is checked.
type Schema struct {
	Type                 string             `json:"type"`
	Description          string             `json:"description"`
	Enum                 []string           `json:"enum"`
	Minimum              *float64           `json:"minimum"`
	Maximum              *float64           `json:"maximum"`
	Properties           map[string]*Schema `json:"properties"`
	Required             []string           `json:"required"`
	Items                *Schema            `json:"items"`
	AdditionalProperties *bool              `json:"additionalProperties"`
}

// ParseSchema parses a schema.
func ParseSchema(src string) (*Schema, error) {
	var s Schema
	if err := json.Unmarshal([]byte(src), &s, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &s, nil
}

// closed reports whether only the named properties are allowed.
func (s *Schema) closed() bool { return s.AdditionalProperties != nil && !*s.AdditionalProperties }

// names lists the properties.
func (s *Schema) names() string {
	if len(s.Properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}
