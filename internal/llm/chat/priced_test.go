package chat

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
)

var (
	tenth  = 0.1
	dearer = 1.25
	claude = bill.Prices{Input: 1, CachedInput: &tenth, CacheWrite: &dearer, CacheTTL: 300}
)

// run is a conversation of that many tool turns, each with a result of 6000 characters.
func run(turns int) []string {
	words := []string{"u:" + strings.Repeat("the task ", 600)}
	for i := range turns {
		words = append(words, turn(i)...)
	}
	return words
}

func turn(i int) []string {
	return []string{fmt.Sprintf("a:id%d", i), fmt.Sprintf("t:id%d=%s", i, strings.Repeat(fmt.Sprintf("line of turn %d\n", i), 400))}
}

// known is a past with a record of that time; caches are known to be cold after 301 seconds.
func known(r *Record, at int64) Past {
	p := Past{Record: r, Alone: true, Learned: bill.Learned{Cold: 301}}
	if r != nil {
		p.Touched = at
	}
	return p
}

// sent sends a conversation and returns the plan and its record.
func sent(t *testing.T, words []string, past Past, prices bill.Prices, now int64) (*Plan, *Record) {
	t.Helper()
	c, err := Read(talk(words...))
	if err != nil {
		t.Fatal(err)
	}
	p := Decide(Input{Conversation: c, Masking: Default(), Past: past, Prices: prices, Now: now})
	rec := p.Record(nil)
	return p, &rec
}

func TestPricedMasksWhenTheCacheIsKnownToBeCold(t *testing.T) {
	words := run(12)
	_, before := sent(t, words[:len(words)-2], Past{}, claude, 1000)
	if len(before.Cuts) > 0 {
		t.Fatal("a conversation never seen is not taken as sent whole")
	}
	unproven := known(before, 1000)
	unproven.Learned = bill.Learned{}
	longer := known(before, 1000)
	longer.Learned = bill.Learned{Warm: 900, Cold: 1200}
	other := Past{Sibling: before, Alone: true} // of another lane
	shared := other
	shared.Touched, shared.Alone = 999, false
	hour := known(before, 1000)
	hour.Learned = bill.Learned{Cold: 4000}
	for name, c := range map[string]struct {
		past   Past
		prices bill.Prices
		now    int64
		masked int
	}{
		"a warm cache is left alone":                             {known(before, 1000), claude, 1100, 0},
		"just within the time to live":                           {known(before, 1000), claude, 1300, 0},
		"clocks differ":                                          {known(before, 1000), claude, 1331, 0},
		"idle for longer than the time to live":                  {known(before, 1000), claude, 1400, 4},
		"nobody has seen a cache of this kind go cold":           {unproven, claude, 1400, 0},
		"this kind has been seen warm for longer":                {longer, claude, 1400, 0},
		"a conversation never seen":                              {Past{}, claude, 1100, 0},
		"the same without prices":                                {Past{}, bill.Prices{}, 1100, 0},
		"without prices a warm cache is left alone":              {known(before, 1000), bill.Prices{}, 1100, 0},
		"without prices an hour is cold":                         {hour, bill.Prices{}, 1000 + 5000, 4},
		"without a cache everything old is masked":               {known(before, 1000), bill.Prices{Input: 1}, 1100, 4},
		"a record of a longer conversation is no help":           {Past{Record: &Record{Messages: 99}}, claude, 1100, 0},
		"the first request of a lane":                            {other, claude, 1100, 4},
		"the first of a lane whose cache may be that of another": {shared, claude, 1100, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := sent(t, words, c.past, c.prices, c.now)
			if p.Masked() != c.masked {
				t.Errorf("%d masked, want %d", p.Masked(), c.masked)
			}
		})
	}
}

func TestALaneSendsWhatItHasNotSentAsAnotherDid(t *testing.T) {
	words := run(12)
	own := &Record{Messages: 5, Cached: 5} // two turns
	sibling := &Record{Messages: len(words) - 2, Cached: len(words) - 2, Cuts: []Sent{{Message: 2, Kind: Masked, ID: "a"}, {Message: 6, Kind: Masked, ID: "b"}}}
	p, rec := sent(t, words, Past{Record: own, Sibling: sibling, Touched: 1000}, claude, 1001)
	if len(p.Cuts) != 1 || p.Cuts[0].Message != 6 || !p.Cuts[0].New {
		t.Errorf("cuts %+v, want only what this lane has not sent whole", p.Cuts)
	}
	if len(rec.Cuts) != 1 {
		t.Errorf("the record keeps %+v", rec.Cuts)
	}
}

