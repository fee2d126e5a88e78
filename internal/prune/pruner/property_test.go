package pruner_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"secateur/internal/mcp/wire"
	"secateur/internal/prune/pruner"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"

	"pgregory.net/rapid"
)

var markerForm = regexp.MustCompile(`^⟦PRUNÉ: prune_id=([^\s]+) lignes (\d+)-(\d+) \((\d+)\) raison=(.*)⟧$`)

// texts generates difficult texts: odd line endings, no final one, markers and directives in the
// text, characters of every width.
func texts() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"", " ", "\t", "import os", "def f(x):", "    return x + 1", "class A:", "func main() {", "}", "# Title", "```", "| a | b |",
			"2026-01-01 ERROR boom", "Traceback (most recent call last):", "  File \"a.py\", line 3", "ValueError: no", "INFO ok",
			"⟦NO_PRUNE_BEGIN⟧", "⟦NO_PRUNE_END⟧", "⟦PRUNÉ: prune_id=prn_x lignes 1-2 (2) raison=x⟧", "1│ quoted",
			"é̂ combining", "שלום עולם", "\u202eright", "\ufeffbom", "nul \x00 byte", "😀😀", "\r", "a\rb", "\u2028 separator", "\x1b[31mred",
			strings.Repeat("long ", 300),
		}),
		rapid.StringN(0, 40, -1),
	)
	return rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(piece, 0, 60).Draw(t, "lines")
		ending := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "ending")
		return strings.Join(lines, ending) + rapid.SampledFrom([]string{"", ending}).Draw(t, "final")
	})
}

// linesOf splits a text as the specification counts lines.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
}

// The guarantees to a caller hold for any text.
func TestInvariants(t *testing.T) {
	s := newServer(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		a := asked{
			text:     texts().Draw(rt, "text"),
			goal:     rapid.OneOf(rapid.SampledFrom([]string{"", "boom", "main", "title"}), rapid.String()).Draw(rt, "goal"),
			source:   rapid.SampledFrom([]string{"code", "logs", "docs"}).Draw(rt, "source"),
			ratio:    rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, 2.0 / 3, 0.5})).Draw(rt, "ratio"),
			minKeep:  rapid.IntRange(0, 40).Draw(rt, "min_keep_lines"),
			annotate: rapid.Bool().Draw(rt, "annotate"),
			markers:  rapid.Bool().Draw(rt, "markers"),
			timeout:  60_000,
		}
		text, _ := json.Marshal(a.text)
		_ = json.Unmarshal(text, &a.text) // as JSON converts bytes that are not UTF-8

		var p pruned
		result(t, call(t, s, "prune_text", a.json()), &p)
		n, kept, cut := p.stat("original_lines"), p.stat("kept_lines"), p.stat("pruned_lines")
		ratio, _ := p.Stats["pruned_ratio"].(float64)
		switch {
		case p.PruneID != originals.ID("", a.text):
			rt.Fatalf("id %s", p.PruneID)
		case n != strings.Count(a.text, "\n")+bit(a.text != "" && !strings.HasSuffix(a.text, "\n")):
			rt.Fatalf("original_lines = %d", n)
		case kept+cut != n:
			rt.Fatalf("%d kept + %d cut of %d", kept, cut, n)
		case ratio > a.ratio:
			rt.Fatalf("pruned_ratio %v > %v", ratio, a.ratio)
		case kept < min(a.minKeep, n):
			rt.Fatalf("%d kept of %d, at least %d asked", kept, n, a.minKeep)
		}
		if fallback, _ := p.Stats["used_fallback"].(bool); fallback {
			if p.PrunedText != a.text || cut != 0 || len(p.Annotations) != 0 || len(p.Warnings) == 0 {
				rt.Fatalf("a fallback that is none: %+v", p)
			}
		} else if got, want := p.PrunedText, expected(rt, a, p); got != want {
			rt.Fatalf("pruned_text\n got %q\nwant %q", got, want)
		}
		checkRecovery(t, rt, s, a.text, p)
	})
}

