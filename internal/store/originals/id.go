package originals

import (
	"crypto/sha256"
	"strings"
	"unsafe"
)

const (
	idPrefix = "prn_"
	idDigits = 26 // five bits each: the first 130 bits of the hash
	// Crockford's base32: no I, L, O or U, which look like others or form words.
	idAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// ID names a tenant's text in a store without a key. It is "prn_" and 26 digits of Crockford
// base32, of SHA-256 over the tenant's length, the tenant and the text. It depends on nothing else,
// so a text is always cut to the same bytes.
func ID(tenant, text string) string { return Key(nil).ID(tenant, text) }

func encodeID(sum [sha256.Size]byte) string {
	id := make([]byte, 0, len(idPrefix)+idDigits)
	id = append(id, idPrefix...)
	var pending uint
	var bits int
	for _, b := range sum {
		pending = pending<<8 | uint(b)
		for bits += 8; bits >= 5 && len(id) < cap(id); {
			bits -= 5
			id = append(id, idAlphabet[pending>>bits&31])
		}
		pending &= 1<<bits - 1
	}
	return string(id)
}

// NormalID returns an id in its canonical form, for ids typed in lower case. Other texts are
// returned unchanged.
func NormalID(id string) string {
	if len(id) != len(idPrefix)+idDigits || !strings.EqualFold(id[:len(idPrefix)], idPrefix) {
		return id
	}
	return idPrefix + strings.ToUpper(id[len(idPrefix):])
}

// isID reports whether s is a canonical id. Anything else names no original, and never becomes a
// path.
func isID(s string) bool {
	digits, ok := strings.CutPrefix(s, idPrefix)
	if !ok || len(digits) != idDigits {
		return false
	}
	for i := range len(digits) {
		if strings.IndexByte(idAlphabet, digits[i]) < 0 {
			return false
		}
	}
	return true
}

// bytesOf returns a string's bytes without copying, for reading only. Texts can be megabytes, and
// hashing or compressing one should not copy it.
func bytesOf(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s)) //nolint:gosec // read-only, s outlives it
}

// stringOf turns bytes into a string without copying. The caller must not use them again.
func stringOf(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // b has no other owner
}
