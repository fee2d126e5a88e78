package prune

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// manual is a typical web page: its text among scripts, styles, navigation and a table.
const manual = `<!DOCTYPE html>
<html lang="en">
<head>
<title>The store of originals</title>
<style>
.retention { color: red; }
</style>
<script>
var retention = "retention of originals";
function retentionOfOriginals() { return retention; }
</script>
</head>
<body>
<nav>
<ul>
<li><a href="#retention">Retention of originals</a></li>
<li><a href="#sizes">Sizes</a></li>
</ul>
</nav>
<main>
<h1>The store</h1>
<p>Every cut can be undone as long as
the original is there.</p>
<h2 id="sizes">Sizes</h2>
<p>The store takes at most so many bytes. Once it is full
nothing more is cut, or the oldest goes.</p>
<!-- retention of originals:
to be written -->
<h2
 id="retention"
 class="section">
Retention
</h2>
<p>Originals are kept for a day. Each recovery
renews their time.</p>
<table>
<thead><tr>
<th>Key</th>
<th>Default</th>
</tr></thead>
<tr>
<td>max_bytes</td>
<td>268435456</td>
</tr>
<tr>
<td>ttl_s</td>
<td>86400</td>
</tr>
<tr>
<td>when_full</td>
<td>refuse</td>
</tr>
</table>
<h2>Colophon</h2>
<p>Set in a grotesque.</p>
</main>
<footer>
<p>Retention of originals since 2024</p>
</footer>
</body>
</html>
`

// keptOf returns the lines that a plan keeps.
func keptOf(text string, res Result) (kept []string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	b := 0
	for i, line := range lines {
		for b < len(res.Blocks) && res.Blocks[b].End < i+1 {
			b++
		}
		if b == len(res.Blocks) || i+1 < res.Blocks[b].Start {
			kept = append(kept, line)
		}
	}
	return kept
}

func TestHTMLIsReadByItsStructure(t *testing.T) {
	for goal, c := range map[string]struct {
		ratio         float64
		keeps, leaves []string
	}{
		"retention of originals": {
			.8,
			[]string{"<title>The store of originals</title>", "Retention", "<p>Originals are kept for a day. Each recovery", "renews their time.</p>"},
			[]string{"var retention = \"retention of originals\";", "<li><a href=\"#retention\">Retention of originals</a></li>", "<p>Retention of originals since 2024</p>", "to be written -->"},
		},
		"default of ttl_s": {
			.86,
			[]string{"<td>ttl_s</td>", "<td>86400</td>", "<th>Key</th>", "<th>Default</th>", "Retention"},
			[]string{"<td>when_full</td>", "<td>refuse</td>", "<p>Set in a grotesque.</p>"},
		},
		"what happens once the store is full of bytes": {
			.85,
			[]string{"<h2 id=\"sizes\">Sizes</h2>", "<p>The store takes at most so many bytes. Once it is full", "nothing more is cut, or the oldest goes.</p>"},
			[]string{"<p>Set in a grotesque.</p>", "<li><a href=\"#sizes\">Sizes</a></li>"},
		},
	} {
		for name, text := range map[string]string{"plain": manual, "numbered": numbered(manual)} {
			kept := keptOf(text, Plan(Request{Text: text, Goal: goal, Source: Guess("", text), MaxPruneRatio: c.ratio, Structure: Enclosing}))
			if name == "numbered" {
				for i, line := range kept {
					_, kept[i], _ = strings.Cut(line, "\t")
				}
			}
			for _, line := range c.keeps {
				if !slices.Contains(kept, line) {
					t.Errorf("%s, %s: %q is cut; kept:\n%s", goal, name, line, strings.Join(kept, "\n"))
				}
			}
			for _, line := range c.leaves {
				if slices.Contains(kept, line) {
					t.Errorf("%s, %s: %q is kept", goal, name, line)
				}
			}
		}
	}
}

func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%6d\t%s", i+1, line)
	}
	return b.String() + "\n"
}

func TestReasonsOfHTMLHaveNoTags(t *testing.T) {
	res := Plan(Request{Text: manual, Goal: "default of ttl_s", Source: Docs, MaxPruneRatio: .8, Structure: Enclosing})
	var reasons []string
	for _, b := range res.Blocks {
		reasons = append(reasons, b.Reason)
		if strings.Contains(b.Reason, "<") {
			t.Errorf("reason %q", b.Reason)
		}
	}
	if !slices.Contains(reasons, "scripts, styles, navigation") || !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(r, "Sizes") }) {
		t.Errorf("reasons %q", reasons)
	}
}

// TestWhatIsNeverClosedHidesNothing: a page is read as far as possible, however it is written.
func TestWhatIsNeverClosedHidesNothing(t *testing.T) {
	for name, c := range map[string]struct{ page, want string }{
		"an open element":        {"<div>\n<nav>\n<p>one</p>\n<p>two</p>\n", "one|two"},
		"a comment":              {"<div>\none <!-- two\n", "one"},
		"a tag over lines":       {"<a\n href=\"<x>\"\n title=y>one</a>\n", "one"},
		"a sign in the text":     {"<p>1 < 2 <b>and</b> 3</p>\n", "1|< 2|and|3"},
		"nested":                 {"<nav><nav>one</nav>two</nav>three\n", "three"},
		"upper case":             {"<NAV>one</NAV><P>two</P>\n", "one|two"},
		"script with signs":      {"<script>if (a < b) { x = '<p>' }</script><p>one</p>\n", "one"},
		"an element of one tag":  {"<p>one<svg/>two</p>\n", "one|two"},
		"nothing but a bracket":  {"<\n", "<"},
		"a tag that ends a file": {"<p>one<", "one|<"},
	} {
		lines := IndexLines(c.page)
		p := readPage(lines, decoration{})
		var got []string
		for i := range lines.Len() {
			for _, s := range p.of(i) {
				got = append(got, c.page[s.from:s.to])
			}
		}
		if text := strings.Join(got, "|"); text != c.want {
			t.Errorf("%s: %q is read, want %q", name, text, c.want)
		}
	}
}
