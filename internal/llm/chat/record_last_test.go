package chat

import (
	"encoding/binary"
	"math"
	"testing"

	"secateur/internal/llm/bill"
)

// Records outlive the program: those of the previous release lead to the same sent form.
func TestARecordOfTheFormBeforeIsRead(t *testing.T) {
	b := []byte{lastRecordVersion}
	b = binary.AppendUvarint(b, 9) // messages
	b = binary.AppendUvarint(b, 7) // cached
	b = binary.AppendVarint(b, 1234)
	b = append(b, flagJudged)
	for i := range 25 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(i+1)))
	}
	b = binary.AppendUvarint(b, 6) // counted pieces
	b = binary.AppendUvarint(b, 1) // cuts
	b = append(binary.AppendUvarint(b, 4), byte(Pruned))
	for i := range 3 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(100*(i+1))))
	}
	b = append(binary.AppendUvarint(b, 5), "prn_A"...)
	var r Record
	if err := r.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if r.Messages != 9 || r.Cached != 7 || r.Time != 1234 || !r.Judged || r.Off || r.Bill != (Bill{1, 2}) {
		t.Errorf("%+v", r)
	}
	a := r.Account
	if a.Spent != 3 || a.Kept != 4 || a.Cut.Signs != 7 || a.Owed != 8 || a.Claimed != 9 || a.Last.Input != 10 || a.Last.Pieces != 6 || a.Scale.Guess != (bill.Weights{Tokens: 14, Digits: 15, Signs: 16}) {
		t.Errorf("%+v", a)
	}
	want := Sent{Message: 4, Kind: Pruned, ID: "prn_A", Removed: bill.Size{Tokens: 100, Digits: 200, Signs: 300, Bytes: 360}}
	if len(r.Cuts) != 1 || r.Cuts[0] != want {
		t.Errorf("cuts %+v, want %+v", r.Cuts, want)
	}
}

// Earlier formats end sooner.
func TestARecordOfAnEarlierFormEndsSooner(t *testing.T) {
	want := Record{
		Messages: 9, Cuts: []Sent{{Message: 4, Kind: Pruned, ID: "prn_A", Removed: bill.Size{Tokens: 7, Pairs: 5}}},
		Account: bill.Account{Spent: 3, Grain: 64, Cut: bill.Size{Pairs: 6}},
	}
	b, err := want.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got Record
	if err := got.UnmarshalBinary(b); err != nil || got.Account.Cut.Pairs != 6 || got.Cuts[0].Removed.Pairs != 5 {
		t.Errorf("%+v, %v", got, err)
	}
	pairs := len(want.Account.AppendPairs(nil)) + 8*len(want.Cuts)
	for _, c := range []struct {
		version byte
		without int
		grain   float64
	}{{grainRecordVersion, pairs, 64}, {plainRecordVersion, pairs + 8, 0}} {
		b[0] = c.version
		if err := got.UnmarshalBinary(b); err == nil {
			t.Errorf("version %d: a record with something behind it was read", c.version)
		}
		if err := got.UnmarshalBinary(b[:len(b)-c.without]); err != nil || got.Account.Grain != c.grain || got.Account.Spent != 3 || len(got.Cuts) != 1 || got.Cuts[0].Removed.Tokens != 7 || got.Cuts[0].Removed.Pairs != 0 {
			t.Errorf("version %d: %+v, %v", c.version, got, err)
		}
	}
}
