package aggregate

import (
	"crypto/sha256"
	"encoding/binary"

	"secateur/internal/rawjson"
	"secateur/internal/rpc"
)

// fingerprint is what a request and its repetition have in common.
func (e *errand) fingerprint() (d digest) {
	h := sha256.New()
	for _, part := range [][]byte{
		[]byte(e.a.Method), []byte(e.d.server),
		member(e.d.params, "name"), member(e.d.params, "uri"), member(e.d.params, "arguments"),
	} {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		_, _ = h.Write(part)
	}
	h.Sum(d[:0])
	return d
}

// elements are those of an array that has been checked; what is none has none.
func elements(array []byte) (found [][]byte) {
	if len(array) == 0 || array[0] != '[' {
		return nil
	}
	rest := rawjson.Trim(array[1 : len(array)-1])
	for len(rest) > 0 {
		s := rawjson.NewScanner(rest, rpc.MaxResultDepth)
		value, err := s.Skip()
		if err != nil {
			return found
		}
		found = append(found, value)
		rest = rawjson.Trim(rest[s.Pos():])
		if len(rest) > 0 && rest[0] == ',' {
			rest = rawjson.Trim(rest[1:])
		}
	}
	return found
}
