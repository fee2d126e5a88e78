package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"secateur/internal/prune/excerpt"
	"secateur/test/eval/cases"
)

// resultCase is the result of one call of an MCP tool, and what its agent used of it later.
type resultCase struct {
	ID        string          `json:"id"`
	Family    string          `json:"family"`
	Tool      string          `json:"tool"`
	About     string          `json:"tool_description"`
	Arguments json.RawMessage `json:"arguments"`
	Before    []struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"previous_calls"`
	Task string      `json:"task"`
	Text string      `json:"text"`
	Used []usedThing `json:"used"`
}

type usedThing struct {
	Kind  string   `json:"kind"`
	Spans [][2]int `json:"spans"` // code points
}

// resultsFile is where the recorded results are.
func resultsFile() string { return filepath.Join(cases.Folder(), "..", "results", "results.jsonl.gz") }

func loadResults(path string) (out []*resultCase, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for d := json.NewDecoder(z); ; {
		c := &resultCase{}
		if err := d.Decode(c); err == io.EOF {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out = append(out, c)
	}
}

// goal is what the door sees: the call, and the calls before it.
func (c *resultCase) goal() excerpt.Goal {
	g := excerpt.Goal{Call: c.Tool + "\n" + strings.Join(jsonStrings(c.Arguments), "\n")}
	for _, before := range slices.Backward(c.Before) {
		g.Before = append(g.Before, strings.Join(jsonStrings(before.Arguments), "\n"))
	}
	return g
}

// jsonStrings are the strings and numbers of a document, names left out.
func jsonStrings(raw []byte) (out []string) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case json.Number:
			out = append(out, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name])
			}
		}
	}
	walk(v)
	return out
}

// usedIn is the share of the used things that a shortened text has.
func (c *resultCase) usedIn(out string) float64 {
	runes := []rune(c.Text)
	out = squeeze(out)
	kept := 0
	for _, u := range c.Used {
		for _, s := range u.Spans {
			if hasThing(out, u.Kind, squeeze(string(runes[s[0]:s[1]]))) {
				kept++
				break
			}
		}
	}
	return float64(kept) / float64(len(c.Used))
}

func hasThing(out, kind, want string) bool {
	if kind == "run" || kind == "url" {
		return strings.Contains(out, want)
	}
	for at := 0; ; at++ {
		i := strings.Index(out[at:], want)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(out[:at])
		after, _ := utf8.DecodeRuneInString(out[at+len(want):])
		if !isWordRune(before) && !isWordRune(after) {
			return true
		}
	}
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// usedWithin is the share of the used things that lie whole in spans of the text, in code points.
func (c *resultCase) usedWithin(spans [][2]int) float64 {
	kept := 0
	for _, u := range c.Used {
		if within(u.Spans, spans) {
			kept++
		}
	}
	return float64(kept) / float64(len(c.Used))
}

func within(things, spans [][2]int) bool {
	for _, t := range things {
		for _, s := range spans {
			if s[0] <= t[0] && t[1] <= s[1] {
				return true
			}
		}
	}
	return false
}

// resultScore is what one method keeps on average.
type resultScore struct{ chars, used float64 }

// resultRow is a line of the table of results.
type resultRow struct {
	budget float64 // share of the characters
	scores map[string]resultScore
}

// resultBudgets are the shares of a text that the curve is drawn at.
var resultBudgets = []float64{.2, .3, .4, .5, .6, .7, .8}

const (
	byHeadTail = "head + tail"
	byBM25     = "BM25 ±3"
	byGoal     = "goal"
)

// measureResults shortens each result to shares of its length.
func measureResults(all []*resultCase) (rows []resultRow) {
	for _, b := range resultBudgets {
		sums := map[string]resultScore{}
		add := func(method string, chars, used float64) {
			s := sums[method]
			sums[method] = resultScore{s.chars + chars/float64(len(all)), s.used + used/float64(len(all))}
		}
		for _, c := range all {
			n := utf8.RuneCountInString(c.Text)
			limit := int(b * float64(n))
			out := c.shorten(limit)
			add(byGoal, float64(utf8.RuneCountInString(out))/float64(n), c.usedIn(out))
			add(byHeadTail, b, c.usedWithin([][2]int{{0, limit - limit/2}, {n - limit/2, n}}))
			add(byBM25, b, c.usedWithin(bm25Spans(c, limit)))
		}
		rows = append(rows, resultRow{b, sums})
	}
	return rows
}

// shorten is the text in at most so many characters, markers included, as near to that as the target can be set.
func (c *resultCase) shorten(limit int) string {
	const steps = 7
	best := string([]rune(c.Text)[:limit]) // it cannot be met: the beginning, as other tools do
	for low, high, i := 0, limit+limit/4, 0; i < steps && high-low > 1; i++ {
		target := (low + 3*high) / 4
		if i > 1 {
			target = (low + high) / 2
		}
		out, ok := excerpt.Cut(excerpt.Request{Text: c.Text, Goal: c.goal(), Target: target, ID: someID})
		if !ok || utf8.RuneCountInString(out) > limit {
			high = target
			continue
		}
		best, low = out, target
	}
	return best
}

const someID = "prn_00000000000000000000000000"

// defaultsKept is what some settings keep over all results.
type defaultsKept struct {
	max, target      int
	cut              int
	chars            float64 // of all results together
	used, ends, best float64 // by the goal, by head and tail of the same length; of the results that are cut
}

// measureDefaults shortens each result as the door does.
func measureDefaults(all []*resultCase, maxChars, target int) defaultsKept {
	d := defaultsKept{max: maxChars, target: target}
	before, after := 0, 0
	for _, c := range all {
		n := utf8.RuneCountInString(c.Text)
		out := c.Text
		if n > maxChars {
			if short, ok := excerpt.Cut(excerpt.Request{Text: c.Text, Goal: c.goal(), Target: excerpt.TargetOf(target, n), ID: someID}); ok {
				out = short
				d.cut++
				d.best += c.usedIn(short)
			}
		}
		kept := utf8.RuneCountInString(out)
		before, after = before+n, after+kept
		d.used += c.usedIn(out) / float64(len(all))
		d.ends += c.usedWithin([][2]int{{0, kept - kept/2}, {n - kept/2, n}}) / float64(len(all))
	}
	d.chars, d.best = float64(after)/float64(before), d.best/float64(max(d.cut, 1))
	return d
}

const resultsPreface = `
## MCP results

What the aggregate's ` + "`mode = \"goal\"`" + ` keeps of results of real servers: %d results of 3 000 characters and more (pages, snapshots of pages, files, tables,
JSON), 15 kinds of servers. A thing counts as used if the agent wrote it later and had it from nowhere else: references, addresses, numbers, names,
runs of words. The goal is what the door sees: the arguments, the tool's name, the three calls before. What is left is counted with its markers;
head + tail and BM25 are given all characters of the budget without any. ` + "`go run ./test/eval -results`" + ` prints this.

