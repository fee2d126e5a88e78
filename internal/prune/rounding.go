package prune

import "math"

// The same request gives the same plan on every machine. A processor with fused multiply-add would
// change the last bit of a result; a conversion around each product prevents that. The library's
// logarithm and exponential also differ, so they are computed here.

// fastLog approximates the natural logarithm of a number of at least 1.
func fastLog(x float32) float32 {
	b := math.Float32bits(x)
	e := float32(int32(b>>23) - 127)
	f := math.Float32frombits(b&0x7fffff|0x3f800000) - 1
	slope := 1.3465 - float32(.3465*f)
	return float32((e + float32(f*slope)) * math.Ln2)
}

// logOf returns the natural logarithm of a positive number, by the series of the inverse hyperbolic
// tangent.
func logOf(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	s := (fraction - 1) / (fraction + 1)
	z := float64(s * s)
	sum := 0.0
	for n := 27.0; n >= 1; n -= 2 {
		sum = float64(sum*z) + 1/n
	}
	return float64(float64(exponent)*math.Ln2) + float64(2*float64(s*sum))
}

// expOf returns the exponential of a number that is not positive.
func expOf(x float64) float64 {
	const least = -700
	if x < least {
		return 0
	}
	whole := math.Floor(float64(x / math.Ln2))
	rest := x - float64(whole*math.Ln2) // from 0 to the logarithm of 2
	sum := 0.0
	for _, c := range expSeries {
		sum = float64(sum*rest) + c
	}
	// Add the power of two directly to the exponent bits; least keeps them in range.
	return math.Float64frombits(math.Float64bits(sum) + uint64(int64(whole))<<52) //nolint:gosec // wrapping is intended
}

// expSeries is the Taylor series of the exponential, highest power first, as far as it matters
// below the logarithm of 2.
var expSeries = [...]float64{
	1. / 87178291200, 1. / 6227020800, 1. / 479001600, 1. / 39916800, 1. / 3628800, 1. / 362880,
	1. / 40320, 1. / 5040, 1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1,
}
