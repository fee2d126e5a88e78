package bill

import (
	"math"
	"testing"
)

func TestRates(t *testing.T) {
	for name, c := range map[string]struct {
		prices Prices
		want   Rates
	}{
		"unknown":            {Prices{}, Rates{}},
		"no cache":           {Prices{Input: 3}, Rates{1, 1}},
		"a cached price":     {Prices{Input: 4, CachedInput: new(1.0)}, Rates{0.25, 1}},
		"a price of writing": {Prices{Input: 4, CachedInput: new(0.4), CacheWrite: new(5.0)}, Rates{0.1, 1.25}},
		"cached for nothing": {Prices{Input: 4, CachedInput: new(0.0)}, Rates{0, 1}},
	} {
		if got := c.prices.Rates(); got != c.want {
			t.Errorf("%s: Rates = %v, want %v", name, got, c.want)
		}
	}
}

func TestValidateNamesEveryMistake(t *testing.T) {
	err := Prices{Input: -1, Output: math.NaN(), CachedInput: new(-2.0), CacheWrite: new(math.Inf(1)), CacheTTL: -3}.Validate()
	want := "input: -1 is no price\noutput: NaN is no price\ncached_input: -2 is no price\ncache_write: +Inf is no price\ncache_ttl_s: -3 is negative"
	if err == nil || err.Error() != want {
		t.Errorf("Validate = %v, want %s", err, want)
	}
	if err := (Prices{Input: 1, CachedInput: new(0.0)}).Validate(); err != nil {
		t.Errorf("Validate = %v", err)
	}
}

func TestLookup(t *testing.T) {
	for model, want := range map[string]float64{
		"claude-sonnet-4-5-20250929": 3, "anthropic/claude-opus-4-6": 5, "claude-opus-4-1-20250805": 15, "gpt-5-mini": 0.25, "GPT-5": 1.25,
		"gpt-4o-mini-2024": 0.15, "moonshotai/kimi-k2.6": 0.95, "kimi-k2.5": 0.6, "deepseek-chat": 0.28,
	} {
		p, ok := Lookup(model)
		if !ok || p.Input != want {
			t.Errorf("Lookup(%s) = %v, %v, want input %v", model, p.Input, ok, want)
		}
		if err := p.Validate(); err != nil || p.Rates().Read >= 1 || p.Rates().Write < 1 {
			t.Errorf("Lookup(%s): %+v, %v", model, p.Rates(), err)
		}
	}
	if _, ok := Lookup("llama-3"); ok {
		t.Error("Lookup knows llama-3")
	}
	for i, e := range table {
		for _, later := range table[i+1:] {
			if len(later.prefix) >= len(e.prefix) && later.prefix[:len(e.prefix)] == e.prefix {
				t.Errorf("%s is never reached behind %s", later.prefix, e.prefix)
			}
		}
	}
}

func TestCacheable(t *testing.T) {
	for tokens, want := range map[float64]float64{0: 0, 1023: 0, 1024: 1024, 1151: 1024, 1152: 1152, 5000: 4992} {
		if got := Cacheable(tokens); got != want {
			t.Errorf("Cacheable(%v) = %v, want %v", tokens, got, want)
		}
	}
}

func TestAccount(t *testing.T) {
	r := Rates{0.1, 1.25}
	req := Request{Sent: Prompt{Total: 4000, Cached: 3000}, Through: Prompt{Total: 8000, Cached: 7000}}
	var a Account
	if a.Ratio() != 1 {
		t.Errorf("a new account's ratio is %v", a.Ratio())
	}
	a = a.Estimate(r, req)
	if want := 0.1*2944 + 1.25*1056; a.Spent != want {
		t.Errorf("Spent = %v, want %v", a.Spent, want)
	}
	if want := 0.1*6912 + 1.25*1088; a.Through != want {
		t.Errorf("Through = %v, want %v", a.Through, want)
	}
	if b := a.Estimate(Rates{}, req); b != a {
		t.Errorf("without rates %+v was booked", b)
	}
	extra := req
	extra.Extra = true
	if b := a.Estimate(r, extra); b.Through != a.Through || b.Spent <= a.Spent {
		t.Errorf("what passing through would have spared is booked as %+v", b)
	}
}

func TestSettle(t *testing.T) {
	r := Rates{0.1, 1.25}
	req := Request{Sent: Prompt{Total: 4000, Cached: 3000}, Through: Prompt{Total: 8000, Cached: 7000}}
	told := Account{}.Settle(r, req, Usage{Input: 4000, Cached: 2944, Told: true})
	if want := (Account{}).Estimate(r, req); told.Spent != want.Spent || told.Through != want.Through {
		t.Errorf("what was expected is settled as %+v, estimated as %+v", told, want)
	}
	silent := Account{}.Settle(r, req, Usage{Input: 4000})
	if silent.Spent != told.Spent {
		t.Errorf("a provider that does not tell what was cached is settled as %v, want %v", silent.Spent, told.Spent)
	}
	cold := Account{}.Settle(r, req, Usage{Input: 4000, Told: true})
	if cold.Spent != 1.25*4000 || cold.Through != 1.25*8000 {
		t.Errorf("a cache that had nothing had nothing for either: %+v", cold)
	}
	wrote := Account{}.Settle(r, req, Usage{Input: 4000, Cached: 2000, Told: true, Wrote: 1500})
	if want := 0.1*2000 + 1.25*1500 + 500; math.Abs(wrote.Spent-want) > 1e-9 {
		t.Errorf("Spent = %v, want %v", wrote.Spent, want)
	}
}

