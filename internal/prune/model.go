package prune

import "math"

// A model adds up small trees. A tree asks the same few questions of every row; the answers, read as a binary number, name the
// leaf whose value counts. The tables (model_*.go) are fitted by test/eval/train to put the lines that a goal needs on top; how
// well they do on projects they were not fitted to is in docs/pruning-quality.md.
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

// bitTree is a tree ready for use. Numbers that are not negative compare like their bits, so a question is one subtraction
// whose sign is the answer, and nothing has to be predicted.
type bitTree struct {
	of    [treeDepth]uint8
	above [treeDepth]uint32
	leaf  [1 << treeDepth]float32
}

// bitModel is a model ready for use. It is not for several users at once.
type bitModel struct {
	trees []bitTree
	bits  [256]uint32 // of the row at hand; as many as an uint8 can name
}

// bits prepares a model.
func (m model) bits() *bitModel {
	out := &bitModel{trees: make([]bitTree, len(m))}
	for i, t := range m {
		for j, q := range t.ask {
			out.trees[i].of[j] = uint8(q.of)
			out.trees[i].above[j] = math.Float32bits(q.above)
		}
		out.trees[i].leaf = t.leaf
	}
	return out
}

func (m *bitModel) score(v *vector) float32 {
	for i, x := range v {
		m.bits[i] = math.Float32bits(x)
	}
	bits := &m.bits
	var even, odd float32 // two sums, so that one need not wait for the other
	trees := m.trees
	for ; len(trees) >= 2; trees = trees[2:] {
		even += trees[0].leaf[trees[0].answer(bits)]
		odd += trees[1].leaf[trees[1].answer(bits)]
	}
	for i := range trees {
		even += trees[i].leaf[trees[i].answer(bits)]
	}
	return even + odd
}

// answer is the leaf of the row with these features.
func (t *bitTree) answer(bits *[256]uint32) uint32 {
	return (t.above[0]-bits[t.of[0]])>>31<<4 | (t.above[1]-bits[t.of[1]])>>31<<3 | (t.above[2]-bits[t.of[2]])>>31<<2 |
		(t.above[3]-bits[t.of[3]])>>31<<1 | (t.above[4]-bits[t.of[4]])>>31
}
