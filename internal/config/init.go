package config

import (
	"bytes"
	"embed"
	"slices"
)

// The presets of Init.
const (
	PresetDefault = "default" // the recommended settings, with the demo server
	PresetKimi    = "kimi"    // local HTTP bridges on their usual ports, and the sliding window
)

// Presets returns the names that Init knows.
func Presets() []string { return []string{PresetDefault, PresetKimi} }

//go:embed presets/*.toml
var presets embed.FS

// InitOwn is the recommended file for servers of one's own: without the demo.
func InitOwn() []byte {
	text := Init(PresetDefault)
	from := bytes.Index(text, []byte("# A small server inside"))
	to := bytes.Index(text, []byte("# A server of your own"))
	return slices.Delete(text, from, to)
}

// Init is a commented file to start from, in TOML; nil for a preset that does not exist.
func Init(preset string) []byte {
	text, err := presets.ReadFile("presets/" + preset + ".toml")
	if err != nil {
		return nil
	}
	return text
}
