package config

import "embed"

// The presets of Init.
const (
	PresetDefault = "default" // the recommended settings, with the demo server
	PresetKimi    = "kimi"    // local HTTP bridges on their usual ports, and the sliding window
)

// Presets returns the names that Init knows.
func Presets() []string { return []string{PresetDefault, PresetKimi} }

//go:embed presets/*.toml
var presets embed.FS

// Init returns a commented TOML file to start from; nil: unknown preset.
func Init(preset string) []byte {
	text, err := presets.ReadFile("presets/" + preset + ".toml")
	if err != nil {
		return nil
	}
	return text
}
