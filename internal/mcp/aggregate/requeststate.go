package aggregate

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"secateur/internal/ops/replica"
	"secateur/internal/rawjson"
)

// requestState of MRTR: what a client that is asked for input gets and brings back. It is encrypted (AES-GCM), names
// the parked call, and is bound to the principal and to the request it was made for. Before it stands which replica holds the call, which is a part of what is bound:
// the others forward the retry to it.

// sealer makes what we hand to clients and want back unchanged. Its key lives as long as the program: so do the calls
// that the sealed texts speak of.
type sealer struct {
	aead    cipher.AEAD
	replica replica.ID // that opens what this one has closed
}

func newSealer(replica replica.ID) (sealer, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("seal: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("seal: %w", err)
	}
	return sealer{aead, replica}, nil
}

// state is what a client that is asked for input brings back.
type state struct {
	kind   byte
	round  byte
	call   callID
	digest digest // of the request that it belongs to
}

// The kinds of state.
const (
	stateParked byte = iota + 1 // the call waits
	stateAgain                  // the call is to be made again
)

type (
	callID [16]byte
	digest [32]byte
)

const stateSize = 2 + len(callID{}) + len(digest{})

// close seals a state for the principal of this key.
func (s sealer) close(st state, principal string) string {
	b := make([]byte, 0, stateSize)
	b = append(b, st.kind, st.round)
	b = append(append(b, st.call[:]...), st.digest[:]...)
	sealed := s.aead.Seal(s.replica[:], nil, b, s.boundTo(principal)) //nolint:gosec // G407: this AEAD makes its own nonces
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// boundTo is what a sealed text is good for.
func (s sealer) boundTo(principal string) []byte {
	return append(s.replica[:len(s.replica):len(s.replica)], principal...)
}

// replicaOf tells which replica has closed a text, if anyone has.
func replicaOf(text string) (id replica.ID) {
	if b, err := base64.RawURLEncoding.DecodeString(text); err == nil && len(b) > len(id) {
		copy(id[:], b)
	}
	return id
}

var errNotOurs = errors.New("not a state of ours")

// open is the way back. What anybody else made, or was made for somebody else, is refused.
func (s sealer) open(text, principal string) (st state, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return state{}, errNotOurs
	}
	sealed, ours := bytes.CutPrefix(sealed, s.replica[:])
	if !ours {
		return state{}, errNotOurs
	}
	b, err := s.aead.Open(nil, nil, sealed, s.boundTo(principal))
	if err != nil || len(b) != stateSize {
		return state{}, errNotOurs
	}
	st.kind, st.round = b[0], b[1]
	copy(st.call[:], b[2:])
	copy(st.digest[:], b[2+len(st.call):])
	return st, nil
}

// fingerprint is what a request and its repetition have in common.
func (e *proxiedCall) fingerprint() (d digest) {
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
