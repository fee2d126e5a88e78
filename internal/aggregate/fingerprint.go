package aggregate

import (
	"crypto/sha256"
	"encoding/binary"

	"secateur/internal/rawjson"
)

// fingerprint is what a request and its repetition have in common.
func (e *errand) fingerprint() (d digest) {
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte(e.a.Method), []byte(e.d.server),
		rawjson.Get(e.d.params, "name"), rawjson.Get(e.d.params, "uri"), rawjson.Get(e.d.params, "arguments"),
	} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		_, _ = h.Write(part)
	}
	h.Sum(d[:0])
	return d
}
