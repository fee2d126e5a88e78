package chat

import (
	"bytes"
	"fmt"
	"testing"
)

func TestDigestsTellTextsApart(t *testing.T) {
	seen := map[Key]string{}
	note := func(what string, items ...[]byte) {
		d := newDigest()
		for _, item := range items {
			d.write(item)
		}
		if before, ok := seen[d.sum()]; ok {
			t.Errorf("%s has the hash of %s", what, before)
		}
		seen[d.sum()] = what
	}
	note("nothing", nil)
	note("nothing twice", nil, nil)
	for n := 1; n < 300; n++ {
		note(fmt.Sprintf("%d zeros", n), make([]byte, n))
		note(fmt.Sprintf("%d zeros and nothing", n), make([]byte, n), nil)
		note(fmt.Sprintf("nothing and %d zeros", n), nil, make([]byte, n))
	}
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130, 257} {
		text := bytes.Repeat([]byte("x"), n)
		note(fmt.Sprintf("%d x", n), text)
		for i := range n {
			for bit := range 8 {
				text[i] ^= 1 << bit
				note(fmt.Sprintf("%d x but for bit %d of byte %d", n, bit, i), text)
				text[i] ^= 1 << bit
			}
		}
	}
	for n := 1; n < 200; n++ {
		text := bytes.Repeat([]byte("ab"), 100)
		note(fmt.Sprintf("cut at %d", n), text[:n], text[n:])
	}
	block := bytes.Repeat([]byte("0123456789abcdef"), 16)
	for i := 0; i < len(block); i += 8 {
		for j := i + 8; j < len(block); j += 8 {
			moved := bytes.Clone(block)
			copy(moved[i:], "exchange")
			copy(moved[j:], "swapped!")
			note(fmt.Sprintf("words at %d and %d", i, j), moved)
			copy(moved[j:], "exchange")
			copy(moved[i:], "swapped!")
			note(fmt.Sprintf("words at %d and %d, the other way round", i, j), moved)
		}
	}
}
