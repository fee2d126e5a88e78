package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// isOwn reports the entry that 'secateur connect' wrote: running it would start secateur within secateur. 'secateur pruner' is a
// server like any other.
func isOwn(name string, entry *node) bool {
	command := entry.get("command")
	if command == nil || len(command.items) == 0 {
		return name == OwnID && entry.get("url") != nil
	}
	program, args := command.items[0].text, command.items[1:]
	if i := strings.LastIndexAny(program, `/\`); i >= 0 {
		program = program[i+1:]
	}
	isUs := strings.TrimSuffix(program, filepath.Ext(program)) == OwnID
	if len(args) == 0 || !isUs && name != OwnID {
		return isUs && len(args) == 0
	}
	return slices.Contains([]string{"stdio", "--config", "-c"}, args[0].text) || strings.HasPrefix(args[0].text, "--config=")
}
