package mask

import (
	"slices"
	"strings"
)

// What gives back what was cut must never be cut again, by any door.
const (
	// PrunerName is what a pruner calls itself in its handshake.
	PrunerName = "mcp-pruner"
	// RecoverTool is the pruner's tool that gives back lines of an original.
	RecoverTool = "recover_text"
)

// recoveryTools are those of a pruner that give back what was cut, or cut by themselves.
var recoveryTools = [...]string{"prune_text", RecoverTool, "recover_range", "recover_chars", "search_text"}

// RecoveryTools returns the names of a pruner's tools whose results are never cut.
func RecoveryTools() []string { return slices.Clone(recoveryTools[:]) }

// IsRecovery tells whether a tool of a pruner is one of RecoveryTools.
func IsRecovery(tool string) bool { return slices.Contains(recoveryTools[:], tool) }

// recoveredMark is what a recovery says of itself where its tool's name does not tell. It is plain ASCII, so that it reads
// the same however a client writes its JSON.
const recoveredMark = "RECOVERED: prune_id=prn_"

// RecoveredMark announces the text of an original that a command prints.
func RecoveredMark(id string) string {
	return "[" + strings.TrimSuffix(recoveredMark, "prn_") + id + "]"
}

// IsRecovered tells whether a text announces that a recovery has brought it back.
func IsRecovered[text string | []byte](t text) bool {
	return strings.Contains(string(t), recoveredMark)
}

// NamesOriginal tells whether a text, such as the arguments of a call, names an original by its id.
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
