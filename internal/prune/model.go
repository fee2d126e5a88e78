package prune

import (
	"maps"
	"math"
	"slices"
	"sync"
)

// A model sums up small trees: gradient-boosted, oblivious. A tree asks the same few questions of
// every row. The answers, read as a binary number, select the leaf whose value counts.
// test/eval/train fits the tables (model_*.go) to put the lines that a goal needs on top.
// docs/pruning-quality.md has their quality on projects they were not fitted to.
type model []tree

const treeDepth = 5

type tree struct {
	ask  [treeDepth]question
	leaf [1 << treeDepth]float32
}

// question asks whether a feature is above a border.
type question struct {
	of    feature
	above float32
}

// scorer is a model prepared for eight rows at a time. A feature becomes the number of the model's
// borders below it, one byte per row. One subtraction of a word thus asks a question of eight rows.
// It is immutable.
type scorer struct {
	trees []wordTree
	scale []scale // of the features that the model uses
}

// scale has a feature's borders, rising, as float bits: non-negative floats compare like their
// bits.
type scale struct {
	of      feature
	borders []uint32
}

// lanes is how many rows a word holds.
const lanes = 8

// wordTree is a tree for words.
type wordTree struct {
	of     [treeDepth]uint8
	border [treeDepth]uint64 // the border's number with the high bit set, in every byte
	leaf   *[1 << treeDepth]float32
}

const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
)

// The scorers of the built-in models, prepared on first use.
var (
	codeScorer = sync.OnceValue(codeModel.ready)
	docsScorer = sync.OnceValue(docsModel.ready)
	logsScorer = sync.OnceValue(logsModel.ready)
)

// ready prepares a model.
func (m model) ready() *scorer {
	borders := map[feature][]float32{}
	for _, t := range m {
		for _, q := range t.ask {
			if at, found := slices.BinarySearch(borders[q.of], q.above); !found {
				borders[q.of] = slices.Insert(borders[q.of], at, q.above)
			}
		}
	}
	s := &scorer{trees: make([]wordTree, len(m))}
	place := map[feature]uint8{}
	for _, f := range slices.Sorted(maps.Keys(borders)) {
		place[f] = uint8(len(s.scale)) //nolint:gosec // features are few
		x := scale{of: f}
		for _, b := range borders[f] {
			x.borders = append(x.borders, math.Float32bits(b))
		}
		s.scale = append(s.scale, x)
	}
	for i := range m {
		w := &s.trees[i]
		w.leaf = &m[i].leaf
		for j, q := range m[i].ask {
			at, _ := slices.BinarySearch(borders[q.of], q.above)
			w.of[j] = place[q.of]
			w.border[j] = uint64(at)*everyByte | highBits //nolint:gosec // a feature has few borders
		}
	}
	return s
}

// score returns the scores of eight rows.
func (s *scorer) score(rows *[lanes]vector) [lanes]float32 {
	var words [wordRoom]uint64
	for i := range s.scale {
		x := &s.scale[i]
		words[i%wordRoom] = x.below(rows[0][x.of], rows[1][x.of], rows[2][x.of], rows[3][x.of]) |
			x.below(rows[4][x.of], rows[5][x.of], rows[6][x.of], rows[7][x.of])<<32
	}
	var a, b, c, d, e, f, g, h float32 // sums; an array would be kept in memory
	for i := range s.trees {
		t := &s.trees[i]
		leaf := t.leaf
		// A byte keeps its high bit unless the row's number is above the border's.
		no := (t.border[0]-words[t.of[0]%wordRoom])&highBits>>3 | (t.border[1]-words[t.of[1]%wordRoom])&highBits>>4 |
			(t.border[2]-words[t.of[2]%wordRoom])&highBits>>5 | (t.border[3]-words[t.of[3]%wordRoom])&highBits>>6 |
			(t.border[4]-words[t.of[4]%wordRoom])&highBits>>7
		yes := ^no & (everyByte * (1<<treeDepth - 1))
		a += leaf[yes&31]
		b += leaf[yes>>8&31]
		c += leaf[yes>>16&31]
		d += leaf[yes>>24&31]
		e += leaf[yes>>32&31]
		f += leaf[yes>>40&31]
		g += leaf[yes>>48&31]
		h += leaf[yes>>56&31]
	}
	return [lanes]float32{a, b, c, d, e, f, g, h}
}

// wordRoom is the number of features, rounded up to a power of two: an index modulo it needs no
// bounds check.
const wordRoom = 128

// below returns how many borders are below each of four numbers, one byte each, the first lowest.
// It counts without branches, which would be unpredictable.
func (s *scale) below(a, b, c, d float32) uint64 {
	x, y := uint64(math.Float32bits(a)), uint64(math.Float32bits(b))
	z, w := uint64(math.Float32bits(c)), uint64(math.Float32bits(d))
	var nx, ny, nz, nw uint64
	for _, border := range s.borders {
		k := uint64(border)
		nx += (k - x) >> 63
		ny += (k - y) >> 63
		nz += (k - z) >> 63
		nw += (k - w) >> 63
	}
	return nx | ny<<8 | nz<<16 | nw<<24
}
