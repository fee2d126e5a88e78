package config

import "embed"

// The presets of Init.
const (
	PresetDefault = "default" // what is recommended, with the demo server to look at
	PresetKimi    = "kimi"    // local HTTP bridges on their usual ports, and the sliding window
)

// Presets are the names that Init knows.
func Presets() []string { return []string{PresetDefault, PresetKimi} }

//go:embed presets/*.toml
var presets embed.FS

// Init is a commented file to start from, in TOML; nil for a preset that does not exist.
func Init(preset string) []byte {
	text, err := presets.ReadFile("presets/" + preset + ".toml")
	if err != nil {
		return nil
	}
	return text
}
