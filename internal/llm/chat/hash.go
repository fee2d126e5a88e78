package chat

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
)

// Key identifies a conversation up to one of its messages by its contents. Equal beginnings have
// equal keys on every machine.
type Key [16]byte

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// digest is a 128-bit hash. Every request is hashed whole, so it must run at memory speed, which
// cryptographic hashes do not. Their strength is not needed: keys are looked up within one tenant,
// and a hit only leaves messages as they were sent before.
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

// step adds two words. Each half of the state sees both of them.
func (d digest) step(x, y uint64) digest {
	return digest{fold(d.a^x, mixA) ^ bits.RotateLeft64(y, 23), fold(d.b^y, mixB) ^ bits.RotateLeft64(x, 41)}
}

// words adds sixteen bytes.
func (d digest) words(p []byte) digest { return d.step(word(p), word(p[8:])) }

func word(p []byte) uint64 { return binary.LittleEndian.Uint64(p) }

// write adds one item with its length, so that items do not run together.
func (d *digest) write(p []byte) {
	e := d.step(uint64(len(p)), mixB)
	if len(p) >= blockLength {
		e, p = e.blocks(p)
	}
	for ; len(p) > 16; p = p[16:] {
		e = e.words(p)
	}
	// Some of the last bytes may be read twice, which is faster than padding.
	switch n := len(p); {
	case n >= 8:
		e = e.step(word(p), word(p[n-8:]))
	case n >= 4:
		e = e.step(uint64(binary.LittleEndian.Uint32(p)), uint64(binary.LittleEndian.Uint32(p[n-4:])))
	case n > 0:
		e = e.step(uint64(p[0])<<8|uint64(p[n/2]), uint64(p[n-1]))
	}
	*d = e
}

const blockLength = 64

// blocks adds all whole blocks and returns the rest. Each multiplication waits for its predecessor,
// so four independent chains keep the processor busy. Each takes two words, which also reach
// another chain.
func (d digest) blocks(p []byte) (digest, []byte) {
	a, b, e, f := d.a, d.b, d.b^mixA, d.a^mixB
	for ; len(p) >= blockLength; p = p[blockLength:] {
		q := p[:blockLength:blockLength]
		x, y, z, w := word(q), word(q[8:]), word(q[16:]), word(q[24:])
		a, b = fold(a^x, mixA^y)^(z+w), fold(b^z, mixB^w)^(x+y)
		x, y, z, w = word(q[32:]), word(q[40:]), word(q[48:]), word(q[56:])
		e, f = fold(e^x, mixA^y)^(z+w), fold(f^z, mixB^w)^(x+y)
	}
	return digest{a, b}.step(e, f), p
}

// take adds the state of another digest.
func (d *digest) take(other digest) { *d = d.step(other.a, other.b) }

// sum returns the hash of everything written. It mixes the last words until every bit of them has
// reached every bit of the result.
func (d digest) sum() Key {
	e := d
	for range 3 {
		e = e.step(mixA, mixB)
		e.a, e.b = e.a+e.b, e.b^bits.RotateLeft64(e.a, 32)
	}
	var k Key
	binary.LittleEndian.PutUint64(k[:], e.a)
	binary.LittleEndian.PutUint64(k[8:], e.b)
	return k
}
