package app

import (
	"path/filepath"
	"strings"

	"secateur/internal/mcp/upstream"
)

// inHome expands ~ and ~/… in a server's command and working directory, as a shell would: the child
// runs without a shell.
func inHome(set upstream.Settings, home string) upstream.Settings {
	if home == "" {
		return set
	}
	command := make([]string, len(set.Command))
	for i, word := range set.Command {
		command[i] = fromHome(word, home)
	}
	set.Command, set.Cwd = command, fromHome(set.Cwd, home)
	return set
}

func fromHome(word, home string) string {
	if rest, ok := strings.CutPrefix(word, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return home + rest
	}
	return word
}
