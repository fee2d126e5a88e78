package bpe

import (
	_ "embed"
	"math/bits"
)

// vocabulary has three tables. A lookup takes the same few steps whether it succeeds or not.
// pack.go makes them.
//
// The first has rank+1 for each pair of bytes, or zero. The second and the third are a perfect hash
// of all tokens (hash and displace). The hash of a text selects a bucket; the bucket's displacement
// and the hash select a slot that no other token has. A slot holds a part of its token's hash, the
// tag, and rank+1; zero is an empty slot. The bytes of a token are not stored. A lookup mistakes
// another text for a token with a probability below 1 in 2^46.
//
//go:embed o200k.bin
var vocabulary string

const (
	bucketBits = 16
	slotBits   = 18
	rankBits   = 18
	tagBits    = 64 - rankBits

	bucketsAt = 4 << 16 // after the pairs
	slotsAt   = bucketsAt + 1<<bucketBits
	tableSize = slotsAt + 8<<slotBits

	longestToken = 128       // bytes
	absent       = 1<<32 - 1 // rank of a text that is not in the vocabulary: after all others
)

// rankOfPair returns the rank of the two bytes at i, or absent.
func rankOfPair(text string, i int) uint32 {
	at := int(text[i])<<10 | int(text[i+1])<<2
	b := vocabulary[at : at+4]
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24) - 1
}

// rankOf returns the rank of text[from:to], which has at least one byte, or absent.
func rankOf(text string, from, to int) uint32 {
	var hash uint64
	if n := to - from; n <= 8 && from+8 <= len(text) {
		hash = hashOfWord(word(text, from)&(^uint64(0)>>(64-8*uint(n))), n)
	} else {
		hash = hashOf(text, from, to)
	}
	slot := word(vocabulary, slotsAt+8*slotOf(hash, vocabulary[bucketsAt+bucketOf(hash)]))
	if slot>>rankBits != hash&(1<<tagBits-1) {
		return absent
	}
	return uint32(slot&(1<<rankBits-1)) - 1
}

func bucketOf(hash uint64) int {
	return int(hash >> (64 - bucketBits))
}

// slotOf uses bits of the hash that bucketOf leaves, so that the tokens of a bucket spread.
func slotOf(hash uint64, displacement byte) int {
	return int((hash>>30 + uint64(displacement)*(hash>>12|1)) & (1<<slotBits - 1))
}

// Constants for the hash: bits without a pattern.
const (
	mixBytes  = 0x9E3779B97F4A7C15
	mixLength = 0xC2B2AE3D27D4EB4F
	mixMore   = 0xD6E8FEB86659FD93
)

// hashOf reads eight bytes at a time and gives the same result on every machine. Most tokens have
// at most eight bytes and take one multiplication.
func hashOf(text string, from, to int) uint64 {
	n := to - from
	if n <= 8 {
		return hashOfWord(lastBytes(text, from, to), n)
	}
	hash := uint64(n) * mixLength
	for ; to-from > 8; from += 8 {
		hash = fold(word(text, from)^mixBytes, hash^mixMore)
	}
	return fold(word(text, to-8)^mixBytes, hash^mixMore)
}

// hashOfWord returns the hash of n bytes, at most eight.
func hashOfWord(w uint64, n int) uint64 {
	return fold(w^mixBytes, uint64(n)*mixLength^mixMore) //nolint:gosec // a length
}

// fold mixes by a full multiplication and joins the two halves.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// word returns the eight bytes at i as a little-endian number.
func word(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// lastBytes returns text[from:to], at most eight bytes, as a word. It reads nothing beyond to.
func lastBytes(text string, from, to int) uint64 {
	w := uint64(0)
	for i := to - 1; i >= from; i-- {
		w = w<<8 | uint64(text[i])
	}
	return w
}
