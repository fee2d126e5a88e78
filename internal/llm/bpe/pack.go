package bpe

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// PackVocabulary returns the contents of o200k.bin for tokens in rank order.
func PackVocabulary(tokens []string) ([]byte, error) {
	if len(tokens) >= 1<<rankBits {
		return nil, fmt.Errorf("%d tokens: their ranks need more than %d bits", len(tokens), rankBits)
	}
	table := make([]byte, tableSize)
	hashes := make([]uint64, len(tokens))
	buckets := make([][]int, 1<<bucketBits)
	for rank, token := range tokens {
		switch n := len(token); {
		case n == 0 || n > longestToken:
			return nil, fmt.Errorf("token %d has %d bytes", rank, n)
		case n == 2:
			binary.LittleEndian.PutUint32(table[int(token[0])<<10|int(token[1])<<2:], uint32(rank+1))
		}
		hashes[rank] = hashOf(token, 0, len(token))
		b := bucketOf(hashes[rank])
		buckets[b] = append(buckets[b], rank)
	}
	// Place the fullest buckets first, while most slots are free.
	order := make([]int, len(buckets))
	for b := range order {
		order[b] = b
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(buckets[b]) - len(buckets[a]) })
	for _, b := range order {
		if !place(table, b, buckets[b], hashes) {
			return nil, fmt.Errorf("no displacement keeps tokens %d apart from all others", buckets[b])
		}
	}
	return table, nil
}

// place finds a displacement that leads all tokens of a bucket to free slots.
func place(table []byte, bucket int, ranks []int, hashes []uint64) bool {
	var taken []int
	for displacement := range 256 {
		taken = taken[:0]
		for _, rank := range ranks {
			at := slotsAt + 8*slotOf(hashes[rank], byte(displacement))
			if binary.LittleEndian.Uint64(table[at:]) != 0 {
				break
			}
			binary.LittleEndian.PutUint64(table[at:], hashes[rank]<<rankBits|uint64(rank+1)) //nolint:gosec // an index
			taken = append(taken, at)
		}
		if len(taken) == len(ranks) {
			table[bucketsAt+bucket] = byte(displacement)
			return true
		}
		for _, at := range taken {
			clear(table[at : at+8])
		}
	}
	return false
}
