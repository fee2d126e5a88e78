package app

import "testing"

func TestTheStoreIsNotCollectedTwice(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		rule         string
		live, stored int64
		want         int
	}{
		{"an empty store: as Go does it", 30 * mib, 0, 100},
		{"a small heap may grow for a while", 4 * mib, 0, 200},
		{"a full store and little beside it", 270 * mib, 256 * mib, 8},
		{"a full store and much beside it", 512 * mib, 256 * mib, 50},
		{"originals put since the last collection", 100 * mib, 200 * mib, 24},
		{"nothing lives yet", 0, 0, 800},
		{"a store of many gigabytes", 64 << 30, 64 << 30, 1},
	} {
		if got := gcPercent(c.live, c.stored); got != c.want {
			t.Errorf("%s: gcPercent = %d, want %d", c.rule, got, c.want)
		}
	}
}
