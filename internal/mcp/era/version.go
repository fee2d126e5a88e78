package era

import "slices"

// Era is the half of the protocol's history that a peer speaks.
type Era string

// In the legacy era a client introduces itself with initialize and both sides ask each
// other; in the modern one every request stands alone.
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

// Versions returns all revisions, the newest first.
func Versions() []string { return slices.Concat(modernVersions[:], legacyVersions[:]) }

// LegacyVersions returns the legacy revisions, the newest first.
func LegacyVersions() []string { return slices.Clone(legacyVersions[:]) }

// IsLegacy tells whether a revision is one of the legacy era.
func IsLegacy(version string) bool { return slices.Contains(legacyVersions[:], version) }

// IsModern tells whether a revision is one of the modern era.
func IsModern(version string) bool { return slices.Contains(modernVersions[:], version) }

// Agreed returns the revision that a client which asked for one in its initialize gets:
// that one, or the newest where it is none of the legacy era.
func Agreed(asked string) string {
	if IsLegacy(asked) {
		return asked
	}
	return LatestLegacy
}
