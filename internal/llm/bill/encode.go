package bill

import (
	"encoding/binary"
	"math"
)

// AppendBinary appends a compact encoding of the account, for a record that outlives the process.
// It never fails.
func (a Account) AppendBinary(dst []byte) ([]byte, error) {
	for _, f := range a.floats() {
		dst = appendFloat(dst, *f)
	}
	dst = binary.AppendUvarint(dst, uint64(a.Last.Pieces)) //nolint:gosec // a count
	dst = binary.AppendUvarint(dst, uint64(len(a.Entries)))
	last := 0
	for _, e := range a.Entries {
		step := uint64(e.Pieces-last) << 1 //nolint:gosec // entries are sorted by pieces
		if e.Hour {
			step |= 1
		}
		dst, last = appendFloat(binary.AppendUvarint(dst, step), e.At), e.Pieces
	}
	return dst, nil
}

// Decode reads an account that AppendBinary wrote and returns the remaining bytes. ok is false if
// the bytes hold no account.
func (a *Account) Decode(b []byte) (rest []byte, ok bool) {
	var out Account
	d := decoder{b: b}
	for _, f := range out.floats() {
		*f = d.float()
	}
	out.Last.Pieces = d.count(math.MaxInt32)
	n, last := d.count(maxEntries), 0
	for range n {
		step := d.count(math.MaxInt32)
		last += step >> 1
		out.Entries = append(out.Entries, Entry{Pieces: last, Hour: step&1 != 0, At: d.float()})
	}
	if d.bad || last > math.MaxInt32 {
		return nil, false
	}
	*a = out
	return d.b, true
}

// floats returns pointers to the account's numbers, except those for pairs, in encoding order. It
// returns an array because a slice would allocate with every record.
func (a *Account) floats() [38]*float64 {
	cut, removed, guess := &a.Cut, &a.Last.Removed, &a.Scale.Guess
	products, counted := &a.Scale.Products, &a.Scale.Counted
	return [...]*float64{
		&a.Spent, &a.Kept, &a.Owed, &a.Claimed, &a.Last.Input,
		&cut.Tokens, &cut.Digits, &cut.Signs, &cut.Others, &cut.Bytes,
		&removed.Tokens, &removed.Digits, &removed.Signs, &removed.Others, &removed.Bytes,
		&guess.Tokens, &guess.Digits, &guess.Signs, &guess.Others, &guess.Bytes,
		&products[0], &products[1], &products[2], &products[3], &products[6],
		&products[7], &products[8], &products[11], &products[12], &products[15],
		&counted[0], &counted[1], &counted[2], &counted[3],
		&a.Scale.Bytes, &a.Scale.BytesCounted, &a.Scale.Missed, &a.Scale.MissedByLength,
	}
}

// AppendPairs appends the numbers for pairs. AppendBinary leaves them out to keep the format of
// older records.
func (a Account) AppendPairs(dst []byte) []byte {
	for _, f := range a.pairs() {
		dst = appendFloat(dst, *f)
	}
	return dst
}

// DecodePairs reads what AppendPairs wrote. Its results are those of Decode.
func (a *Account) DecodePairs(b []byte) (rest []byte, ok bool) {
	d := decoder{b: b}
	for _, f := range a.pairs() {
		*f = d.float()
	}
	return d.b, !d.bad
}

func (a *Account) pairs() [17]*float64 {
	products, counted := &a.Scale.Products, &a.Scale.Counted
	return [...]*float64{
		&a.Cut.Pairs, &a.Last.Removed.Pairs, &a.Scale.Guess.Pairs, &a.Scale.Guess.Pieces,
		&products[4], &products[5], &products[9], &products[10], &products[13], &products[14],
		&products[16], &products[17], &products[18], &products[19], &products[20], &counted[4], &counted[5],
	}
}

// AppendBinary appends the size as numbers, without its pairs. It never fails.
func (s Size) AppendBinary(dst []byte) ([]byte, error) {
	for _, f := range s.floats() {
		dst = appendFloat(dst, *f)
	}
	return dst, nil
}

// Decode reads a size that AppendBinary wrote and returns the remaining bytes.
func (s *Size) Decode(b []byte) (rest []byte, ok bool) {
	d := decoder{b: b}
	var out Size
	for _, f := range out.floats() {
		*f = d.float()
	}
	if d.bad {
		return nil, false
	}
	*s = out
	return d.b, true
}

func (s *Size) floats() [5]*float64 {
	return [5]*float64{&s.Tokens, &s.Digits, &s.Signs, &s.Others, &s.Bytes}
}

func (w *Weights) floats() [7]*float64 {
	return [7]*float64{&w.Tokens, &w.Digits, &w.Signs, &w.Others, &w.Bytes, &w.Pairs, &w.Pieces}
}

// AppendBinary appends the learned values as numbers. It never fails.
func (l Learned) AppendBinary(dst []byte) ([]byte, error) {
	dst = appendFloat(appendFloat(dst, l.Warm), l.Cold)
	for _, f := range l.Weights.floats() {
		dst = appendFloat(dst, *f)
	}
	return dst, nil
}

// UnmarshalBinary reads what AppendBinary wrote. Invalid bytes give the zero value.
func (l *Learned) UnmarshalBinary(b []byte) error {
	d := decoder{b: b}
	out := Learned{Warm: d.float(), Cold: d.float()}
	for _, f := range out.Weights.floats() {
		if f == &out.Weights.Pairs && len(d.b) == 0 {
			break // the record predates pairs
		}
		*f = d.float()
	}
	if d.bad || len(d.b) > 0 {
		out = Learned{}
	}
	*l = out
	return nil
}

func appendFloat(dst []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}

// decoder reads numbers from the front. After the first missing number it stays bad.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) float() float64 {
	if d.bad || len(d.b) < 8 {
		d.bad = true
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	d.bad = math.IsNaN(f) || math.IsInf(f, 0)
	return f
}

func (d *decoder) count(most int) int {
	v, n := binary.Uvarint(d.b)
	if d.bad || n <= 0 || v > uint64(most) { //nolint:gosec // most is a length
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return int(v) //nolint:gosec // bounded above
}
