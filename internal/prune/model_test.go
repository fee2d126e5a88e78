package prune

import (
	"math/rand/v2"
	"testing"
)

// Eight rows at once have the same scores as each alone.
func TestScorerAnswersLikeTheTrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, m := range map[string]model{"code": codeModel, "docs": docsModel, "logs": logsModel} {
		s := m.ready()
		for n := 1; n <= lanes; n++ {
			var rows [lanes]vector
			for i := range n {
				for f := range rows[i] {
					rows[i][f] = rng.Float32() * []float32{1, 3, 200}[rng.IntN(3)]
				}
				tree := m[rng.IntN(len(m))] // some exactly on a border
				rows[i][tree.ask[0].of] = tree.ask[0].above
			}
			got := s.score(&rows)
			for i := range rows {
				want := float32(0)
				for _, tree := range m {
					leaf := 0
					for _, q := range tree.ask {
						leaf <<= 1
						if rows[i][q.of] > q.above {
							leaf |= 1
						}
					}
					want += tree.leaf[leaf]
				}
				if got[i] != want {
					t.Fatalf("%s: row %d of %d scores %v, want %v", name, i, n, got[i], want)
				}
			}
		}
	}
}
