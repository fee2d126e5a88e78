package config

import "secateur/internal/ops/capture"

// Admin is how the running program is operated.
type Admin struct {
	AllowCommands bool `toml:"allow_commands"` // the control plane may add servers that run commands
	Watch         bool `toml:"watch"`          // reload when the file changes

	Capture capture.Settings `toml:"capture"` // what requests say is kept for a while
}