| share of used things kept, by share of the characters |`

const resultsMiddle = `
With the settings, over all results (those up to ` + "`max_chars`" + ` pass whole):

| max_chars | target_chars | results cut | characters kept | used things kept | head + tail of the same length | used things kept of what is cut |
|---|---|---|---|---|---|---|
`

// writeResults writes the section of the report.
func writeResults(out io.Writer, all []*resultCase) {
	fmt.Fprintf(out, resultsPreface, len(all))
	rows := measureResults(all)
	for _, r := range rows {
		fmt.Fprintf(out, " %.1f |", r.budget)
	}
	fmt.Fprintf(out, "\n|---|%s\n", strings.Repeat("---|", len(rows)))
	for _, m := range []string{byHeadTail, byBM25, byGoal} {
		fmt.Fprintf(out, "| %s |", m)
		for _, r := range rows {
			fmt.Fprintf(out, " %s |", short(r.scores[m].used))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprint(out, "| characters that the goal really keeps |")
	for _, r := range rows {
		fmt.Fprintf(out, " %s |", short(r.scores[byGoal].chars))
	}
	fmt.Fprint(out, "\n", resultsMiddle)
	for _, d := range [][2]int{{6000, 4000}, {8000, 6000}, {10000, 6000}, {10000, 8000}, {12000, 8000}} {
		k := measureDefaults(all, d[0], d[1])
		fmt.Fprintf(out, "| %d | %d | %d | %s | %s | %s | %s |\n", k.max, k.target, k.cut, short(k.chars), short(k.used), short(k.ends), short(k.best))
	}
}
