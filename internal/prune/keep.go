package prune

import (
	"math"
	"math/bits"
)

// keep is the set of kept lines.
type keep struct {
	set   []uint64
	count int
}

func newKeep(lines int) *keep { return &keep{set: make([]uint64, (lines+63)/64)} }

func (k *keep) has(line int) bool { return k.set[line/64]&(1<<(line%64)) != 0 }

func (k *keep) add(line int) {
	if bit := uint64(1) << (line % 64); k.set[line/64]&bit == 0 {
		k.set[line/64] |= bit
		k.count++
	}
}

func (k *keep) remove(line int) {
	if bit := uint64(1) << (line % 64); k.set[line/64]&bit != 0 {
		k.set[line/64] &^= bit
		k.count--
	}
}

// nextGap finds the first run of removed lines at or after line from; ok is false if none exists.
func (k *keep) nextGap(from, lines int) (first, last int, ok bool) {
	first = k.find(from, lines, false)
	if first >= lines {
		return 0, 0, false
	}
	return first, k.find(first, lines, true) - 1, true
}

// find returns the first kept, or removed, line at or after from; lines: none.
func (k *keep) find(from, lines int, stays bool) int {
	for from < lines {
		word := k.set[from/64] >> (from % 64)
		if !stays {
			word = ^word
		}
		if skip := bits.TrailingZeros64(word); skip < 64-from%64 {
			return min(lines, from+skip)
		}
		from += 64 - from%64
	}
	return lines
}

// bestFirst orders rows by falling score; of equals the earlier comes first.
func bestFirst(score []float32) []uint32 {
	n := len(score)
	keys := make([]uint32, n)
	order, other := make([]uint32, n), make([]uint32, n)
	for i, x := range score {
		b := math.Float32bits(x)
		if b&(1<<31) != 0 { // so that the bits compare like the floats, then inverted
			b = ^b
		} else {
			b |= 1 << 31
		}
		keys[i] = ^b
		order[i] = uint32(i)
	}
	const digit = 11
	for shift := 0; shift < 33; shift += digit {
		var at [1 << digit]uint32
		for _, k := range keys {
			at[k>>shift&(1<<digit-1)]++
		}
		sum := uint32(0)
		for i, count := range at {
			at[i] = sum
			sum += count
		}
		for _, i := range order {
			d := keys[i] >> shift & (1<<digit - 1)
			other[at[d]] = i
			at[d]++
		}
		order, other = other, order
	}
	return order
}
