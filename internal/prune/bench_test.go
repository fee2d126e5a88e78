package prune

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// grown repeats pieces until the text has about the given size.
func grown(size int, piece func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(piece(i))
	}
	return b.String()
}

// programText is source code: this package's own, repeated.
func programText(tb testing.TB, size int) string {
	tb.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		tb.Fatal(err)
	}
	var all bytes.Buffer
	for _, f := range files {
		if strings.HasPrefix(f, "model_") {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		all.Write(b)
	}
	return grown(size, func(int) string { return all.String() })
}

func logText(size int) string {
	return grown(size, func(i int) string {
		if i%97 == 0 {
			return fmt.Sprintf("2026-02-0%d 10:%02d:13 ERROR worker-%d task %d failed: connection reset by peer\n\tat net.dial(dial.go:%d)\n", 1+i%9, i%60, i%7, i, i%400)
		}
		return fmt.Sprintf("2026-02-0%d 10:%02d:12 INFO worker-%d fetched segment %d of archive %x in %d ms\n", 1+i%9, i%60, i%7, i%1000, i*7919, i%250)
	})
}

func docText(size int) string {
	words := strings.Fields("the server keeps every original until its time to live has passed and a client may ask for any range of lines by number which costs nothing when the store is local and little when it is shared between several processes on one machine")
	rng := rand.New(rand.NewPCG(1, 2))
	return grown(size, func(i int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "## Section %d about %s\n\n", i, words[rng.IntN(len(words))])
		for range 6 {
			for range 14 {
				b.WriteString(words[rng.IntN(len(words))])
				b.WriteByte(' ')
			}
			b.WriteString("\n")
		}
		if i%4 == 0 {
			b.WriteString("\n```toml\nlisten = 1\n\nport = 2\n```\n")
		}
		return b.String() + "\n"
	})
}

func benchmarkPlan(b *testing.B, text string, source Source) {
	b.Helper()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Plan(Request{Text: text, Goal: "why does the parser drop the last line of a table", Source: source, MaxPruneRatio: .7})
	}
}

func BenchmarkPlanCode(b *testing.B) { benchmarkPlan(b, programText(b, 1<<20), Code) }
func BenchmarkPlanLogs(b *testing.B) { benchmarkPlan(b, logText(1<<20), Logs) }
func BenchmarkPlanDocs(b *testing.B) { benchmarkPlan(b, docText(1<<20), Docs) }

func BenchmarkPlanHostile(b *testing.B) {
	random := make([]byte, 4<<20)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	for name, text := range map[string]string{
		"one line":        strings.Repeat("word and another ", 10<<20/17) + "\nend\n",
		"empty lines":     strings.Repeat("\n", 1e6),
		"identical lines": strings.Repeat("the same again\n", 1e6),
		"short lines":     strings.Repeat("x\n", 1e6),
		"random bytes":    string(random),
		"goal only":       strings.Repeat("parser table line ", 1<<17) + "\nend\n",
		"deep":            grown(2<<20, func(i int) string { return strings.Repeat(" ", i%500) + "{\n" }),
		"fences":          strings.Repeat("```\n", 1e5),
		"tables":          strings.Repeat("<table\n", 1e5),
		"directives":      strings.Repeat(beginProtected+"\n"+endProtected+"\nx\n", 1e5),
	} {
		for _, source := range []Source{Code, Logs, Docs} {
			b.Run(name+"/"+source.String(), func(b *testing.B) { benchmarkPlan(b, text, source) })
		}
	}
}
