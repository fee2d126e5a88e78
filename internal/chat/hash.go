package chat

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// Key names a conversation up to one of its messages by all that stands in it.
// Equal beginnings have equal keys on every machine.
type Key [16]byte

// String is the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// digest hashes what is written to it into 128 bits. Every request is hashed
// whole, so it has to run at the speed of reading memory, which the hashes for
// cryptography do not. Nothing needs their strength: keys are looked up within
// one tenant, and what is found is only ever used to leave messages as they were
// sent before.
type digest struct{ a, b uint64 }

// Odd constants with about as many ones as zeros.
const (
	mixA = 0x9e6c63d0876a9a35
	mixB = 0xd1b54a32d192ed03
)

func newDigest() digest { return digest{a: mixB, b: mixA} }

// fold multiplies into 128 bits and folds the halves onto each other.
func fold(x, k uint64) uint64 {
	hi, lo := bits.Mul64(x, k)
	return hi ^ lo
}

// step takes two words in. Each half of the state sees both of them.
func (d digest) step(x, y uint64) digest {
	return digest{fold(d.a^x, mixA) ^ bits.RotateLeft64(y, 23), fold(d.b^y, mixB) ^ bits.RotateLeft64(x, 41)}
}

// words takes in the first sixteen bytes.
func (d digest) words(p []byte) digest {
	return d.step(binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]))
}

// write takes one item in, with its length, so that items do not run together.
func (d *digest) write(p []byte) {
	e := d.step(uint64(len(p)), mixB)
	if len(p) >= 64 {
		// Every step waits for the one before it; of two that do not know of each
		// other the processor does one while the other waits.
		other := digest{e.b, e.a}
		for len(p) >= 32 {
			e, other = e.words(p), other.words(p[16:])
			p = p[32:]
		}
		e = e.step(other.a, other.b)
	}
	for len(p) >= 16 {
		e = e.words(p)
		p = p[16:]
	}
	if len(p) > 0 {
		var last [16]byte
		copy(last[:], p)
		e = e.words(last[:])
	}
	*d = e
}

// take takes in what another digest came to.
func (d *digest) take(other digest) { *d = d.step(other.a, other.b) }

// sum is the hash of all that was written. The last words are stirred until every
// bit of them has reached every bit of the result.
func (d *digest) sum() Key {
	e := *d
	for range 3 {
		e = e.step(mixA, mixB)
		e.a, e.b = e.a+e.b, e.b^bits.RotateLeft64(e.a, 32)
	}
	var k Key
	binary.LittleEndian.PutUint64(k[:], e.a)
	binary.LittleEndian.PutUint64(k[8:], e.b)
	return k
}
