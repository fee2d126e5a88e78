package era_test

import (
	"slices"
	"testing"

	"secateur/internal/mcp/era"
)

func TestVersions(t *testing.T) {
	legacy := era.LegacyVersions()
	if want := []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}; !slices.Equal(legacy, want) {
		t.Errorf("LegacyVersions() = %q, want %q", legacy, want)
	}
	for _, v := range legacy {
		if !era.IsLegacy(v) || era.IsModern(v) {
			t.Errorf("%s: legacy %v, modern %v", v, era.IsLegacy(v), era.IsModern(v))
		}
	}
	if legacy[0] != era.LatestLegacy {
		t.Errorf("LatestLegacy = %s, the newest is %s", era.LatestLegacy, legacy[0])
	}
	legacy[0] = "changed"
	if era.LegacyVersions()[0] != era.LatestLegacy {
		t.Error("a caller changed the versions")
	}
	if !era.IsModern(era.LatestModern) || era.IsLegacy(era.LatestModern) {
		t.Errorf("%s: legacy %v, modern %v", era.LatestModern, era.IsLegacy(era.LatestModern), era.IsModern(era.LatestModern))
	}
	for _, v := range []string{"", "2026-07-29", "2025-01-01", "DRAFT-2026-v1"} {
		if era.IsLegacy(v) || era.IsModern(v) {
			t.Errorf("%q is a version", v)
		}
	}
}
