package child

import (
	"os"
	"testing"
)

func TestParseStat(t *testing.T) {
	const line = "4242 (a) b (c) S 17 4242 4000 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 1"
	got, ok := parseStat(line)
	if want := (stat{state: 'S', parent: 17, group: 4242, session: 4000, start: 987654}); !ok || got != want {
		t.Errorf("parseStat = %+v, %v; want %+v", got, ok, want)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1", "1 (x) S x 4242 4000 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 1"} {
		if _, ok := parseStat(bad); ok {
			t.Errorf("parseStat(%q) is ok", bad)
		}
	}
}

func BenchmarkDescendants(b *testing.B) {
	t := newTree(os.Getpid(), "no-such-marker", nil)
	for b.Loop() {
		t.descendants()
	}
}
