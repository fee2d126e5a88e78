package tokens

import (
	"math"
	"strings"
	"testing"
)

// The counts are o200k's.
func TestEstimateIsNearTheTokenizer(t *testing.T) {
	for _, c := range []struct {
		name, text string
		kind       Kind
		count      int
		within     float64
	}{
		{"prose", "The server keeps every original until its time to live has passed, and a client may ask for any range of lines by number.", Prose, 26, .15},
		{"code", "func (l Lines) Range(start, end int) string {\n\tstart, end = max(start, 1), min(end, len(l.starts))\n\tif start > end {\n\t\treturn \"\"\n\t}\n\treturn l.text[l.start(start):l.start(end+1)]\n}\n", Code, 54, .15},
		{"a log", "2026-02-01 10:14:12 INFO worker-3 fetched segment 812 of archive 9f3c2a in 118 ms\n", Logs, 34, .2},
		{"json", `{"prune_id":"prn_01","stats":{"original_lines":420,"kept_lines":180,"used_fallback":false},"warnings":[]}`, JSON, 32, .2},
		{"chinese", "服务器会保存每一份原文直到其有效期结束，客户端可以请求任意行范围。", Prose, 22, .35},
		{"russian", "Сервер хранит каждый исходный текст до истечения срока его жизни.", Prose, 16, .35},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Estimate(c.text, c.kind)
			if off := math.Abs(float64(got)/float64(c.count) - 1); off > c.within {
				t.Errorf("Estimate = %d, o200k has %d", got, c.count)
			}
		})
	}
}

func TestEstimateOfOddTexts(t *testing.T) {
	if got := Estimate("", Code); got != 0 {
		t.Errorf("Estimate of nothing = %d, want 0", got)
	}
	for _, text := range []string{"a", " ", "\n", "\x00", "\xff", "\xe2\x9f", "é"} {
		if got := Estimate(text, Prose); got < 1 || got > 2 {
			t.Errorf("Estimate(%q) = %d", text, got)
		}
	}
	if a, b := Estimate("some words", Kind(-1)), Estimate("some words", Kind(99)); a != b || a != Estimate("some words", Prose) {
		t.Errorf("an unknown kind is not taken for prose: %d, %d", a, b)
	}
}

func TestSizeCountsWhatTokenizersSeeDifferently(t *testing.T) {
	text := strings.Repeat("a1 = b[22]; // été ⟦x⟧\n\t", 40)
	got := Size(text, Code)
	want := Measure{Tokens: Estimate(text, Code), Digits: 3 * 40, Signs: 8 * 40, Others: 10 * 40, Bytes: len(text)}
	if got != want {
		t.Errorf("Size = %+v, want %+v", got, want)
	}
	if got := Size("", Code); got != (Measure{}) {
		t.Errorf("Size of nothing = %+v", got)
	}
}

func TestEstimateGrowsWithTheText(t *testing.T) {
	text := strings.Repeat("one more line of text, number 17\n", 50)
	last := 0
	for n := 0; n <= len(text); n += 33 {
		got := Estimate(text[:n], Prose)
		if got < last {
			t.Fatalf("Estimate of %d bytes = %d, of fewer %d", n, got, last)
		}
		last = got
	}
}

func TestEveryStateIsReachedFromSomewhere(t *testing.T) {
	reached := map[uint8]bool{}
	for s := range States {
		for c := range int(classes) {
			reached[next[s][c]] = true
		}
	}
	for s := 1; s < States; s++ {
		if !reached[uint8(s)] {
			t.Errorf("state %d is never reached", s)
		}
	}
}

func TestEstimateAllocatesNothing(t *testing.T) {
	text := strings.Repeat("one more line\n", 100)
	if n := testing.AllocsPerRun(10, func() { Estimate(text, Code) }); n != 0 {
		t.Errorf("Estimate allocates %v times", n)
	}
}

func FuzzEstimate(f *testing.F) {
	f.Add("func f() { return 1 }\n", 1)
	f.Fuzz(func(t *testing.T, text string, kind int) {
		got := Estimate(text, Kind(kind))
		if got < 0 || got > 2*len(text) || (got == 0) != (text == "") {
			t.Errorf("Estimate(%q) = %d", text, got)
		}
	})
}

func BenchmarkEstimate(b *testing.B) {
	text := strings.Repeat("\tif start > end { return l.text[:end] } // clamp 17 lines\n", 1<<14)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Estimate(text, Code)
	}
}
