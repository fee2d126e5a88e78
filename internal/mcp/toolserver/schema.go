package toolserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// Schema is the part of JSON Schema that tool arguments need. A keyword beyond it is refused when a tool is made,
// so that no promise in a listed schema goes unchecked.
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

// ParseSchema reads a schema.
func ParseSchema(src string) (*Schema, error) {
	var s Schema
	if err := json.Unmarshal([]byte(src), &s, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &s, nil
}

// closed reports whether only the named properties may be there.
func (s *Schema) closed() bool { return s.AdditionalProperties != nil && !*s.AdditionalProperties }

// names lists the properties.
func (s *Schema) names() string {
	if len(s.Properties) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
}
