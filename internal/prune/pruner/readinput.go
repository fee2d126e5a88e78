package pruner

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"secateur/internal/prune"
)

// errNotText means that an input is not text.
var errNotText = errors.New("not a text (binary): nothing to prune")

// maxUnpacked limits the unpacked size of an input.
const maxUnpacked = 1 << 30

// readInput reads an input as text. It unpacks gzip, converts UTF-16 to UTF-8 and refuses binary
// data. note says what was converted; "": nothing.
func readInput(from io.Reader) (text, note string, err error) {
	raw, err := io.ReadAll(from)
	if err != nil {
		return "", "", err
	}
	if bytes.HasPrefix(raw, []byte{0x1f, 0x8b}) {
		if raw, err = unpack(raw, maxUnpacked); err != nil {
			return "", "", err
		}
		note = "unpacked from gzip"
	}
	if order, at := wideOrder(raw); order != nil {
		if note != "" {
			note += ", "
		}
		return decodeUTF16(raw[at:], order), note + "read as UTF-16", nil
	}
	text = string(raw)
	if prune.IsBinary(text) {
		return "", "", errNotText
	}
	return text, note, nil
}

// unpack decompresses gzip, up to most bytes.
func unpack(raw []byte, most int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(most)+1))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if len(out) > most {
		return nil, fmt.Errorf("gzip: unpacks to more than %d bytes", most)
	}
	return out, nil
}

// wideOrder recognizes UTF-16 by its byte order mark, or by the zero bytes of plain letters. It
// returns how to combine two bytes, and where the text begins; nil: not UTF-16.
func wideOrder(raw []byte) (order func(a, b byte) uint16, at int) {
	little := func(a, b byte) uint16 { return uint16(a) | uint16(b)<<8 }
	big := func(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		return little, 2
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		return big, 2
	}
	head := raw[:min(len(raw), 4096)&^1]
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i%2]++
		}
	}
	half := len(head) / 2
	switch {
	case half < 8:
	case zeros[1] > half*3/4 && zeros[0] < half/10:
		return little, 0
	case zeros[0] > half*3/4 && zeros[1] < half/10:
		return big, 0
	}
	return nil, 0
}

func decodeUTF16(raw []byte, order func(a, b byte) uint16) string {
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, order(raw[i], raw[i+1]))
	}
	out := make([]byte, 0, len(raw))
	for _, r := range utf16.Decode(units) {
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