func TestAccountLearnsTheSizeOfTokens(t *testing.T) {
	var a Account
	for _, ours := range []float64{1000, 2000, 5000, 9000} {
		a = a.Settle(Rates{}, Request{Sent: Prompt{Total: ours}}, Usage{Input: 3000 + 1.5*ours})
	}
	if math.Abs(a.Scale-1.5) > 1e-9 || math.Abs(a.Hidden-3000) > 1e-6 {
		t.Errorf("Scale %v, Hidden %v, want 1.5 and 3000", a.Scale, a.Hidden)
	}
}

// long is a conversation of n turns of which all but the last 8 may be masked.
func long(n int) ([]Piece, Request) {
	var pieces []Piece
	var req Request
	for i := range n {
		p := Piece{Tokens: 1500, Passed: n - i}
		if i < n-8 {
			p.Saves = 1450
		}
		pieces = append(pieces, p, Piece{Tokens: 300})
	}
	for i, p := range pieces {
		if i < len(pieces)-2 {
			req.Sent.Cached += p.Tokens
		}
		req.Sent.Total += p.Tokens
	}
	req.Through = req.Sent
	return pieces, req
}

func TestChoose(t *testing.T) {
	claude, none := Rates{0.1, 1.25}, Rates{1, 1}
	rich := Account{Spent: 1e5, Through: 9e5}
	poor := Account{Spent: 1e5, Through: 1e5}
	for name, c := range map[string]struct {
		account Account
		rates   Rates
		turns   int
		sent    int // -2: all but the last turn
		maxLoss float64
		masks   bool
	}{
		"without a cache everything pays at once":          {poor, none, 12, -2, 0, true},
		"a cold cache is free":                             {poor, claude, 12, 0, 0, true},
		"and needs no prices":                              {poor, Rates{}, 12, 0, 0, true},
		"without prices a warm cache is left alone":        {rich, Rates{}, 90, -2, 0, false},
		"a short conversation is left alone":               {rich, claude, 12, -2, 0, false},
		"a long one with enough banked is masked":          {rich, claude, 90, -2, 0, true},
		"a long one with nothing banked is left alone":     {poor, claude, 60, -2, 0, false},
		"unless a loss may be risked":                      {poor, claude, 60, -2, 0.5, true},
		"an event that returns more than it costs is free": {Account{Spent: 2, Through: 1}, Rates{0.9, 1}, 90, -2, 0, true},
	} {
		pieces, req := long(c.turns)
		sent := c.sent
		if sent < 0 {
			sent = len(pieces) + sent
		} else {
			req.Sent.Cached, req.Through.Cached = 0, 0
		}
		got := c.account.Choose(Choice{
			Rates: c.rates, MaxLoss: c.maxLoss, Horizon: 0.4 * float64(c.turns), Pieces: pieces, Sent: sent, Base: req,
		})
		if masks := got < len(pieces); masks != c.masks {
			t.Errorf("%s: Choose = %d of %d, want masking %v", name, got, len(pieces), c.masks)
		}
	}
}

func TestChooseWaitsUntilWaitingHasCostAsMuch(t *testing.T) {
	pieces, req := long(90)
	c := Choice{Rates: Rates{0.1, 1.25}, Horizon: 36, Pieces: pieces, Sent: len(pieces) - 2, Base: req}
	rich := Account{Spent: 1e5, Through: 9e5}
	if got := rich.Choose(c); got == len(pieces) {
		t.Fatal("old results are not masked")
	}
	for i := range pieces {
		pieces[i].Passed = min(pieces[i].Passed, 1)
	}
	if got := rich.Choose(c); got != len(pieces) {
		t.Errorf("results that have just come are masked from %d on", got)
	}
}

// TestAnEventNeverCostsMoreThanTheAccountHolds tries many conversations: whatever is
// chosen, the bill with it stays within the bound even if no request follows.
func TestAnEventNeverCostsMoreThanTheAccountHolds(t *testing.T) {
	for _, r := range []Rates{{0.1, 1.25}, {0.1, 1}, {0.168, 1}, {0.02, 1}, {0.5, 1}, {1, 1}} {
		for turns := 9; turns < 150; turns += 7 {
			for _, banked := range []float64{0, 1e3, 1e4, 1e5} {
				pieces, req := long(turns)
				a := Account{Spent: 1e5, Through: 1e5 + banked}
				from := a.Choose(Choice{Rates: r, Horizon: 0.4 * float64(turns), Pieces: pieces, Sent: len(pieces) - 2, Base: req})
				if from == len(pieces) {
					continue
				}
				without := a.Estimate(r, req)
				var kept float64
				for i, p := range pieces {
					if i < from {
						kept += p.Tokens
					} else {
						req.Sent.Total -= p.Saves
					}
				}
				req.Sent.Cached = kept
				with := a.Estimate(r, req)
				if with.Spent > max(without.Spent, with.Through)+1e-6 {
					t.Errorf("%v, %d turns, %v banked: %v spent, %v without, %v through", r, turns, banked, with.Spent, without.Spent, with.Through)
				}
			}
		}
	}
}
