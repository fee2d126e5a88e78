package chat

import (
	"fmt"
	"strings"
	"testing"

	"secateur/internal/bill"
)

var (
	tenth  = 0.1
	dearer = 1.25
	claude = bill.Prices{Input: 1, CachedInput: &tenth, CacheWrite: &dearer, CacheTTL: 300}
)

// run is a conversation of so many tool turns, each with a result of 6000 characters.
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

// sent sends a conversation and returns the plan and what is kept of it.
func sent(t *testing.T, words []string, r *Record, prices bill.Prices, now int64) (*Plan, *Record) {
	t.Helper()
	c, err := Read(talk(words...))
	if err != nil {
		t.Fatal(err)
	}
	p := Decide(Input{Conversation: c, Masking: Default(), Record: r, Prices: prices, Now: now})
	rec := p.Record(nil)
	return p, &rec
}

func TestPricedMasksWhenTheCacheIsColdAnyway(t *testing.T) {
	words := run(12)
	_, before := sent(t, words[:len(words)-2], nil, claude, 1000)
	before.Cuts = nil // as if it had grown with everything whole
	for name, c := range map[string]struct {
		record *Record
		prices bill.Prices
		now    int64
		words  []string
		masked int
	}{
		"a warm cache is left alone":                   {before, claude, 1100, words, 0},
		"just within the time to live":                 {before, claude, 1300, words, 0},
		"idle for longer than the time to live":        {before, claude, 1301, words, 4},
		"a conversation never seen":                    {nil, claude, 1100, words, 4},
		"the same without prices":                      {nil, bill.Prices{}, 1100, words, 4},
		"without prices a warm cache is left alone":    {before, bill.Prices{}, 1100, words, 0},
		"without prices an hour is cold":               {before, bill.Prices{}, 1000 + 3601, words, 4},
		"without a cache everything old is masked":     {before, bill.Prices{Input: 1}, 1100, words, 4},
		"a record of a longer conversation is no help": {&Record{Messages: 99}, claude, 1100, words, 4},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := sent(t, c.words, c.record, c.prices, c.now)
			if p.Masked() != c.masked {
				t.Errorf("%d masked, want %d", p.Masked(), c.masked)
			}
		})
	}
	t.Run("another model", func(t *testing.T) {
		other := *before
		other.Model = Key{}
		if p, _ := sent(t, words, &other, claude, 1100); p.Masked() != 4 {
			t.Errorf("%d masked, want 4", p.Masked())
		}
	})
	t.Run("other tools", func(t *testing.T) {
		other := *before
		other.Tools = Key{}
		if p, _ := sent(t, words, &other, claude, 1100); p.Masked() != 4 {
			t.Errorf("%d masked, want 4", p.Masked())
		}
	})
}

func TestPricedWhenTheClientRewroteHistory(t *testing.T) {
	early := append(run(3), "u:"+strings.Repeat("what was said since ", 2000))
	_, rec := sent(t, early, nil, claude, 1000)
	words := append([]string{}, early...)
	for i := 3; i < 12; i++ {
		words = append(words, turn(i)...)
	}
	p, _ := sent(t, words, rec, claude, 1001)
	if len(p.Cuts) != 1 || p.Cuts[0].Message <= len(early) {
		t.Errorf("cuts %+v, want the one that is old and was never sent", p.Cuts)
	}
}

func TestAResultOnceMaskedStaysMasked(t *testing.T) {
	words := run(12)
	first, rec := sent(t, words, nil, claude, 1000)
	if first.Masked() != 4 {
		t.Fatalf("%d masked, want 4", first.Masked())
	}
	later := append(append(words, turn(12)...), turn(13)...)
	second, _ := sent(t, later, rec, claude, 1010)
	if len(second.Cuts) < 4 {
		t.Fatalf("%d cuts, want at least 4", len(second.Cuts))
	}
	for i := range 4 {
		if a, b := first.Cuts[i], second.Cuts[i]; a.Message != b.Message || a.Text != b.Text || b.New {
			t.Errorf("cut %+v became %+v", a, b)
		}
	}
	// Even where the id comes again, with another tool.
	later = append(later, "a:id0@other", "t:id0=x")
	third, _ := sent(t, later, rec, claude, 1020)
	if a, b := first.Cuts[0], third.Cuts[0]; a.Message != b.Message || a.Text != b.Text {
		t.Errorf("cut %+v became %+v", a, b)
	}
}

func TestAConversationThatLosesIsLeftAlone(t *testing.T) {
	words := run(12)
	_, rec := sent(t, words, nil, claude, 1000)
	rec.Account.Spent = 2 * rec.Account.Through
	p, rec := sent(t, append(words, turn(12)...), rec, claude, 1010)
	if !rec.Off {
		t.Fatal("still on")
	}
	standing := p.Masked()
	if p, _ = sent(t, append(append(words, turn(12)...), turn(13)...), rec, claude, 9999); p.Masked() != standing {
		t.Errorf("%d masked, %d before it was left alone", p.Masked(), standing)
	}
}

func TestWhatIsFetchedAgainIsDebited(t *testing.T) {
	words := run(12)
	_, rec := sent(t, words, nil, claude, 1000)
	other := append(append([]string{}, words...), "a:new", "t:new="+strings.Repeat("another text\n", 460))
	same := append(append([]string{}, words...), "a:new", strings.Replace(turn(0)[1], "t:id0", "t:new", 1))
	back := append(append([]string{}, words...), "a:new@pruner__recover_text", strings.Replace(turn(0)[1], "t:id0", "t:new", 1))
	_, a := sent(t, other, rec, claude, 1010)
	_, b := sent(t, same, rec, claude, 1010)
	_, c := sent(t, back, rec, claude, 1010)
	if a.Account.Ratio() >= b.Account.Ratio() || b.Account.Ratio() >= c.Account.Ratio() {
		t.Errorf("ratios %v new, %v the same again, %v recovered: want them to rise", a.Account.Ratio(), b.Account.Ratio(), c.Account.Ratio())
	}
	if b.Refetch == 0 || a.Refetch != 0 {
		t.Errorf("Refetch %v and %v", a.Refetch, b.Refetch)
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
	if fmt.Sprint(got) != "[6 3 1]" {
		t.Errorf("Places = %v, want the whole and where answers begin", got)
	}
	if places[1].Key != key("u:q", "a:1", "t:1=A") || places[2].Key != key("u:q") {
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
	_, rec := sent(t, run(12), nil, claude, 1000)
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