func TestWhatIsNotKnownToHaveBeenSentIsTakenAsWarm(t *testing.T) {
	early := append(run(3), "u:"+strings.Repeat("what was said since ", 2000))
	_, rec := sent(t, early, Past{}, claude, 1000)
	words := append([]string{}, early...)
	for i := 3; i < 12; i++ {
		words = append(words, turn(i)...)
	}
	if p, _ := sent(t, words, known(rec, 1000), claude, 1001); len(p.Cuts) != 0 {
		t.Errorf("cuts %+v of messages that may have gone past us", p.Cuts)
	}
}

// maskedRun is a conversation of twelve turns with four masked results.
func maskedRun(t *testing.T) ([]string, *Plan, *Record) {
	t.Helper()
	words := run(12)
	_, before := sent(t, words[:len(words)-2], Past{}, claude, 1000)
	p, rec := sent(t, words, known(before, 1000), claude, 2000)
	if p.Masked() != 4 {
		t.Fatalf("%d masked, want 4", p.Masked())
	}
	return words, p, rec
}

func TestAResultOnceMaskedStaysMasked(t *testing.T) {
	words, first, rec := maskedRun(t)
	for name, later := range map[string][]string{
		"more turns":                     append(append(words, turn(12)...), turn(13)...),
		"a user's word behind a result":  append(words, "u:stop, look at this first"),
		"the same request again":         words,
		"an id again, with another tool": append(append(append(words, turn(12)...), turn(13)...), "a:id0@other", "t:id0=x"),
	} {
		second, _ := sent(t, later, known(rec, 2000), claude, 2010)
		if len(second.Cuts) < 4 {
			t.Fatalf("%s: %d cuts, want at least 4", name, len(second.Cuts))
		}
		for i := range 4 {
			if a, b := first.Cuts[i], second.Cuts[i]; a.Message != b.Message || a.Text != b.Text || b.New {
				t.Errorf("%s: cut %+v became %+v", name, a, b)
			}
		}
	}
}

func TestARefusedRequestChangesNothingOfTheBill(t *testing.T) {
	words, first, _ := maskedRun(t)
	for name, u := range map[string]bill.Usage{
		"the cache has forgotten all": {Input: 9000, Told: true},
		"the cache was found":         {Input: 9000, Cached: 1400, Told: true},
	} {
		paid, refused := first.Record(&u), first.Unbooked()
		for range 2 { // refused once, and then again
			second, _ := sent(t, words, known(&refused, 2000), claude, 2000)
			retried := second.Record(&u)
			if math.Abs(retried.Bill.Ratio()-paid.Bill.Ratio()) > 1e-9 || fmt.Sprint(retried.Cuts, retried.Time, retried.Cached, retried.Account.Scale) != fmt.Sprint(paid.Cuts, paid.Time, paid.Cached, paid.Account.Scale) {
				t.Errorf("%s: retried %+v, at once %+v", name, retried, paid)
			}
			refused = second.Unbooked()
		}
	}
}

func TestAConversationThatLosesIsLeftAlone(t *testing.T) {
	words, _, rec := maskedRun(t)
	rec.Account.Kept = -0.5 * rec.Account.Spent
	p, rec := sent(t, append(words, turn(12)...), known(rec, 2000), claude, 2010)
	if !rec.Off {
		t.Fatal("still on")
	}
	standing := p.Masked()
	if p, _ = sent(t, append(append(words, turn(12)...), turn(13)...), known(rec, 2010), claude, 9999); p.Masked() != standing {
		t.Errorf("%d masked, %d before it was left alone", p.Masked(), standing)
	}
	rec.Account.Kept = 0.5 * rec.Account.Spent
	if _, rec = sent(t, append(append(words, turn(12)...), turn(13)...), known(rec, 2010), claude, 2020); rec.Off {
		t.Error("it has won since, and is still left alone")
	}
}

func TestWhatIsFetchedAgainIsDebited(t *testing.T) {
	words, _, rec := maskedRun(t)
	other := append(append([]string{}, words...), "a:new", "t:new="+strings.Repeat("another text\n", 460))
	same := append(append([]string{}, words...), "a:new", strings.Replace(turn(0)[1], "t:id0", "t:new", 1))
	back := append(append([]string{}, words...), "a:new@pruner__recover_text", strings.Replace(turn(0)[1], "t:id0", "t:new", 1))
	_, a := sent(t, other, known(rec, 2000), claude, 2010)
	_, b := sent(t, same, known(rec, 2000), claude, 2010)
	_, c := sent(t, back, known(rec, 2000), claude, 2010)
	if a.Account.Owed != 0 || b.Account.Owed <= 0 || c.Account.Owed <= b.Account.Owed {
		t.Errorf("owed %v new, %v the same again, %v recovered: want them to rise", a.Account.Owed, b.Account.Owed, c.Account.Owed)
	}
	if told := (b.Bill.Saved - c.Bill.Saved) / (claude.Input / 1e6); math.Abs(told-(c.Account.Owed-b.Account.Owed)) > 1 {
		t.Errorf("the bill tells %v of a debt of %v", told, c.Account.Owed-b.Account.Owed)
	}
	if pa, pc := a.Account.Purse(0, 0), c.Account.Purse(0, 0); pc >= pa {
		t.Errorf("%v may be spent after a recovery, %v without", pc, pa)
	}
}

