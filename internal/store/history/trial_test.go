package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// simulated plays conversations of one arm. A request costs usd on average; conversations differ in
// length and in price.
func simulated(r *rand.Rand, arm string, conversations int, usd float64) (all *sums) {
	for range conversations {
		id, requests, price := fmt.Sprint(r.Uint64()), 1+int(3*math.Exp(r.NormFloat64())), usd*(0.4+1.2*r.Float64())
		for k := range requests {
			all = all.add(Trial{Arm: arm, Conversation: id, First: k == 0, Paid: price}.sums())
		}
	}
	return all
}

func TestTheIntervalOfAHoldoutHoldsTheTruth(t *testing.T) {
	const trials, least, saves = 60, 52, 0.01
	in, chance := 0, 0
	for i := range trials {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		cut, held := simulated(r, armCut, 50, 0.02), simulated(r, armHeld, 25, 0.02+saves)
		h := holdout(cut, held, 24*time.Hour)
		if truth := saves * float64(cut.Requests[0]); h.Enough && h.SavedUSD.Low <= truth && truth <= h.SavedUSD.High {
			in++
		}
		same := holdout(cut, simulated(r, armHeld, 25, 0.02), 24*time.Hour)
		if same.SavedUSD.Low <= 0 && 0 <= same.SavedUSD.High {
			chance++
		}
	}
	if in < least || chance < least {
		t.Errorf("the truth lies in %d of %d intervals, no difference in %d of %d; want about 95 %%", in, trials, chance, trials)
	}
}

func TestAHoldoutSurvivesARestartAndNeedsBothArms(t *testing.T) {
	dir := t.TempDir()
	h, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	play := func(h *History, arm string, conversations int) {
		for i := range conversations {
			for k := range 3 {
				h.Trial(Trial{Arm: arm, Conversation: fmt.Sprint(arm, i), First: k == 0, Paid: 0.5})
			}
		}
	}
	play(h, armCut, 30)
	if s, err := h.Query(Query{}); err != nil || s.Holdout != nil || s.SpentUSD != 0 || len(s.Items) > 0 {
		t.Errorf("one arm alone gives %+v, %v", s, err)
	}
	play(h, armHeld, 19)
	if s, _ := h.Query(Query{By: ByModel}); s.Holdout == nil || s.Holdout.Enough || s.Holdout.Held != 19 || len(s.Items) > 0 {
		t.Errorf("with 19 held conversations: %+v, items %v", s.Holdout, s.Items)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	play(again, armHeld, 1)
	s, err := again.Query(Query{Since: time.Hour})
	if err != nil || s.Holdout == nil || !s.Holdout.Enough {
		t.Fatalf("after a restart: %+v, %v", s.Holdout, err)
	}
	want := Holdout{Conversations: 30, Held: 20, RequestUSD: 0.5, HeldUSD: 0.5, Requests: 3, HeldRequests: 3, Enough: true}
	if *s.Holdout != want {
		t.Errorf("after a restart %+v, want %+v", *s.Holdout, want)
	}
}