// expected builds the pruned text from the annotations alone.
func expected(rt *rapid.T, a asked, p pruned) string {
	lines := linesOf(a.text)
	var b strings.Builder
	next, total := 1, 0
	keepTo := func(end int) {
		for ; next <= end; next++ {
			if a.annotate {
				fmt.Fprintf(&b, "%d│ ", next)
			}
			b.WriteString(ending(a.text, lines, next))
		}
	}
	for _, note := range p.Annotations {
		m := markerForm.FindStringSubmatch(note.Marker)
		if note.Kind != "pruned_block" || note.Start < next || note.End < note.Start || note.Count != note.End-note.Start+1 || note.Reason == "" || m == nil ||
			m[1] != p.PruneID || m[2] != fmt.Sprint(note.Start) || m[3] != fmt.Sprint(note.End) || m[4] != fmt.Sprint(note.Count) || m[5] != note.Reason {
			rt.Fatalf("annotation %+v behind line %d", note, next)
		}
		keepTo(note.Start - 1)
		next = note.End + 1
		total += note.Count
		if a.markers {
			b.WriteString(note.Marker)
			if next <= len(lines) || strings.HasSuffix(a.text, "\n") {
				b.WriteByte('\n')
			}
		}
	}
	keepTo(len(lines))
	if total != p.stat("pruned_lines") {
		rt.Fatalf("annotations tell of %d lines, pruned_lines of %d", total, p.stat("pruned_lines"))
	}
	return b.String()
}

// ending returns a line with its ending in the text.
func ending(text string, lines []string, n int) string {
	if n == len(lines) && strings.HasSuffix(text, "\n") {
		return lines[n-1] + "\n"
	}
	return lines[n-1]
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// checkRecovery recovers every cut, and the whole text.
func checkRecovery(t *testing.T, rt *rapid.T, s *pruner.Server, text string, p pruned) {
	t.Helper()
	lines := linesOf(text)
	if len(lines) == 0 {
		return
	}
	get := func(start, end int) string {
		var r recovery
		result(t, call(t, s, "recover_text", recoverArguments(p.PruneID, fmt.Sprintf("%d-%d", start, end), false)), &r)
		return r.RawText
	}
	if got := get(1, len(lines)); got != text {
		rt.Fatalf("1 to last is %q, want %q", got, text)
	}
	for _, note := range p.Annotations {
		var want strings.Builder
		for n := note.Start; n <= note.End; n++ {
			want.WriteString(ending(text, lines, n))
		}
		if got := get(note.Start, note.End); got != want.String() {
			rt.Fatalf("lines %d to %d are %q, want %q", note.Start, note.End, got, want.String())
		}
	}
}

// Any arguments get exactly one response, and stored originals can be recovered.
func FuzzArguments(f *testing.F) {
	for _, tool := range []string{"prune_text", "recover_text", "recover_chars", "search_text", "health"} {
		f.Add(tool, `{}`)
	}
	f.Add("prune_text", asked{text: "a\nb\nc", goal: "b", ratio: 0.5, markers: true}.json())
	f.Add("prune_text", `{"text":"\ud800\n\u0000\r\n","goal_hint":"\udfff","source_type":"logs","options":{"max_prune_ratio":1e-999,"min_keep_lines":1e99,"timeout_ms":9e99,"annotate_lines":true,"include_markers":true}}`)
	f.Add("recover_text", `{"prune_id":"","ranges":[{"start_line":1,"end_line":1}],"include_line_numbers":true}`)
	f.Add("search_text", `{"prune_id":"","pattern":"(a|b)*c{2,5}$","regex":true,"ignore_case":true}`)
	s := newServer(f, nil)
	id := keep(f, s, "one\ntwo\r\nthree "+strings.Repeat("x", 2000)+"\n\xf0\x9f\x98\x80")
	f.Fuzz(func(t *testing.T, tool, arguments string) {
		if rawjson.Check([]byte(arguments), 100) != nil {
			return
		}
		arguments = strings.ReplaceAll(arguments, `"prune_id":""`, `"prune_id":"`+id+`"`)
		name := rawjson.AppendQuoted(nil, tool)
		msg, bad := wire.ParseRequest([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+string(name)+`,"arguments":`+arguments+`}}`), wire.MaxRequestDepth)
		if bad != nil {
			return
		}
		answer, err := wire.ParseServer(s.Serve(t.Context(), &msg), 0)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Error != nil && strings.Contains(string(answer.Error), "-32603") {
			t.Fatalf("internal error for %s %s", tool, arguments)
		}
	})
}
