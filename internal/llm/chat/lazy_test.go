package chat

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"secateur/internal/llm/bill"
)

func reading(t failer, body []byte) *Conversation {
	t.Helper()
	c, err := Read(body)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return c
}

// inTwo does the work in two goroutines; one of them goes backwards.
func inTwo(_, n int, do func(i int)) {
	var other sync.WaitGroup
	other.Go(func() {
		for i := n - 1; i >= n/2; i-- {
			do(i)
		}
	})
	for i := range n / 2 {
		do(i)
	}
	other.Wait()
}

// TestSizesMadeUpLateAreTheSame compares two ways of deciding. One computes sizes on demand, checks
// several results at once, and continues a known conversation. The other computes all sizes first,
// one after the other. Decisions and records must be equal.
func TestSizesMadeUpLateAreTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.Custom(drawWord), 2, 60).Draw(rt, "words")
		for i := range rapid.IntRange(0, 50).Draw(rt, "long") {
			words = append(words, fmt.Sprintf("a:l%d@t", i), fmt.Sprintf("t:l%d=%s", i, strings.Repeat("func main() {}\n", rapid.IntRange(30, 600).Draw(rt, "lines"))))
		}
		split := rapid.IntRange(0, len(words)).Draw(rt, "known")
		s, usage := drawSettings(rt), bill.Usage{Input: 1000 * float64(len(words)), Told: true}
		decide := func(c *Conversation, spread Spread, r *Record) *Plan {
			return Decide(Input{Conversation: c, Masking: s, Prices: claude, Past: Past{Record: r, Touched: 1, Alone: true}, Now: 100, Spread: spread})
		}
		body := talk(words...)
		eager, lazy := reading(rt, body), reading(rt, body)
		eager.measure()
		first, again := reading(rt, talk(words[:split]...)), reading(rt, body)
		r := decide(first, inTwo, nil).Record(&usage)
		if n := len(first.Messages); n > 0 && n <= len(again.Messages) {
			c, err := ReadOn(body, func([]byte) Known { return first.Known() })
			if err != nil {
				rt.Fatalf("%v", err)
			}
			again = c
		}
		for _, record := range []*Record{nil, &r} {
			want, got, onward := decide(eager, nil, record), decide(lazy, inTwo, record), decide(again, inTwo, record)
			for _, p := range []*Plan{got, onward} {
				if !bytes.Equal(p.Append(nil), want.Append(nil)) || p.Claim != want.Claim {
					rt.Fatalf("another request goes out")
				}
				for _, u := range []*bill.Usage{nil, &usage} {
					if a, b := p.Record(u), want.Record(u); !reflect.DeepEqual(a, b) {
						rt.Fatalf("record = %+v, want %+v", a, b)
					}
				}
			}
		}
	})
}

// The record of a request whose cost is not known yet makes the next one continue in the same form.
// The next one assumes the fullest possible cache.
func TestARequestNotCountedYetWasSent(t *testing.T) {
	words := []string{"u:go"}
	for i := range 20 {
		words = append(words, fmt.Sprintf("a:c%d@t", i), fmt.Sprintf("t:c%d=%s", i, strings.Repeat("func main() {}\n", 400)))
	}
	c := reading(t, talk(words...))
	p := Decide(Input{Conversation: c, Masking: Settings{}, Prices: claude, Now: 100})
	r := p.Uncounted()
	if r.Cached != len(c.Messages) || r.Messages != len(c.Messages) || r.Account.Spent != 0 {
		t.Errorf("record = %+v", r)
	}
	past := Past{Record: &r, Touched: 100, Alone: true}
	if jobs := c.Jobs(DefaultPruning(), past); len(jobs) > 0 {
		t.Errorf("sent whole, and pruned after all: %+v", jobs)
	}
	if f := c.formsOf(past); f.sent != len(c.Messages) || f.warm != len(c.Messages) {
		t.Errorf("the cache has %+v", f)
	}
}

func TestOriginalsCanBeHadAfterTheyWereLetGoOf(t *testing.T) {
	words := []string{"u:go"}
	for i := range 12 {
		words = append(words, fmt.Sprintf("a:c%d@t", i), fmt.Sprintf("t:c%d=%d %s", i, i, strings.Repeat("é\n", 400)))
	}
	s := Default()
	s.Strategy = Sliding
	p := Decide(Input{Conversation: reading(t, talk(words...)), Masking: s, Now: 100})
	if len(p.Cuts) == 0 {
		t.Fatal("nothing is cut")
	}
	for _, cut := range p.Cuts {
		before := p.Original(cut)
		p.Forget()
		if p.Original(cut) != before || !strings.HasSuffix(before, "é\n") {
			t.Errorf("message %d: another original", cut.Message)
		}
	}
}
