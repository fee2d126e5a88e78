package bill

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A provider that caches in blocks would have cached a different number of blocks of the whole
// prompt.
func TestWhatTheWholeHasInBlocksIsCountedInBlocks(t *testing.T) {
	terms := Terms{Rates: Rates{Read: 0.1, Write: 1.25, Hour: 1.25}}
	for _, block := range []float64{1, Block} {
		var a Account
		random := rand.New(rand.NewPCG(3, 3))
		out := Size{Tokens: 460, Bytes: 1656}
		// The true savings, and the previous size of each prompt.
		truth, sent, whole := 0.0, 0.0, 0.0
		inBlocks := func(n float64) float64 { return math.Floor(n/block) * block }
		pieces := []Piece{{Size: Size{Tokens: 5000, Bytes: 18000}}}
		for i := range 60 {
			pieces = append(pieces, Piece{Size: Size{Tokens: float64(100 + random.IntN(200)), Bytes: 600}, Result: true})
			if i == 3 {
				pieces[len(pieces)-1].Removed = out
			}
			total := sizeOf(pieces).Tokens
			before := len(pieces) - 1
			if i == 0 {
				before = 0
			}
			u := Usage{Input: total, Cached: inBlocks(sent), Told: true}
			a = a.Settle(terms, Request{Pieces: append([]Piece(nil), pieces...), Sent: before, Same: before, Likely: before}, u)
			paid := terms.Cost(Prompt{Total: total, Cached: inBlocks(sent)})
			through := terms.Cost(Prompt{Total: total + removed(pieces).Tokens, Cached: inBlocks(whole)})
			truth += through - paid
			sent, whole = total, total+removed(pieces).Tokens
			if off := math.Abs(a.Saved() - truth); off > max(64, 2*block) {
				t.Fatalf("blocks of %v, request %d: %.0f were saved, the account says %.0f", block, i, truth, a.Saved())
			}
		}
	}
}

func TestInBlocks(t *testing.T) {
	for _, c := range []struct{ tokens, off, want float64 }{
		{1300, 0, 1280}, {1280, 0, 1280}, {1279.9, 0, 1152}, {1280, 64, 1216}, {1344, 10, 1280}, {5000, 1280, 5000 - 64},
	} {
		if got := inBlocks(c.tokens, c.off, 128); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("inBlocks(%v, %v) = %v, want %v", c.tokens, c.off, got, c.want)
		}
	}
}

// A masked result was counted before, so the prompt's shrinkage shows how much masking removed.
func TestWhatIsMaskedIsCountedAgain(t *testing.T) {
	terms := Terms{Rates: Rates{Read: 0.1, Write: 1.25, Hour: 1.25}}
	whole := []Piece{{Size: Size{Tokens: 2000, Bytes: 7200}}, {Size: Size{Tokens: 3000, Bytes: 10800}, Result: true}, {Size: Size{Tokens: 500, Bytes: 1800}}}
	var a Account
	// the result has 900 tokens more than we estimate
	a = a.Settle(terms, Request{Pieces: whole}, Usage{Input: 6400, Told: true})
	masked := append([]Piece(nil), whole...)
	masked[1] = Piece{Size: Size{Tokens: 50, Bytes: 180}, Removed: Size{Tokens: 2950, Bytes: 10620}, Result: true}
	masked = append(masked, Piece{Size: Size{Tokens: 100, Bytes: 360}})
	req := Request{Pieces: masked, Sent: 3, Same: 1, Likely: 3}
	got := a.Recount(req, Usage{Input: 6400 - 3850 + 100, Cached: 1920, Told: true})
	if n := a.Scale.Count(got.Pieces[1].Removed); math.Abs(n-3850) > 40 {
		t.Errorf("%.0f were taken out, want 3850", n)
	}
	if masked[1].Removed.Tokens != 2950 {
		t.Error("the request itself was changed")
	}
	for what, u := range map[string]Usage{"the prompt has grown": {Input: 9000}, "most of it is gone": {Input: 20}} {
		if n := a.Recount(req, u).Pieces[1].Removed; n != masked[1].Removed {
			t.Errorf("%s, and %v were taken out", what, n)
		}
	}
}
