package config

// Admin is how the running program is operated.
type Admin struct {
	Watch bool `toml:"watch"` // reload when the file changes
}
