package era

import "slices"

// Era is the era of the protocol that a peer speaks.
type Era string

// In the legacy era a client sends initialize first, and both sides send requests. In the modern
// era every request is self-contained.
const (
	Legacy Era = "legacy"
	Modern Era = "modern"
)

// The newest revision of each era.
const (
	LatestModern = "2026-07-28"
	LatestLegacy = "2025-11-25"
)

var (
	modernVersions = [...]string{LatestModern}
	legacyVersions = [...]string{LatestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}
)

// Versions returns all revisions, newest first.
func Versions() []string { return slices.Concat(modernVersions[:], legacyVersions[:]) }

// LegacyVersions returns the legacy revisions, newest first.
func LegacyVersions() []string { return slices.Clone(legacyVersions[:]) }

// IsLegacy reports whether a revision belongs to the legacy era.
func IsLegacy(version string) bool { return slices.Contains(legacyVersions[:], version) }

// IsModern reports whether a revision belongs to the modern era.
func IsModern(version string) bool { return slices.Contains(modernVersions[:], version) }

// Agreed returns the revision for a client that asked for one in initialize. It is the requested
// one, or the newest legacy one if that is not a legacy revision.
func Agreed(asked string) string {
	if IsLegacy(asked) {
		return asked
	}
	return LatestLegacy
}
