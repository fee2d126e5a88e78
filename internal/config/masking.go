package config

import (
	"strings"

	"secateur/internal/chat"
	"secateur/internal/mask"
)

// ObservationMasking says what is cut out of tool results, door by door.
type ObservationMasking struct {
	Gateway mask.Settings `toml:"gateway"` // raw JSON-RPC to one server
	MCP     MCPMasking    `toml:"mcp"`     // the aggregate
	Schema1 chat.Settings `toml:"schema1"` // conversations on their way to a model
}

// MCPMasking is what the aggregate cuts: texts of tool results, never media or structured content.
type MCPMasking struct {
	Enabled bool `toml:"enabled"`
	mask.Settings
}

func defaultObservationMasking() ObservationMasking {
	m := ObservationMasking{Gateway: mask.Default(), Schema1: chat.Default()}
	m.MCP = MCPMasking{Enabled: true, Settings: mask.Default()}
	m.MCP.MaxChars, m.MCP.HeadChars, m.MCP.TailChars = 20000, 10000, 10000
	m.MCP.Marker = strings.Replace(m.Gateway.Marker, "]", " id={id}]", 1)
	m.MCP.ExemptMedia = true
	return m
}
