package wire_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/mcp/wire"
)

func TestSame(t *testing.T) {
	huge := strings.Repeat("9", 40)
	for _, c := range []struct {
		rule, a, b string
		same       bool
	}{
		{"equal texts", `1`, `1`, true},
		{"a fraction of zero", `1`, `1.0`, true},
		{"an exponent", `1000`, `1e3`, true},
		{"an exponent in capitals with a sign", `1000`, `1E+3`, true},
		{"a fraction and an exponent", `1500`, `1.5e3`, true},
		{"a negative exponent", `0.015`, `15e-3`, true},
		{"zeros in the exponent", `1e3`, `1e0003`, true},
		{"minus zero", `0`, `-0`, true},
		{"zero with an exponent", `0`, `0.00e999`, true},
		{"different numbers", `1`, `2`, false},
		{"different signs", `1`, `-1`, false},
		{"beyond float64", `12345678901234567890`, `12345678901234567891`, false},
		{"beyond float64, equal", `12345678901234567890`, `1234567890123456789e1`, true},
		{"a number and a string", `1`, `"1"`, false},
		{"an escape", `"a"`, `"\u0061"`, true},
		{"an escaped pair", `"😀"`, `"\ud83d\ude00"`, true},
		{"different strings", `"a"`, `"b"`, false},
		{"strings that differ in case", `"a"`, `"A"`, false},
		{"different lone surrogates", `"\ud800"`, `"\ud801"`, false},
		{"a lone surrogate and U+FFFD", `"\ud800"`, `"�"`, false},
		{"the empty string and zero", `""`, `0`, false},
		{"huge exponents", `1e999999999`, `10e999999998`, true},
		{"huge exponents that differ", `1e999999999`, `1e999999998`, false},
		{"exponents of many digits", `1e` + huge, `10e` + huge[:39] + `8`, true},
		{"a carry through an exponent", `10e` + huge, `1e1` + strings.Repeat("0", 40), true},
		{"a borrow through an exponent", `1e-` + huge, `0.1e-` + huge[:39] + `8`, true},
		{"huge exponents of different signs", `1e` + huge, `1e-` + huge, false},
		{"exponents about the size of an int64", `1e1000000000000000000`, `10e999999999999999999`, true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a, b := wire.IDOf([]byte(c.a)), wire.IDOf([]byte(c.b))
			if a.Same(b) != c.same || b.Same(a) != c.same {
				t.Errorf("%s Same %s = %t, %t, want %t (keys %s, %s)", c.a, c.b, a.Same(b), b.Same(a), c.same, a.Key(), b.Key())
			}
			if !a.Same(a) || !b.Same(b) {
				t.Error("not the same as itself")
			}
		})
	}
}

func TestSameAgreesWithRationals(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"", "-"}).Draw(t, "sign")
		text += rapid.StringMatching(`0|[1-9][0-9]{0,4}`).Draw(t, "whole")
		if rapid.Bool().Draw(t, "has fraction") {
			text += "." + rapid.StringMatching(`[0-9]{1,4}`).Draw(t, "fraction")
		}
		if rapid.Bool().Draw(t, "has exponent") {
			text += rapid.StringMatching(`[eE][+-]?0?[0-9]`).Draw(t, "exponent")
		}
		return text
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		if rapid.Bool().Draw(t, "related") {
			b = a + "e0"
			if strings.ContainsAny(a, "eE") {
				b = a
			}
		}
		ra, okA := new(big.Rat).SetString(a)
		rb, okB := new(big.Rat).SetString(b)
		if !okA || !okB {
			t.Fatalf("big.Rat does not read %s or %s", a, b)
		}
		if got, want := wire.IDOf([]byte(a)).Same(wire.IDOf([]byte(b))), ra.Cmp(rb) == 0; got != want {
			t.Errorf("%s Same %s = %t, want %t", a, b, got, want)
		}
	})
}

func TestID(t *testing.T) {
	var zero wire.ID
	if !zero.IsZero() || zero.String() != "null" || zero.Same(wire.NumberID(0)) || !zero.Same(wire.ID{}) {
		t.Error("the zero ID is an id")
	}
	for _, c := range []struct {
		id   wire.ID
		text string
	}{
		{wire.NumberID(-7), `-7`},
		{wire.StringID("a\"\n\xed\xa0\x80"), `"a\"\n\ud800"`},
		{wire.IDOf([]byte(`1.50e3`)), `1.50e3`},
		{wire.IDOf([]byte(`null`)), `null`},
		{wire.IDOf([]byte(`true`)), `null`},
		{wire.IDOf([]byte(`{}`)), `null`},
		{wire.IDOf(nil), `null`},
	} {
		if got := c.id.String(); got != c.text {
			t.Errorf("String() = %s, want %s", got, c.text)
		}
		if got := string(c.id.Append([]byte("x"))); got != "x"+c.text {
			t.Errorf("Append() = %s, want x%s", got, c.text)
		}
	}
	if fmt.Sprint(wire.NumberID(3)) != "3" {
		t.Error("an ID does not print as its text")
	}
}
