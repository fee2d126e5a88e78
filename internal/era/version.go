package era

import "slices"

// The newest revision of each era.
const (
	LatestModern = "2026-07-28"
	LatestLegacy = "2025-11-25"
)

var (
	modernVersions = [...]string{LatestModern}
	legacyVersions = [...]string{LatestLegacy, "2025-06-18", "2025-03-26", "2024-11-05"}
)

// LegacyVersions returns the legacy revisions, the newest first.
func LegacyVersions() []string { return slices.Clone(legacyVersions[:]) }

// IsLegacy tells whether a revision is one of the legacy era.
func IsLegacy(version string) bool { return slices.Contains(legacyVersions[:], version) }

// IsModern tells whether a revision is one of the modern era.
func IsModern(version string) bool { return slices.Contains(modernVersions[:], version) }
