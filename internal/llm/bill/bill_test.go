package bill

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestRates(t *testing.T) {
	for name, c := range map[string]struct {
		prices Prices
		want   Rates
	}{
		"unknown":            {Prices{}, Rates{}},
		"no cache":           {Prices{Input: 3}, Rates{Read: 1, Write: 1, Hour: 1}},
		"a cached price":     {Prices{Input: 4, CachedInput: new(1.0)}, Rates{Read: 0.25, Write: 1, Hour: 1}},
		"a price of writing": {Prices{Input: 4, CachedInput: new(0.4), CacheWrite: new(5.0)}, Rates{Read: 0.1, Write: 1.25, Hour: 1.25}},
		"cached for nothing": {Prices{Input: 4, CachedInput: new(0.0)}, Rates{Read: 0, Write: 1, Hour: 1}},
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
			if later.prefix != e.prefix && strings.HasPrefix(later.prefix, e.prefix) {
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

var claude = Terms{Rates: Rates{Read: 0.1, Write: 1.25}}

// pieces returns pieces of the given estimated tokens.
func pieces(tokens ...float64) (out []Piece) {
	for _, n := range tokens {
		out = append(out, Piece{Size: Size{Tokens: n}})
	}
	return out
}

func TestNothingTakenOutIsARatioOfExactlyOne(t *testing.T) {
	var a Account
	if a.Ratio() != 1 {
		t.Errorf("a new account's ratio is %v", a.Ratio())
	}
	req := Request{Pieces: pieces(1000, 777, 3000)}
	for i := range 20 {
		req.Sent, req.Same, req.Likely = len(req.Pieces)-1, len(req.Pieces)-1, len(req.Pieces)-1
		if i%3 == 0 {
			a = a.Estimate(claude, req)
		} else {
			a = a.Settle(claude, req, Usage{Input: 1234.5 * float64(i), Cached: 128 * float64(i), Told: i%2 == 0, Wrote: 7})
		}
		if a.Ratio() != 1 || a.Spent <= 0 {
			t.Fatalf("request %d: ratio %v, spent %v", i, a.Ratio(), a.Spent)
		}
		req.Pieces = append(req.Pieces, pieces(333, 1111)...)
	}
	if b := a.Estimate(Terms{}, req); !reflect.DeepEqual(b, a) {
		t.Errorf("without rates %+v was booked", b)
	}
}

func TestWhatWasTakenOutWouldHavePaidItsRate(t *testing.T) {
	for name, c := range map[string]struct {
		usage Usage
		saved float64
	}{
		"the old from the cache, the new written": {Usage{Input: 6000, Cached: 4992, Told: true}, 0.1*2000 + 1.25*500},
		"a provider that does not tell":           {Usage{Input: 6000}, 0.1*2000 + 1.25*500},
		"a cache that has lost everything":        {Usage{Input: 6000, Told: true}, 1.25 * 2500},
		"a cache that has lost the end":           {Usage{Input: 6000, Cached: 2048, Told: true}, 0.1*0 + 1.25*2500},
	} {
		req := Request{Pieces: pieces(2000, 3000, 1000), Sent: 2, Same: 2, Likely: 2}
		req.Pieces[1].Removed, req.Pieces[2].Removed = Size{Tokens: 2000}, Size{Tokens: 500}
		a := Account{Last: Counted{Pieces: 2, Input: 5000, Removed: Size{Tokens: 2000}}, Scale: Scale{Guess: Weights{Tokens: 1}}}
		got := a.Settle(claude, req, c.usage)
		if math.Abs(got.Saved()-c.saved) > 1 {
			t.Errorf("%s: saved %v, want %v", name, got.Saved(), c.saved)
		}
	}
}

func TestARewriteIsBookedAsWhatItCost(t *testing.T) {
	a := Account{Last: Counted{Pieces: 3, Input: 20000}, Scale: Scale{Guess: Weights{Tokens: 1}}}
	req := Request{Pieces: pieces(4000, 1000, 10000, 500), Sent: 3, Same: 1, Likely: 3}
	req.Pieces[1].Removed = Size{Tokens: 5000}
	for name, c := range map[string]struct {
		cold  bool
		usage Usage
		saved float64
	}{
		"the cache was warm":                       {false, Usage{Input: 15500, Cached: 3968, Told: true}, 0.1*5000 - 1.15*(14976-3968)},
		"the cache was cold":                       {true, Usage{Input: 15500, Cached: 0, Told: true}, 1.25 * 5000},
		"it was taken for cold and had everything": {true, Usage{Input: 15500, Cached: 3968, Told: true}, 0.1*5000 - 1.15*(14976-3968)},
	} {
		req.Cold = c.cold
		if got := a.Settle(claude, req, c.usage); math.Abs(got.Saved()-c.saved) > 1 {
			t.Errorf("%s: saved %v, want %v", name, got.Saved(), c.saved)
		}
	}
}

func TestSettle(t *testing.T) {
	req := Request{Pieces: pieces(3000, 1000), Sent: 1, Same: 1, Likely: 1}
	wrote := Account{}.Settle(claude, req, Usage{Input: 4000, Cached: 2000, Told: true, Wrote: 1500})
	if want := 0.1*2000 + 1.25*1500 + 500; math.Abs(wrote.Spent-want) > 1e-9 {
		t.Errorf("Spent = %v, want %v", wrote.Spent, want)
	}
	short := Account{}.Settle(claude, req, Usage{Input: 900, Told: true})
	if short.Spent != 900 {
		t.Errorf("a prompt too short for the cache costs %v, want 900", short.Spent)
	}
	banded := claude
	banded.Band = Band{Above: 3000, Times: 2}
	if long := (Account{}).Settle(banded, req, Usage{Input: 4000, Told: true}); long.Spent != 2*1.25*4000 {
		t.Errorf("a prompt above the band costs %v, want %v", long.Spent, 2*1.25*4000)
	}
}

// The provider counts 1.3 tokens for each of ours, half a token more for a sign, and 3000 unseen
// ones.
func TestAccountLearnsTheSizeOfTokens(t *testing.T) {
	var a Account
	req := Request{}
	input := 3000.0
	for i := range 12 {
		p := Piece{Size: Size{Tokens: 500 + 100*float64(i%5), Signs: 300 * float64(i%3), Digits: 50 * float64(i%4)}}
		req.Sent, req.Same, req.Likely = len(req.Pieces), len(req.Pieces), len(req.Pieces)
		req.Pieces = append(req.Pieces, p)
		input += 1.3*p.Size.Tokens + 0.5*p.Size.Signs
		a = a.Settle(claude, req, Usage{Input: input})
	}
	size := Size{Tokens: 1000, Signs: 400, Digits: 100}
	if got := a.Scale.Count(size); math.Abs(got-1500) > 60 {
		t.Errorf("Count = %v, want about 1500; weights %+v", got, a.Scale.Weights())
	}
}

func TestCachesTeachHowLongTheyLive(t *testing.T) {
	cache := Cache{Life: 300}
	var l Learned
	if got := l.After(300, cache); got != MayBeWarm {
		t.Errorf("After(300) = %v", got)
	}
	if got := l.After(1000, cache); got != LikelyCold {
		t.Errorf("After(1000) = %v before anything was seen", got)
	}
	if got := l.Pause(900, false).After(1000, cache); got != KnownCold {
		t.Errorf("After(1000) = %v when 900 seconds were too long before", got)
	}
	if got := l.Pause(900, false).Pause(2000, true).After(1500, cache); got != MayBeWarm {
		t.Errorf("After(1500) = %v when 2000 seconds were not too long", got)
	}
	if got := l.Pause(3000, true).Pause(4000, false).After(5000, cache); got != KnownCold {
		t.Errorf("After(5000) = %v", got)
	}
	if got := l.Pause(30, false); got != l {
		t.Errorf("a short pause has taught %+v", got)
	}
}

// long is a conversation of n turns. All but the last 8 may be masked.
func long(n int) Request {
	var req Request
	for i := range n {
		p := Piece{Size: Size{Tokens: 1500}, Passed: n - i, Result: true}
		if i < n-8 {
			p.Saves = 1450
		}
		req.Pieces = append(req.Pieces, p, Piece{Size: Size{Tokens: 300}})
	}
	req.Sent = len(req.Pieces) - 2
	req.Same, req.Likely = req.Sent, req.Sent
	return req
}

func TestChoose(t *testing.T) {
	rich := Account{Spent: 1e5, Kept: 8e5}
	poor := Account{Spent: 1e5}
	none := Terms{Rates: Rates{Read: 1, Write: 1}}
	for name, c := range map[string]struct {
		account Account
		terms   Terms
		turns   int
		cold    Coldness
		claims  float64
		maxLoss float64
		masks   bool
	}{
		"without a cache everything pays at once":             {poor, none, 12, MayBeWarm, 0, 0, true},
		"a cache that is known to be cold is free":            {poor, claude, 12, KnownCold, 0, 0, true},
		"and needs no prices":                                 {poor, Terms{}, 12, KnownCold, 0, 0, true},
		"one that may be warm is not risked":                  {poor, claude, 12, LikelyCold, 0, 0, false},
		"unless that can be borne":                            {rich, claude, 12, LikelyCold, 0, 0, true},
		"without prices a warm cache is left alone":           {rich, Terms{}, 90, MayBeWarm, 0, 0, false},
		"a short conversation is left alone":                  {rich, claude, 12, MayBeWarm, 0, 0, false},
		"a long one with enough banked is masked":             {rich, claude, 90, MayBeWarm, 0, 0, true},
		"a long one whose bank another branch has claimed":    {rich, claude, 90, MayBeWarm, 8e5, 0, false},
		"a long one with nothing banked is left alone":        {poor, claude, 60, MayBeWarm, 0, 0, false},
		"unless a loss may be risked":                         {poor, claude, 90, MayBeWarm, 0, 1, true},
		"an event that returns more than it costs needs none": {Account{Spent: 2, Kept: -1}, Terms{Rates: Rates{Read: 0.9, Write: 1}}, 90, MayBeWarm, 0, 0, true},
	} {
		req := long(c.turns)
		got := c.account.Choose(Choice{
			Terms: c.terms, MaxLoss: c.maxLoss, Horizon: 0.4 * float64(c.turns), Request: req, Cold: c.cold, Claims: c.claims,
		})
		if masks := got.From < len(req.Pieces); masks != c.masks {
			t.Errorf("%s: Choose = %+v of %d, want masking %v", name, got, len(req.Pieces), c.masks)
		}
	}
}

func TestChooseWaitsUntilWaitingHasCostAsMuch(t *testing.T) {
	req := long(90)
	c := Choice{Terms: claude, Horizon: 36, Request: req}
	rich := Account{Spent: 1e5, Kept: 8e5}
	if got := rich.Choose(c); got.From == len(req.Pieces) {
		t.Fatal("old results are not masked")
	}
	for i := range req.Pieces {
		req.Pieces[i].Passed = min(req.Pieces[i].Passed, 1)
	}
	if got := rich.Choose(c); got.From != len(req.Pieces) {
		t.Errorf("results that have just come are masked: %+v", got)
	}
}

// TestAnEventNeverCostsMoreThanTheAccountHolds tries many conversations. With any chosen event, the
// bill stays within the bound even if no request follows.
func TestAnEventNeverCostsMoreThanTheAccountHolds(t *testing.T) {
	for _, r := range []Rates{{0.1, 1.25, 1.25}, {0.1, 1, 1}, {0.168, 1, 1}, {0.02, 1, 1}, {0.5, 1, 1}, {1, 1, 1}} {
		terms := Terms{Rates: r}
		for turns := 9; turns < 150; turns += 7 {
			for _, banked := range []float64{0, 1e3, 1e4, 1e5} {
				req := long(turns)
				a := Account{Spent: 1e5, Kept: banked}
				event := a.Choose(Choice{Terms: terms, Horizon: 0.4 * float64(turns), Request: req})
				if event.From == len(req.Pieces) {
					continue
				}
				for i := event.From; i < len(req.Pieces); i++ {
					if saves := req.Pieces[i].Saves; saves > 0 {
						req.Pieces[i].Size.Tokens -= saves
						req.Pieces[i].Removed.Tokens += saves
						req.Same = min(req.Same, i)
					}
				}
				if with := a.Estimate(terms, req); with.Saved() < -1e-6 {
					t.Errorf("%v, %d turns, %v banked: %v saved after %+v", r, turns, banked, with.Saved(), event)
				}
			}
		}
	}
}

func TestNothingIsMadeTooShortForTheCache(t *testing.T) {
	req := long(9)
	for i := range req.Pieces {
		req.Pieces[i].Size.Tokens, req.Pieces[i].Saves = 80, min(req.Pieces[i].Saves, 70)
	}
	if got := (Account{}).Choose(Choice{Terms: claude, Horizon: 4, Request: req, Cold: KnownCold}); got.From != len(req.Pieces) {
		t.Errorf("Choose = %+v: what is left would not be cached any more", got)
	}
	if (Account{}).StaysCached(claude, Request{Pieces: []Piece{{Size: Size{Tokens: 1000}, Removed: Size{Tokens: 5000}}}}) {
		t.Error("a prompt of 1000 tokens stays cached")
	}
	if (Account{}).StaysCached(claude, Request{Pieces: []Piece{{Size: Size{Tokens: 9000}, Removed: Size{Tokens: 100}}}}) {
		t.Error("100 tokens less are worth what the end of a block costs")
	}
}

func TestACacheIsChosenByFormatAndModel(t *testing.T) {
	for _, c := range []struct {
		format Format
		model  string
		prices Prices
		want   Kind
	}{
		{Messages, "claude-opus-5-5", Prices{Input: 1}, Markers},
		// a router sets its own marks, or none
		{Chat, "anthropic/claude-opus-5-5", Prices{Input: 1}, Blocks},
		{Messages, "deepseek-v4", Prices{Input: 1}, Blocks},
		{Messages, "unheard-of", Prices{Input: 1}, Markers},
		{Responses, "gpt-5.6-sol", Prices{Input: 1}, Endings},
		{Chat, "gpt-6-luna", Prices{Input: 1}, Endings},
		{Responses, "gpt-5.5", Prices{Input: 1}, Intervals},
		{Responses, "gpt-5", Prices{Input: 1}, Blocks},
		{Responses, "unheard-of", Prices{Input: 1}, Blocks},
		{Responses, "gpt-5", Prices{Input: 1, Cache: "endings"}, Endings},
	} {
		if got := c.prices.In(c.format, c.model).Kind; got != c.want {
			t.Errorf("format %d, model %s, %+v: %v, want %v", c.format, c.model, c.prices, got, c.want)
		}
	}
}

func TestMarksSayWhatIsPaid(t *testing.T) {
	p, _ := Lookup("claude-sonnet-5")
	terms := p.In(Messages, "claude-sonnet-5")
	if got := terms.With(nil); got.Read != 1 || got.Write != 1 {
		t.Errorf("without marks the rates are %+v: nothing is cached", got.Rates)
	}
	if got := terms.With([]Mark{{Pieces: 3}}); got.Life != 300 || got.Read != 0.1 {
		t.Errorf("with a mark: %+v", got)
	}
	if got := terms.With([]Mark{{Hour: true}, {Pieces: 3}}); got.Life != 3600 || got.Hour != 2 {
		t.Errorf("with a mark for an hour: %+v", got)
	}
	// 1000 removed tokens: behind the marks, before the second one, before the one for an hour.
	for _, c := range []struct {
		piece int
		saved float64
	}{{3, 1000}, {2, 1250}, {1, 2000}} {
		req := Request{Pieces: pieces(9000, 1000, 1000, 1000), Marks: []Mark{{Pieces: 2, Hour: true}, {Pieces: 3}}}
		req.Pieces[c.piece].Removed = Size{Tokens: 1000}
		usage := Usage{Input: 12000, Told: true, Wrote: 11000, Hour: 10000, WroteTold: true}
		a := Account{Scale: Scale{Guess: Weights{Tokens: 1}}}.Settle(terms, req, usage)
		if want := 2*10000 + 1.25*1000 + 1000; a.Spent != want {
			t.Errorf("spent %v, want %v", a.Spent, want)
		}
		if math.Abs(a.Saved()-c.saved) > 1 {
			t.Errorf("out of piece %d: saved %v, want %v", c.piece, a.Saved(), c.saved)
		}
	}
}

// A change loses everything behind the last place before it where the cache can find the prompt
// again.
func TestAnEventCostsWhatTheCacheWillNotFind(t *testing.T) {
	rich := Account{Spent: 1e6, Kept: 9e6, Scale: Scale{Guess: Weights{Tokens: 1}}}
	claim := func(terms Terms, entries ...Entry) float64 {
		req := long(90)
		for i := range req.Pieces {
			req.Pieces[i].Ends = i%2 == 1
		}
		req.Marks = []Mark{{Pieces: 1}, {Pieces: len(req.Pieces)}}
		req.Pieces[150].Saves = 1450 // the only one, near the end
		for i := range req.Pieces[:150] {
			req.Pieces[i].Saves = 0
		}
		a := rich
		a.Entries = entries
		var cost float64
		a.eachEvent(Choice{Terms: terms.With(req.Marks), Request: req}, func(_ int, c, _, _, _ float64) { cost = c })
		return cost
	}
	at := func(kind Kind) Terms {
		return Terms{Rates: Rates{Read: 0.1, Write: 1.25, Hour: 2}, Cache: Cache{Kind: kind}}
	}
	behind := claim(at(Blocks))
	for name, c := range map[string]struct {
		cost  float64
		whole bool // the whole prompt is lost
	}{
		"markers, nothing known":            {claim(at(Markers)), true},
		"markers, an entry out of reach":    {claim(at(Markers), Entry{Pieces: 140}), true},
		"endings, an entry twelve back":     {claim(at(Endings), Entry{Pieces: 150}), false},
		"endings, an entry behind it":       {claim(at(Endings), Entry{Pieces: 152}), true},
		"endings, an entry that is too old": {claim(at(Endings), Entry{Pieces: 150, At: -4000}), true},
	} {
		if lost := c.cost > 4*behind; lost != c.whole {
			t.Errorf("%s: costs %.0f, with blocks %.0f", name, c.cost, behind)
		}
	}
}

func TestAShorterPromptBelowTheBandIsCheaper(t *testing.T) {
	req := long(90)
	terms := claude
	poor := Account{Spent: 1e6}
	if got := poor.Choose(Choice{Terms: terms, Horizon: 30, Request: req}); got.From != len(req.Pieces) {
		t.Fatalf("masked without a band: %+v", got)
	}
	terms.Band = Band{Above: 100_000, Times: 5}
	if got := poor.Choose(Choice{Terms: terms, Horizon: 30, Request: req}); got.From == len(req.Pieces) {
		t.Error("nothing is masked although the prompt costs five times as much above 100000 tokens")
	}
}

func TestAccountsAreWrittenDown(t *testing.T) {
	a := Account{Spent: 1, Kept: 2, Cut: Size{3, 4, 5, 6, 7, 8, 0}, Owed: 6, Claimed: 7, Last: Counted{8, 9, Size{10, 11, 12, 13, 14, 15, 0}}}
	a.Scale = Scale{Guess: Weights{13, 14, 15, 16, 17, 18, 19}, Bytes: 30, BytesCounted: 31, Missed: 32, MissedByLength: 33}
	for i := range a.Scale.Products {
		a.Scale.Products[i] = 100 + float64(i)
	}
	for i := range a.Scale.Counted {
		a.Scale.Counted[i] = 200 + float64(i)
	}
	a.Entries = []Entry{{0, 1e9, true}, {7, 1e9 + 5, false}, {900, 1e9, true}}
	b, err := a.AppendBinary([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	var got Account
	rest, ok := got.Decode(a.AppendPairs(b[1:len(b):len(b)]))
	if !ok {
		t.Fatal("what was written is no account")
	}
	for n := range rest {
		if _, ok := new(Account).DecodePairs(rest[:n]); ok {
			t.Fatalf("%d of %d bytes are its pairs", n, len(rest))
		}
	}
	if rest, ok = got.DecodePairs(append(rest, "rest"...)); !ok || string(rest) != "rest" || !reflect.DeepEqual(got, a) {
		t.Errorf("Decode = %+v, %q, %v, want %+v", got, rest, ok, a)
	}
	for n := range len(b) - 1 {
		if _, ok := got.Decode(b[1 : 1+n]); ok {
			t.Fatalf("%d of %d bytes are an account", n, len(b)-1)
		}
	}
	l := Learned{1, 2, Weights{3, 4, 5, 6, 7, 8, 9}}
	b, _ = l.AppendBinary(nil)
	var back Learned
	if back.UnmarshalBinary(b) != nil || back != l {
		t.Errorf("UnmarshalBinary = %+v, want %+v", back, l)
	}
	old := l
	old.Weights.Pairs, old.Weights.Pieces = 0, 0
	if back.UnmarshalBinary(b[:len(b)-16]) != nil || back != old {
		t.Errorf("what was written before there were pairs says %+v, want %+v", back, old)
	}
	if back.UnmarshalBinary(b[1:]) != nil || back != (Learned{}) {
		t.Errorf("half of it has taught %+v", back)
	}
}

// The provider counts a factor of our tokens, a share of the pairs, and an overhead for each
// message. Removed text contains no messages and may have other words than the rest.
func TestAccountLearnsWhatABytePairEncodingKnows(t *testing.T) {
	for _, c := range []struct{ scale, pairs, message float64 }{{1, 1, 12}, {1.1, 0.6, 20}, {1.25, 0, 15}} {
		var a Account
		req := Request{}
		input := 0.0
		for i := range 150 {
			p := Piece{Size: Size{Tokens: 100 + 200*float64(i%5), Pairs: float64(i%7-3) * 30}}
			req.Sent, req.Same, req.Likely = len(req.Pieces), len(req.Pieces), len(req.Pieces)
			req.Pieces = append(req.Pieces, p)
			input += c.scale*p.Size.Tokens + c.pairs*p.Size.Pairs + c.message
			a = a.Settle(claude, req, Usage{Input: input})
		}
		out := Size{Tokens: 10_000, Pairs: -2000}
		want := c.scale*out.Tokens + c.pairs*out.Pairs
		if got := a.Scale.Count(out); math.Abs(got-want) > 0.03*want {
			t.Errorf("%+v: Count = %.0f, want about %.0f; weights %+v", c, got, want, a.Scale.Weights())
		}
	}
}

// Our estimates are fitted to a byte pair encoding. A provider that agrees with them likely has a
// similar one.
func TestWhoAgreesWithUsIsLikelyToHaveTheSamePairs(t *testing.T) {
	count := func(theirs float64) float64 {
		var s Scale
		s.first(Size{Tokens: 1000}, theirs)
		return s.Count(Size{Tokens: 1000, Pairs: 100}) - s.Count(Size{Tokens: 1000})
	}
	if alike, unlike := count(1050), count(1300); alike < 50 || unlike > 30 {
		t.Errorf("of 100 pairs %.0f count where the provider agrees, %.0f where it does not", alike, unlike)
	}
}

// The pieces add up to the tokens of the whole prompt, including the overhead of each.
func TestPiecesAddUpToThePrompt(t *testing.T) {
	a := Account{Scale: Scale{Guess: Weights{Tokens: 1, Pairs: 0.5, Pieces: 20}}}
	req := Request{Head: Size{Tokens: 500}}
	for i := range 100 {
		req.Pieces = append(req.Pieces, Piece{Size: Size{Tokens: 100 + float64(i), Pairs: float64(i % 7)}, Saves: 50})
	}
	req.Sent, req.Same, req.Likely = 100, 100, 100
	for n := range req.Pieces {
		if got := a.reach(req, a.position(req, n)+1); got != n {
			t.Fatalf("%d pieces stand within the tokens of the first %d", got, n)
		}
	}
	terms := claude
	terms.Minimum, terms.Block = 0, 1
	kept := -1.0
	a.eachEvent(Choice{Terms: terms, Horizon: 30, Request: req}, func(from int, _, rewrite, _, _ float64) {
		if from == 0 {
			kept = rewrite
		}
	})
	lost := max(0, caution*a.position(req, 100)-100*50) + 1 // only the head is kept
	lost -= caution * a.position(req, 0)
	if want := (terms.Write - terms.Read) * lost; math.Abs(kept-want) > 0.05*want {
		t.Errorf("masking from the first piece rewrites %.0f, want about %.0f", kept, want)
	}
}
