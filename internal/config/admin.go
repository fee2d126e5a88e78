package config

import "secateur/internal/ops/capture"

// Import are the settings for servers that come from other programs' files.
type Import struct {
	// They are started without an approval.
	Trust bool `toml:"trust"`
}

// Admin are the settings for operating the running program.
type Admin struct {
	// The control plane may add servers that run commands.
	AllowCommands bool `toml:"allow_commands"`
	Watch         bool `toml:"watch"` // reload when the file changes

	Capture capture.Settings `toml:"capture"` // captures the contents of requests for a while
}
