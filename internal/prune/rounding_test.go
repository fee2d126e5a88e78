package prune

import (
	"math"
	"testing"
)

func TestLogarithmAndExponential(t *testing.T) {
	for x := 1e-6; x < 1e9; x *= 1.37 {
		if got, want := logOf(x), math.Log(x); math.Abs(got-want) > 1e-11*math.Max(1, math.Abs(want)) {
			t.Errorf("logOf(%v) = %v, want %v", x, got, want)
		}
		if got, want := expOf(-x), math.Exp(-x); math.Abs(got-want) > 1e-12*want+1e-300 {
			t.Errorf("expOf(%v) = %v, want %v", -x, got, want)
		}
	}
}
