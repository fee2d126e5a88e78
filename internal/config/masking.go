package config

import (
	"errors"
	"fmt"
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/llm/chat"
)

// ObservationMasking says what is cut out of tool results, door by door.
type ObservationMasking struct {
	Gateway mask.Settings `toml:"gateway"` // raw JSON-RPC to one server
	MCP     MCPMasking    `toml:"mcp"`     // the aggregate
	Schema1 chat.Settings `toml:"schema1"` // conversations on their way to a model
}

// MCPMasking is what the aggregate cuts: texts of tool results, never media.
type MCPMasking struct {
	Enabled    bool   `toml:"enabled"`
	Structured string `toml:"structured"` // StructuredRepeats | StructuredNone
	mask.Settings
}

// What is cut in structured content.
const (
	StructuredRepeats = "repeats" // strings that say again what was cut in a text
	StructuredNone    = "none"
)

// Validate reports every mistake.
func (m MCPMasking) Validate() error {
	err := m.Settings.Validate()
	if m.Structured != StructuredRepeats && m.Structured != StructuredNone {
		err = errors.Join(err, fmt.Errorf("structured: %q is none of %s, %s", m.Structured, StructuredRepeats, StructuredNone))
	}
	return err
}

func defaultObservationMasking() ObservationMasking {
	m := ObservationMasking{Gateway: mask.Default(), Schema1: chat.Default()}
	m.MCP = MCPMasking{Enabled: true, Structured: StructuredRepeats, Settings: mask.Default()}
	m.MCP.MaxChars, m.MCP.HeadChars, m.MCP.TailChars = 20000, 10000, 10000
	m.MCP.Marker = strings.Replace(m.Gateway.Marker, "]", " id={id}]", 1)
	m.MCP.ExemptMedia = true
	return m
}
