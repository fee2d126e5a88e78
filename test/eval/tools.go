package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"secateur/test/eval/toolcases"
	"secateur/test/eval/toolfit"
)

// evaluateTools judges the ranker of tool search and writes its table into a page, between two marks.
func evaluateTools(out io.Writer, page string) error {
	sources, err := toolcases.Load(toolcases.Folder())
	if err != nil {
		return err
	}
	shipped := toolcases.Judge(sources, toolfit.Shipped().Rank, toolfit.Everything)
	families, others := toolfit.UnseenFamilies(sources), toolfit.UnseenSources(sources)
	toolcases.Print(out, "as shipped", shipped)
	toolcases.Print(out, "families unseen", families)
	toolcases.Print(out, "sources unseen", others)
	var b bytes.Buffer
	b.WriteString("| top 1 / top 5 | queries | BM25 | families unseen | sources unseen | as shipped |\n|---|---|---|---|---|---|\n")
	for _, row := range toolcases.Rows {
		n, s := shipped.Mean(row)
		_, f := families.Mean(row)
		_, o := others.Mean(row)
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s |\n", row, n, bm25[row], pair(f), pair(o), pair(s))
	}
	const begin, end = "<!-- table -->\n", "<!-- /table -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s: the marks of the table are missing", page)
	}
	return os.WriteFile(page, []byte(head+begin+b.String()+end+tail), 0o644) //nolint:gosec // documentation
}

func pair(s toolcases.Score) string {
	return strings.ReplaceAll(fmt.Sprintf("%.2f / %.2f", s.Top1, s.Top5), "0.", ".")
}

// bm25 are the figures that come with the data.
var bm25 = map[string]string{
	"azure prompt": ".75 / .96", "livemcp step": ".62 / .84", "livemcp agent-phrase": ".45 / .77", "livemcp question": ".22 / .43",
	"metatool question": ".46 / .65", "mcpproxy question": ".49 / .74", "bfcl question": ".62 / .86",
}