func TestKeysFindTheLongestKnownPrefix(t *testing.T) {
	key := func(words ...string) Key {
		c, err := Read(talk(words...))
		if err != nil {
			t.Fatal(err)
		}
		return c.Key()
	}
	c, err := Read(talk("u:q", "a:1", "t:1=A", "a:2", "t:2=B", "u:more"))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	var places []Place
	for i, p := range c.Places() {
		got, places = append(got, p.Messages), append(places, p)
		if i != len(places)-1 {
			t.Errorf("place %d has number %d", len(places)-1, i)
		}
	}
	if fmt.Sprint(got) != "[6 5 4 3 2 1]" {
		t.Errorf("Places = %v, want every beginning, the longest first", got)
	}
	if places[3].Key != key("u:q", "a:1", "t:1=A") || places[5].Key != key("u:q") {
		t.Error("a beginning has another key than the conversation that it is")
	}
	same := `raw:{"role":"user","cache_control":{"type":"ephemeral"},"content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}`
	if key("u:q") != key(same) {
		t.Error("a mark for the cache makes another conversation")
	}
	differ := map[Key]string{}
	for _, other := range []string{"u:q", "u:Q", "u:q ", "u:", `raw:{"role":"user","content":["q"]}`, `raw:{"role":"system","content":"q"}`, `raw:{"content":"q"}`, `raw:"q"`, "t:1=q", "t:2=q", "a:q", "a:"} {
		k := key(other)
		if before, ok := differ[k]; ok {
			t.Errorf("%s and %s have the same key", before, other)
		}
		differ[k] = other
	}
}

func TestSteppedMovesInSteps(t *testing.T) {
	s := Default()
	s.Strategy, s.WindowTurns, s.StepTurns = Stepped, 3, 4
	var got []int
	for turns := range 14 {
		_, p := decide(t, talk(run(turns)...), s)
		got = append(got, p.Masked())
	}
	if want := "[0 0 0 0 0 0 0 4 4 4 4 8 8 8]"; fmt.Sprint(got) != want {
		t.Errorf("masked %v, want %s", got, want)
	}
}

// A placeholder that a client sends back is left alone.
func TestPlaceholdersSentBackAreLeft(t *testing.T) {
	for _, strategy := range []string{Sliding, Stepped, Priced} {
		s := Default()
		s.Strategy, s.WindowTurns, s.StepTurns = strategy, 2, 1
		s.PlaceholderTemplate = "[gone: {tool_call_id} {original_chars} {tool_name}]"
		_, once := decideWith(t, talk(run(6)...), s, nil, bill.Prices{Input: 1}, nil)
		body := once.Append(nil)
		again, second := decideWith(t, body, s, nil, bill.Prices{Input: 1}, nil)
		if once.Masked() == 0 || string(again) != string(body) || second.Masked() != 0 {
			t.Errorf("%s: %d masked, then %d of what had been masked", strategy, once.Masked(), second.Masked())
		}
	}
}

func TestShortResultsAreLeft(t *testing.T) {
	for _, strategy := range []string{Stepped, Priced} {
		s := Default()
		s.Strategy, s.WindowTurns, s.StepTurns = strategy, 1, 1
		if _, p := decide(t, talk("u:q", "a:1", "t:1=short", "a:2", "t:2=B"), s); p.Masked() != 0 {
			t.Errorf("%s masked a result no longer than its placeholder", strategy)
		}
	}
}

func TestRecordSurvivesItsForm(t *testing.T) {
	_, plan, paid := maskedRun(t)
	refused := plan.Unbooked()
	for _, rec := range []*Record{paid, &refused} {
		checkForm(t, rec)
	}
}

func checkForm(t *testing.T, rec *Record) {
	t.Helper()
	b, err := rec.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back Record
	if err := back.UnmarshalBinary(b); err != nil || fmt.Sprint(back) != fmt.Sprint(*rec) {
		t.Errorf("%+v came back as %+v, %v", *rec, back, err)
	}
	for i := range b {
		if err := new(Record).UnmarshalBinary(b[:i]); err == nil {
			t.Errorf("%d of %d bytes are taken for a record", i, len(b))
		}
	}
	if err := new(Record).UnmarshalBinary(append(b, 0)); err == nil {
		t.Error("a byte too many is taken for a record")
	}
}
