package prune

import (
	"maps"
	"math"
	"slices"
)

// A model adds up small trees: gradient-boosted, oblivious. A tree asks the same few questions of every row; the answers, read as a
// binary number, name the leaf whose value counts. The tables (model_*.go) are fitted by test/eval/train to put the lines that a
// goal needs on top; how well they do on projects they were not fitted to is in docs/pruning-quality.md.
type model []tree

const treeDepth = 5

type tree struct {
	ask  [treeDepth]question
	leaf [1 << treeDepth]float32
}

// question asks whether a feature lies above a border.
type question struct {
	of    feature
	above float32
}

// scorer is a model ready for use on eight rows at a time. A feature is turned into the number of the model's borders that lie below
// it, one byte a row, so that one subtraction of a word asks a question of eight rows. It is not for several users at once.
type scorer struct {
	trees []wordTree
	scale []scale // of the features that the model asks for
	words [numFeatures]uint64
	rows  int // that words holds
}

// scale is a feature's borders, rising, as the bits of their numbers: numbers that are not negative compare like their bits. What the
// bits begin with names a place in first, which tells how many borders lie below all numbers that begin so.
type scale struct {
	of      feature
	base    int32 // the beginning that the first place stands for, and all below it
	first   []uint8
	borders []uint32
}

// beginning is how many of a number's lower bits do not count for its place: eight places an octave are left.
const beginning = 20

func newScale(of feature, borders []float32) scale {
	s := scale{of: of, borders: make([]uint32, len(borders))}
	for i, b := range borders {
		s.borders[i] = math.Float32bits(b)
	}
	s.base = int32(s.borders[0] >> beginning)
	last := int32(s.borders[len(borders)-1]>>beginning) + 1
	for place, n := s.base, 0; place <= last; place++ {
		for place > s.base && n < len(s.borders) && s.borders[n] < uint32(place)<<beginning { //nolint:gosec // not negative
			n++
		}
		s.first = append(s.first, uint8(n))
	}
	return s
}

// below is how many borders lie below a number.
func (s *scale) below(x float32) uint64 {
	bits := math.Float32bits(x)
	place := min(max(int32(bits>>beginning)-s.base, 0), int32(len(s.first))-1) //nolint:gosec // small
	n := int(s.first[place])
	for n < len(s.borders) && bits > s.borders[n] {
		n++
	}
	return uint64(n) //nolint:gosec // not negative
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
		s.scale = append(s.scale, newScale(f, borders[f]))
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

// add takes one more row. It reports whether that fills the word.
func (s *scorer) add(v *vector) bool {
	shift := uint(s.rows) * 8
	for i := range s.scale {
		x := &s.scale[i]
		s.words[i] |= x.below(v[x.of]) << shift
	}
	s.rows++
	return s.rows == lanes
}

// flush gives the scores of the rows taken, into out, and begins anew.
func (s *scorer) flush(out []float32) {
	var sum [lanes]float32
	for i := range s.trees {
		t := &s.trees[i]
		leaf := t.leaf
		// A byte keeps its high bit unless the row's number is above the border's.
		no := (t.border[0]-s.words[t.of[0]])&highBits>>3 | (t.border[1]-s.words[t.of[1]])&highBits>>4 |
			(t.border[2]-s.words[t.of[2]])&highBits>>5 | (t.border[3]-s.words[t.of[3]])&highBits>>6 |
			(t.border[4]-s.words[t.of[4]])&highBits>>7
		yes := ^no & (everyByte * (1<<treeDepth - 1))
		sum[0] += leaf[yes&31]
		sum[1] += leaf[yes>>8&31]
		sum[2] += leaf[yes>>16&31]
		sum[3] += leaf[yes>>24&31]
		sum[4] += leaf[yes>>32&31]
		sum[5] += leaf[yes>>40&31]
		sum[6] += leaf[yes>>48&31]
		sum[7] += leaf[yes>>56&31]
	}
	copy(out, sum[:s.rows])
	s.rows = 0
	clear(s.words[:len(s.scale)])
}
