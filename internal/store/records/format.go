package records

import (
	"encoding/binary"
	"hash/crc32"
)

// A file is a magic number (4 bytes), a checksum of the rest, the key's length, the key, the value.
const (
	magic      = "srk1"
	headerSize = len(magic) + 4 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func seal(key string, value []byte) []byte {
	b := make([]byte, 0, headerSize+len(key)+len(value))
	b = append(b, magic...)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(key))) //nolint:gosec // keys are short
	b = append(b, key...)
	b = append(b, value...)
	binary.LittleEndian.PutUint32(b[len(magic):], crc32.Checksum(b[len(magic)+4:], castagnoli))
	return b
}

// open returns the value of a file if it is undamaged and belongs to this key.
func open(b []byte, key string) ([]byte, bool) {
	if len(b) < headerSize+len(key) || string(b[:len(magic)]) != magic {
		return nil, false
	}
	rest := b[len(magic)+4:]
	if binary.LittleEndian.Uint32(b[len(magic):]) != crc32.Checksum(rest, castagnoli) {
		return nil, false
	}
	if int64(binary.LittleEndian.Uint32(rest)) != int64(len(key)) || string(rest[4:4+len(key)]) != key {
		return nil, false
	}
	return rest[4+len(key):], true
}
