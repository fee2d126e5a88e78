package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
)

// table is training data: rows of binned features, their labels, and their cases.
type table struct {
	bins  [][]uint8 // per feature, per row
	gold  []bool
	group []int32 // case

	times  []float64 // of each row: how many rows it stands for
	weight []float64 // of each case
	cases  int
}

// tree is oblivious: every level asks one question of all rows, so a row's answers form the number
// of its leaf.
type tree struct {
	feature []int
	border  []int // index into the feature's borders: yes for a bin above it
	leaf    []float32
}

// leafOf returns the leaf of a row.
func (t *tree) leafOf(bins [][]uint8, r int) int {
	leaf := 0
	for i, f := range t.feature {
		leaf <<= 1
		if int(bins[f][r]) > t.border[i] {
			leaf |= 1
		}
	}
	return leaf
}

// boost grows trees, each on the residual of the ones before.
func boost(data *table, borders [][]float32, rows []int, set Settings) []tree {
	rng := rand.New(rand.NewPCG(set.Seed, 7)) //nolint:gosec // the same model every time
	n := len(data.gold)
	score, chance := make([]float64, n), make([]float64, n)
	grad, hess := make([]float64, n), make([]float64, n)
	leaf := make([]uint8, n)
	golds := make([]float64, data.cases)
	for _, r := range rows {
		if data.gold[r] {
			golds[data.group[r]]++
		}
	}
	var out []tree
	for range set.Trees {
		gradients(data, rows, score, chance, golds, grad, hess)
		drawn, weight := draw(rng, rows, grad, set.Rows)
		var features []int
		for f := range data.bins {
			if len(borders[f]) > 0 && rng.Float64() < set.Features {
				features = append(features, f)
			}
		}
		if len(features) == 0 {
			continue
		}
		t := grow(data, borders, drawn, weight, features, grad, hess, set)
		refit(&t, data, rows, leaf, grad, hess, set)
		for _, r := range rows {
			score[r] += float64(t.leaf[leaf[r]])
		}
		out = append(out, t)
	}
	return out
}

// draw picks rows to grow a tree on, preferring large gradients, and returns the weight of each.
func draw(rng *rand.Rand, rows []int, grad []float64, share float64) (drawn []int, weight []float64) {
	sum := 0.0
	for _, r := range rows {
		sum += math.Abs(grad[r])
	}
	scale := share * float64(len(rows)) / sum
	for _, r := range rows {
		p := math.Min(1, math.Max(share/4, scale*math.Abs(grad[r])))
		if rng.Float64() < p {
			drawn = append(drawn, r)
			weight = append(weight, 1/p)
		}
	}
	return drawn, weight
}

// gradients computes those of the loss: per case, how far the chances from the scores are from
// lying on the gold rows alone.
func gradients(data *table, rows []int, score, chance, golds, grad, hess []float64) {
	sum := make([]float64, data.cases)
	for _, r := range rows {
		chance[r] = data.times[r] * math.Exp(score[r]) // scores stay small
		sum[data.group[r]] += chance[r]
	}
	for _, r := range rows {
		g := data.group[r]
		p := chance[r] / sum[g]
		y := 0.0
		if data.gold[r] {
			y = 1 / golds[g]
		}
		grad[r] = data.weight[g] * (y - p)
		hess[r] = data.weight[g] * (p*(1-p/data.times[r]) + 1e-7)
	}
}

// grow finds the questions of one tree, level by level.
func grow(data *table, borders [][]float32, rows []int, weight []float64, features []int, grad, hess []float64, set Settings) tree {
	t := tree{}
	leaf := make([]int, len(rows))
	for level := range set.Depth {
		type split struct {
			gain    float64
			feature int
			border  int
		}
		best := make([]split, len(features))
		var wg sync.WaitGroup
		sem := make(chan struct{}, 2)
		for i, f := range features {
			wg.Add(1)
			sem <- struct{}{}
			go func() {
				defer wg.Done()
				defer func() { <-sem }()
				nb := len(borders[f]) + 1
				leaves := 1 << level
				g, h := make([]float64, leaves*nb), make([]float64, leaves*nb)
				column := data.bins[f]
				for j, r := range rows {
					at := leaf[j]*nb + int(column[r])
					g[at] += weight[j] * grad[r]
					h[at] += weight[j] * hess[r]
				}
				gl, hl := make([]float64, leaves), make([]float64, leaves)
				gt, ht := make([]float64, leaves), make([]float64, leaves)
				for l := range leaves {
					for b := range nb {
						gt[l] += g[l*nb+b]
						ht[l] += h[l*nb+b]
					}
				}
				best[i] = split{feature: f, gain: math.Inf(-1)}
				for b := range nb - 1 {
					gain := 0.0
					for l := range leaves {
						gl[l] += g[l*nb+b]
						hl[l] += h[l*nb+b]
						gr, hr := gt[l]-gl[l], ht[l]-hl[l]
						gain += gl[l]*gl[l]/(hl[l]+set.Lambda) + gr*gr/(hr+set.Lambda)
					}
					if gain > best[i].gain {
						best[i].gain, best[i].border = gain, b
					}
				}
			}()
		}
		wg.Wait()
		chosen := slices.MaxFunc(best, func(a, b split) int {
			switch {
			case a.gain < b.gain:
				return -1
			case a.gain > b.gain:
				return 1
			}
			return b.feature - a.feature
		})
		t.feature = append(t.feature, chosen.feature)
		t.border = append(t.border, chosen.border)
		for j, r := range rows {
			leaf[j] <<= 1
			if int(data.bins[chosen.feature][r]) > chosen.border {
				leaf[j] |= 1
			}
		}
	}
	return t
}

// refit computes the values of the leaves from all rows, and notes the leaf of each row.
func refit(t *tree, data *table, rows []int, leaf []uint8, grad, hess []float64, set Settings) {
	leaves := 1 << len(t.feature)
	g, h := make([]float64, leaves), make([]float64, leaves)
	for _, r := range rows {
		l := t.leafOf(data.bins, r)
		leaf[r] = uint8(l) //nolint:gosec // trees are shallow
		g[l] += grad[r]
		h[l] += hess[r]
	}
	t.leaf = make([]float32, leaves)
	for l := range leaves {
		t.leaf[l] = float32(set.Rate * g[l] / (h[l] + set.Lambda))
	}
}

// findBorders splits every feature's range into at most most+1 bins of about equal weight.
func findBorders(values [][]float32, features, most int) [][]float32 {
	out := make([][]float32, features)
	for f := range features {
		column := make([]float32, 0, len(values))
		for _, v := range values {
			column = append(column, v[f])
		}
		slices.Sort(column)
		distinct := slices.Compact(slices.Clone(column))
		if len(distinct) <= most+1 {
			for i := 1; i < len(distinct); i++ {
				out[f] = append(out[f], (distinct[i-1]+distinct[i])/2)
			}
			continue
		}
		// Half of the borders by rank, half by rank among the larger values, where it matters most.
		for i := 1; i <= most; i++ {
			var at int
			if i <= most/2 {
				at = i * len(column) / (most/2 + 1)
			} else {
				at = len(column)*9/10 + (i-most/2)*(len(column)/10)/(most-most/2+1)
			}
			out[f] = append(out[f], column[min(at, len(column)-1)])
		}
		slices.Sort(out[f])
		out[f] = slices.Compact(out[f])
	}
	return out
}

func binOf(borders []float32, x float32) uint8 {
	lo, hi := 0, len(borders)
	for lo < hi {
		if mid := (lo + hi) / 2; x > borders[mid] {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return uint8(lo)
}
