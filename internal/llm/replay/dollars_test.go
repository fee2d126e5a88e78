package replay

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
)

// bytesRuler counts every byte as a token, so that bills can be computed by hand.
func bytesRuler(text string) float64 { return float64(len(text)) }

// Known counts of o200k_base: two words, a letter, digits in threes.
func TestTokensAreATokenizers(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "hello world": 2, "a": 1, "1234567": 3} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %v tokens, want %v", text, got, want)
		}
	}
}

func readAll(t *testing.T, text string) []Session {
	t.Helper()
	sessions, err := Read(strings.NewReader(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	return sessions
}

// Without a cache, a prompt costs its tokens times the configured price.
func TestDollarsAreOfTheConfiguredPrices(t *testing.T) {
	const body = `{"model":"mine","messages":[{"role":"user","content":"hello"}]}`
	o := Options{
		Ruler: bytesRuler, Strategies: Strategies(chat.Default(), chat.DefaultPruning()),
		Prices: func(model, _ string) (bill.Prices, bool) { return bill.Prices{Input: 7}, model == "mine" },
	}
	r, err := Run(t.Context(), readAll(t, body+body+sessionLine("other", 2)), o)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Dollars
	want := 2 * float64(len("\x01user\nhello")) * 7 / 1e6
	if math.Abs(d.Through-want) > 1e-12 || d.Sessions != 1 || d.Requests != 2 {
		t.Errorf("passing through: %v dollars for %d sessions, %d requests; want %v", d.Through, d.Sessions, d.Requests, want)
	}
	if len(d.Unpriced) != 1 || d.Unpriced[0] != "m" {
		t.Errorf("models without prices: %q", d.Unpriced)
	}
	if d.Advice != nil {
		t.Errorf("%+v, where nothing can be saved", d.Advice)
	}
}

func TestTheSummaryComesFirstAndSaysWhatToWrite(t *testing.T) {
	all := Strategies(chat.Default(), chat.DefaultPruning())
	o := Options{
		Ruler: bytesRuler, Strategies: all, Tables: Tables()[:1],
		Prices: func(string, string) (bill.Prices, bool) { return bill.Prices{Input: 3}, true }, // no cache: masking pays
	}
	sessions := readAll(t, sessionLine("long", 20))
	for _, c := range []struct {
		current Strategy
		says    string
	}{
		{Strategy{}, "Write this:\n\n[observation_masking.schema1]\nenabled = true\nstrategy = \"priced\"\nmax_loss = 0\n"},
		{all[0], "Your configuration says so already: sliding."},
	} {
		o.Current = c.current
		r, err := Run(t.Context(), sessions, o)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := r.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text.String(), "You would have paid $") || !strings.Contains(text.String(), c.says) {
			t.Errorf("want %q in\n%s", c.says, &text)
		}
		if a := r.Dollars.Advice; a.Spent >= r.Dollars.Through {
			t.Errorf("advice at %v, passing through at %v", a.Spent, r.Dollars.Through)
		}
	}
}

// A strategy that made one conversation dearer, or may by its settings, is not advised.
func TestAdviceLosesNowhere(t *testing.T) {
	strategies := []Strategy{
		{Name: "cheap, but dearer once"},
		{Name: "may lose", Masking: chat.Settings{MaxLoss: 0.05}},
		{Name: "safe"},
	}
	sessions := make([]Session, 2)
	own := []*ownBill{{10, []float64{1, 2, 9}}, {10, []float64{10.5, 2, 9}}}
	d := addUp(sessions, own, Options{Strategies: strategies})
	if d.Advice == nil || d.Advice.Strategy != "safe" || d.Advice.Spent != 18 || d.Strategies[0].Dearer != 1 {
		t.Errorf("%+v, advice %+v", d, d.Advice)
	}
}

// Tokenizing is slow, so each message is counted once, however many requests and strategies send
// it.
func TestEachMessageIsCountedOnce(t *testing.T) {
	var mu sync.Mutex
	times := map[string]int{}
	o := Options{
		Strategies: Strategies(chat.Default(), chat.DefaultPruning()), Tables: Tables()[:2],
		Ruler: func(text string) float64 {
			mu.Lock()
			defer mu.Unlock()
			times[text]++
			return bytesRuler(text)
		},
	}
	if _, err := Run(t.Context(), readAll(t, sessionLine("a", 20)), o); err != nil {
		t.Fatal(err)
	}
	for text, n := range times {
		if n > 1 && len(text) > 1000 {
			t.Errorf("counted %d times: %.60q", n, text)
		}
	}
	if len(times) < 2*20 {
		t.Errorf("only %d texts were counted", len(times))
	}
}

func TestMistakesAreToldByLine(t *testing.T) {
	good := `{"messages":[{"role":"user","content":"hi"}]}` + "\n"
	for text, want := range map[string]string{
		good + "hello":                        `2: not JSON: invalid character 'h' at start of value: found "hello"`,
		good + "\n" + `"x"`:                   `3: neither a session nor the body of a request: found the string "\"x\""`,
		"[" + good + "," + good + ",7]":       `3: neither a session nor the body of a request: found "7"`,
		good + good + `{"messages":7}`:        `3: messages: found number`,
		good + `{"messages":[`:                `2: the file ends in the middle of a value`,
		good + `{"messages":[}` + "\n" + good: `2: not JSON: invalid character '}' at start of value: found "}"`,
	} {
		if _, err := Read(strings.NewReader(text), "file"); err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

// A strategy that costs more shows its loss.
func TestSavingsAndLosses(t *testing.T) {
	for x, want := range map[float64]string{2: "$2.00", 0.5: "$0.5000", 0: "$0.0000", -3: "-$3.00"} {
		if got := saving(x); got != want {
			t.Errorf("saving(%v) = %s, want %s", x, got, want)
		}
	}
}

// A session has the prices of its own day.
func TestSessionsArePricedByTheirDay(t *testing.T) {
	const line = `{"timestamp":"2026-08-20T12:00:00Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":"input_text","text":"hello"}]}}` + "\n"
	text := `{"timestamp":"2026-08-20T12:00:00Z","type":"turn_context","payload":{"model":"gpt-5.6-sol"}}` + "\n" + fmt.Sprintf(line+line, "user", "assistant")
	paid := func(day string) float64 {
		o := Options{Ruler: bytesRuler, Prices: bill.LookupAt}
		r, err := Run(t.Context(), readAll(t, strings.ReplaceAll(text, "2026-08-20", day)), o)
		if err != nil || r.Dollars.Sessions != 1 {
			t.Fatalf("%+v, %v", r, err)
		}
		return r.Dollars.Through
	}
	if before, after := paid("2026-08-20"), paid("2026-08-21"); math.Abs(before/after-5.0/4) > 1e-9 {
		t.Errorf("%v before the price fell from 5 to 4 dollars, %v after", before, after)
	}
}
