package bill

import "testing"

// taught returns an account that saw texts counted as the given multiples of our estimate, in turn.
func taught(times ...float64) Account {
	a := Account{Spent: 20_000, Cut: Size{Tokens: 10_000, Bytes: 36_000}}
	a.Scale.first(Size{Tokens: 2000, Bytes: 7200}, 2000)
	for i := range 40 {
		a.Scale.learn(Size{Tokens: 1000, Bytes: 3600 + 900*float64(i%3)}, 1000*times[i%len(times)])
	}
	return a
}

func TestLessIsSpentWherePredictionsAreFarOff(t *testing.T) {
	known, unknown := taught(1, 1.05, 0.95), taught(1, 1.6, 0.5)
	if got, want := known.Purse(0, 0), spendable*known.Saved(); got != want {
		t.Errorf("with predictions as good as usual %.0f may be spent, want %.0f", got, want)
	}
	if got, most := unknown.Purse(0, 0), 0.5*spendable*unknown.Saved(); got > most {
		t.Errorf("with predictions that are off by a half %.0f may be spent of %.0f, want %.0f at the most", got, unknown.Saved(), most)
	}
}
