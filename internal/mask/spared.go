package mask

import "slices"

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
