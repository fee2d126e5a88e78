package prune

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// numberedAs puts a number before every line, as a tool does.
func numberedAs(text, form string, first int) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, form, first+i)
		b.WriteString(line)
	}
	return b.String() + "\n"
}

func ownSource(tb testing.TB, name string) string {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// A tool's prefixes do not change what the engine measures.
func TestDecorationHidesNothing(t *testing.T) {
	plain := ownSource(t, "docs.go")
	want := NewTrial(Request{Text: plain, Goal: "headings and fences", Source: Code}).Vectors()
	for _, form := range []string{"%6d\t", "%6d→", "%d:", "%d: ", "%5d| ", "%05d|", "%d│ ", "%4d | ", "L%d:", "%d\t"} {
		for _, first := range []int{1, 97, 1200} {
			got := NewTrial(Request{Text: numberedAs(plain, form, first), Goal: "headings and fences", Source: Code}).Vectors()
			if !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
				t.Errorf("%q from %d: the rows look otherwise than without numbers", form, first)
			}
		}
	}
	for name, change := range map[string]func(string) string{
		"quoted": func(s string) string {
			return "> " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n> ") + "\n"
		},
		"in a tool's brackets": func(s string) string { return "<returncode>0</returncode>\n<output>\n" + s + "</output>\n" },
		"nl leaves blank lines": func(s string) string {
			n := 0
			var b strings.Builder
			for line := range strings.Lines(s) {
				if strings.TrimSpace(line) == "" {
					b.WriteString("       " + line)
					continue
				}
				n++
				fmt.Fprintf(&b, "%6d\t%s", n, line)
			}
			return b.String()
		},
	} {
		got := NewTrial(Request{Text: change(plain), Goal: "headings and fences", Source: Code}).Vectors()
		if !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
			t.Errorf("%s: the rows look otherwise", name)
		}
	}
}

func TestDecorationIsRecognised(t *testing.T) {
	for _, c := range []struct {
		name, text string
		source     Source
		kind       prefix
		skip       []uint16
	}{
		{"hits of a search", "a/b.go:12:\treturn nil\na/b.go-13-}\nc.go:7:func f() {\n", Code, hitPrefix, []uint16{10, 10, 7}},
		{"hits with columns", "a.go:1:2:x\na.go:3:4:y\na.go:5:6:z\n", Code, hitPrefix, []uint16{9, 9, 9}},
		{"a diff", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new\n same\n", Code, diffPrefix, []uint16{0, 0, 0, 0, 1, 1, 1}},
		{"a log of a service", "2026-01-02T03:04:05.678Z start\n2026-01-02 03:04:05,678 INFO x\n[2026-01-02 03:04:05] y\nJan  2 03:04:05 host sshd\n", Logs, stampPrefix, []uint16{25, 24, 22, 16}},
		{"a CI job", "build\tUNKNOWN STEP\t2026-01-02T03:04:05Z x\nbuild\tTest\t2026-01-02T03:04:06Z y\nb\tc\t2026-01-02T03:04:06Z y\n", Logs, stampPrefix, []uint16{40, 32, 25}},
		{"a kernel's log", "[    0.000000] Linux\n[   12.345678] usb\n[   13.1] x\n", Logs, stampPrefix, []uint16{15, 15, 10}},
		{"times count in logs only", "2026-01-02T03:04:05Z a\n2026-01-02T03:04:05Z b\n2026-01-02T03:04:05Z c\n", Docs, noPrefix, nil},
		{"a clock is no number", "12:01 a\n12:02 b\n12:03 c\n12:04 d\n", Docs, noPrefix, nil},
		{"a list of years", "1999: x\n1987: y\n2001: z\n1950: a\n1960: b\n", Docs, noPrefix, nil},
		{"plain code", "func f() {\n\treturn\n}\n", Code, noPrefix, nil},
	} {
		d := findDecoration(IndexLines(c.text), c.source)
		if d.kind != c.kind || !slices.Equal(d.skip, c.skip) {
			t.Errorf("%s: %d %v, want %d %v", c.name, d.kind, d.skip, c.kind, c.skip)
		}
	}
}

func TestColoursAreNoWords(t *testing.T) {
	var words []string
	text := "\x1b[31merror\x1b[0m: \x1b[1;32mok\x1b[m"
	s := splitter{emit: func(_ uint64, start, end int, _ bool) { words = append(words, text[start:end]) }}
	s.split(text, 0, len(text))
	if !slices.Equal(words, []string{"error", "ok"}) {
		t.Errorf("words %q", words)
	}
}

func TestWhatTheToolWroteStays(t *testing.T) {
	text := "[File: a.py (300 lines total)]\n(20 more lines above)\n" + strings.Repeat("x = compute(y)\ny = other(x)\n\n", 60) + "(100 more lines below)\n(Open file: a.py)\n"
	res := Plan(Request{Text: text, Goal: "other", Source: Code, MaxPruneRatio: .9, Structure: Enclosing})
	k := kept(res)
	n := res.Lines
	if !k[1] || !k[2] || !k[n] || !k[n-1] || res.Pruned() == 0 {
		t.Errorf("kept %v of the tool's lines, %d lines cut", []bool{k[1], k[2], k[n-1], k[n]}, res.Pruned())
	}
}

func FuzzDecoration(f *testing.F) {
	f.Add("     1\ta\n     2\tb\n     3\tc\n")
	f.Add("a.go:1:x\na.go:2:y\na.go:3:z\n")
	f.Add("@@ -1 +1 @@\n-a\n+b\n")
	f.Add("2026-01-02T03:04:05Z \xff\n[1.2] \n(\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, source := range []Source{Code, Logs, Docs} {
			lines := IndexLines(text)
			d := findDecoration(lines, source)
			for i, n := range d.skip {
				if int(n) > len(trimLine(lines.Line(i+1))) {
					t.Fatalf("line %d: skip %d of %q", i+1, n, lines.Line(i+1))
				}
			}
		}
	})
}
