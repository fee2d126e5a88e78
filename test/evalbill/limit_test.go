package main

import (
	"math"
	"testing"

	"secateur/test/provider"
)

func TestTheLimitMasksWhenItPays(t *testing.T) {
	run := func(turns int) (messages []sized, requests []prefix) {
		messages = []sized{{1000, -1}}
		for i := range turns {
			requests = append(requests, prefix{len(messages), i})
			messages = append(messages, sized{50, -1}, sized{2000, i})
		}
		return messages, requests
	}
	short, requests := run(8)
	passed := through(0, short, requests, provider.Claude)
	if got, want := limit(0, short, requests, provider.Claude, nil), passed[len(passed)-1]; math.Abs(got-want) > 1e-6 {
		t.Errorf("8 turns: the limit is %v, passing through %v", got, want)
	}
	long, requests := run(100)
	passed = through(0, long, requests, provider.Claude)
	got, most := limit(0, long, requests, provider.Claude, nil), 0.8*passed[len(passed)-1]
	if got > most {
		t.Errorf("100 turns: the limit is %v, above %v", got, most)
	}
	// Without any savings the first rewrite cannot be paid, however much it would bring.
	if kept := limit(0, long, requests, provider.Claude, passed); math.Abs(kept-passed[len(passed)-1]) > 1e-6 {
		t.Errorf("100 turns, never above: the limit is %v, passing through %v", kept, passed[len(passed)-1])
	}
	for i := range passed {
		passed[i] += 25_000 // saved by pruning before the first request
	}
	if kept := limit(0, long, requests, provider.Claude, passed); kept > most || kept < got {
		t.Errorf("100 turns, never above, with savings: the limit is %v, want it between %v and %v", kept, got, most)
	}
	none := provider.Terms{Read: 1, Write: 1}
	least := 0.0
	for _, r := range requests { // without a cache everything old is masked at once
		for _, m := range long[:r.messages] {
			if m.turn >= 0 && m.turn < r.turns-window {
				m.tokens = placeholder
			}
			least += float64(m.tokens)
		}
	}
	if got := limit(0, long, requests, none, nil); math.Abs(got-least) > 1e-6 {
		t.Errorf("without a cache: the limit is %v, want %v", got, least)
	}
}
