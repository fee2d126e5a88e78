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
	through := func(messages []sized, requests []prefix, t provider.Terms) (sum float64) {
		last := 0.0
		for _, r := range requests {
			size := 0.0
			for _, m := range messages[:r.messages] {
				size += float64(m.tokens)
			}
			sum += t.Read*last + t.Write*(size-last)
			last = size
		}
		return sum
	}
	short, requests := run(8)
	if got, want := limit(0, short, requests, provider.Claude), through(short, requests, provider.Claude); math.Abs(got-want) > 1e-6 {
		t.Errorf("8 turns: the limit is %v, passing through %v", got, want)
	}
	long, requests := run(100)
	if got, most := limit(0, long, requests, provider.Claude), 0.8*through(long, requests, provider.Claude); got > most {
		t.Errorf("100 turns: the limit is %v, above %v", got, most)
	}
	none := provider.Terms{Read: 1, Write: 1}
	least := 0.0
	for _, r := range requests { // without a cache all that is old is masked at once
		for _, m := range long[:r.messages] {
			if m.turn >= 0 && m.turn < r.turns-window {
				m.tokens = placeholder
			}
			least += float64(m.tokens)
		}
	}
	if got := limit(0, long, requests, none); math.Abs(got-least) > 1e-6 {
		t.Errorf("without a cache: the limit is %v, want %v", got, least)
	}
}
