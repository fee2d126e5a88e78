package toolcases

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"secateur/internal/mcp/toolindex"
)

// Folder is where the data is.
func Folder() string {
	if dir := os.Getenv("EVALDATA"); dir != "" {
		return filepath.Join(dir, "tools")
	}
	return filepath.Join("..", "shared", "evaldata", "tools")
}

// Ranker makes of a catalogue a function that ranks its tools for a query.
type Ranker func([]toolindex.Item) func(query string) []string

// Results are the scores of queries, by source and kind.
type Results map[string][]Score

// Add adds others.
func (r Results) Add(more Results) {
	for k, s := range more {
		r[k] = append(r[k], s...)
	}
}

// Judge scores a ranker on some of the queries.
func Judge(sources []*Source, rank Ranker, use func(*Query) bool) Results {
	out := Results{}
	for _, s := range sources {
		ranked := rank(s.Items)
		for _, q := range s.Queries {
			if use(q) {
				key := s.Name + " " + q.Kind
				out[key] = append(out[key], q.Score(ranked(q.Text)))
			}
		}
	}
	return out
}

// Rows are the sources and kinds, in the order of the table.
var Rows = []string{
	"azure prompt", "livemcp step", "livemcp agent-phrase", "livemcp question", "metatool question", "mcpproxy question", "bfcl question",
}

// Mean is the mean of a row.
func (r Results) Mean(row string) (n int, mean Score) {
	all := r[row]
	for _, s := range all {
		mean.Top1 += s.Top1 / float64(len(all))
		mean.Top3 += s.Top3 / float64(len(all))
		mean.Top5 += s.Top5 / float64(len(all))
		mean.Top10 += s.Top10 / float64(len(all))
		mean.NDCG += s.NDCG / float64(len(all))
	}
	return len(all), mean
}

// Print writes a table.
func Print(out io.Writer, title string, r Results) {
	fmt.Fprintf(out, "%-24s %5s %6s %6s %6s %6s %6s\n", title, "n", "top1", "top3", "top5", "top10", "nDCG")
	for _, row := range Rows {
		if !slices.Contains(Rows, row) || len(r[row]) == 0 {
			continue
		}
		n, m := r.Mean(row)
		fmt.Fprintf(out, "%-24s %5d %6.3f %6.3f %6.3f %6.3f %6.3f\n", row, n, m.Top1, m.Top3, m.Top5, m.Top10, m.NDCG)
	}
}
