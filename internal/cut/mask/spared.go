package mask

import (
	"slices"
	"strings"
)

// Results that restore a cut text must never be cut again, at any door.
const (
	// PrunerName is a pruner's name in its handshake.
	PrunerName = "mcp-pruner"
	// RecoverTool is the pruner's tool that returns lines of an original.
	RecoverTool = "recover_text"
	// RecoverCharsTool is the pruner's tool that returns characters of an original.
	RecoverCharsTool = "recover_chars"
)

// recoveryTools are a pruner's tools that restore a text, or cut it themselves.
var recoveryTools = [...]string{"prune_text", RecoverTool, "recover_range", RecoverCharsTool, "search_text"}

// RecoveryTools returns the names of a pruner's tools whose results are never cut.
func RecoveryTools() []string { return slices.Clone(recoveryTools[:]) }

// IsRecovery reports whether a pruner's tool is one of RecoveryTools.
func IsRecovery(tool string) bool { return slices.Contains(recoveryTools[:], tool) }

// recoveredMark identifies a recovered text if the tool's name does not. It is plain ASCII, so that
// it looks the same however a client encodes its JSON.
const recoveredMark = "RECOVERED: prune_id=prn_"

// RecoveredMark returns the line that announces an original printed by a command.
func RecoveredMark(id string) string {
	return "[" + strings.TrimSuffix(recoveredMark, "prn_") + id + "]"
}

// IsRecovered reports whether a text contains the mark of a recovery.
func IsRecovered[text string | []byte](t text) bool {
	return strings.Contains(string(t), recoveredMark)
}

// NamesOriginal reports whether a text, such as the arguments of a call, contains the id of an
// original.
func NamesOriginal[text string | []byte](t text) bool {
	const prefix, length = "prn_", 26
	for rest := string(t); ; {
		i := strings.Index(rest, prefix)
		if i < 0 {
			return false
		}
		rest = rest[i+len(prefix):]
		n := 0
		for n < len(rest) && isBase32(rest[n]) {
			n++
		}
		if n == length {
			return true
		}
	}
}

func isBase32(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
