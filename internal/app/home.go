package app

import (
	"path/filepath"
	"strings"

	"secateur/internal/mcp/upstream"
)

// inHome is a server's settings with ~ and ~/… in its command and working directory made paths, as a shell would: no
// shell stands between the file and the child.
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
