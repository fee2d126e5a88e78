package access_test

import (
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"secateur/internal/access"
)

// An unsigned body never reaches its end, whether its reader waits for EOF or stops at the length.
func TestSignedBody(t *testing.T) {
	const text = "what was signed"
	good := sha256.Sum256([]byte(text))
	bad := sha256.Sum256([]byte("something else"))
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		want   []byte
		ok     bool
	}{
		"as it was":                         {strings.NewReader(text), int64(len(text)), good[:], true},
		"of unknown length":                 {strings.NewReader(text), -1, good[:], true},
		"byte by byte":                      {iotest.OneByteReader(strings.NewReader(text)), int64(len(text)), good[:], true},
		"with its end at once":              {iotest.DataErrReader(strings.NewReader(text)), -1, good[:], true},
		"another":                           {strings.NewReader(text), int64(len(text)), bad[:], false},
		"another, byte by byte":             {iotest.OneByteReader(strings.NewReader(text)), int64(len(text)), bad[:], false},
		"another of unknown length":         {strings.NewReader(text), -1, bad[:], false},
		"another, with its end at once":     {iotest.DataErrReader(strings.NewReader(text)), -1, bad[:], false},
		"one whose hash is none":            {strings.NewReader(text), int64(len(text)), nil, false},
		"one that is shorter than was said": {strings.NewReader(text[1:]), int64(len(text)), good[:], false},
	} {
		body := access.SignedBody(io.NopCloser(c.body), c.length, c.want)
		got, err := io.ReadAll(body)
		if c.ok && (err != nil || string(got) != text) || !c.ok && (!errors.Is(err, access.ErrBodyHash) || c.length >= 0 && string(got) == text) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if _, err := body.Read(make([]byte, 1)); !c.ok && !errors.Is(err, access.ErrBodyHash) {
			t.Errorf("%s: read again: %v", name, err)
		}
	}
	exact := make([]byte, len(text)) // a reader that knows the length does not wait for EOF
	if _, err := io.ReadFull(access.SignedBody(io.NopCloser(strings.NewReader(text)), int64(len(text)), bad[:]), exact); !errors.Is(err, access.ErrBodyHash) {
		t.Errorf("read to its length: %v", err)
	}
}
