// Package toolcases reads the evaluation data for tool search and scores rankings.
package toolcases

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"secateur/internal/mcp/toolindex"
)

// Source is a catalogue and the queries for it.
type Source struct {
	Name    string
	Items   []toolindex.Item
	Queries []*Query
}

// Query is a wish and the tools that serve it.
type Query struct {
	ID     string              `json:"id"`
	Kind   string              `json:"kind"`
	Text   string              `json:"query"`
	Gold   []string            `json:"gold"`
	Same   [][]string          `json:"same"`
	Grades map[string]float64  `json:"grades"`
	Ignore []string            `json:"ignore"`
	Ref    map[string]*float64 `json:"ref"`
	Family string              `json:"family"`
	Source string              `json:"source"`
}

// Names are the sources there are.
var Names = []string{"azure", "livemcp", "metatool", "mcpproxy", "bfcl"}

// Load reads all sources below a folder.
func Load(folder string) ([]*Source, error) {
	var all []*Source
	for _, name := range Names {
		s := &Source{Name: name}
		raw, err := os.ReadFile(filepath.Join(folder, "tools-"+name+".json"))
		if err != nil {
			return nil, err
		}
		var tools []struct {
			Server      string `json:"server"`
			Name        string `json:"name"`
			Title       string `json:"title"`
			Description string `json:"description"`
			InputSchema struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"inputSchema"`
		}
		if err := json.Unmarshal(raw, &tools); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, t := range tools {
			it := toolindex.Item{Server: t.Server, Name: t.Name, Title: t.Title, Description: t.Description}
			for k := range t.InputSchema.Properties {
				it.Arguments = append(it.Arguments, k)
			}
			slices.Sort(it.Arguments)
			s.Items = append(s.Items, it)
		}
		if s.Queries, err = queries(filepath.Join(folder, "queries-"+name+".jsonl.gz")); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func queries(file string) ([]*Query, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var all []*Query
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		q := &Query{}
		if err := json.Unmarshal(lines.Bytes(), q); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, q)
	}
	return all, lines.Err()
}

// ID is an item's name in the data.
func ID(it toolindex.Item) string { return it.Server + "::" + it.Name }

// Needs are the tools that a query needs: any one of each group.
func (q *Query) Needs() [][]string {
	var out [][]string
	done := map[string]bool{}
	for _, g := range q.Gold {
		if done[g] {
			continue
		}
		group := []string{g}
		for _, same := range q.Same {
			if slices.Contains(same, g) {
				group = same
				break
			}
		}
		for _, id := range group {
			done[id] = true
		}
		out = append(out, group)
	}
	return out
}

// Score is how well a ranking serves a query.
type Score struct{ Top1, Top3, Top5, Top10, NDCG float64 }

// Score judges a ranking of ids.
func (q *Query) Score(ranked []string) Score {
	ranked = slices.DeleteFunc(slices.Clone(ranked), func(id string) bool { return slices.Contains(q.Ignore, id) })
	needs := q.Needs()
	var s Score
	var dcg float64
	var gains []float64
	for _, group := range needs {
		gain := 1.0
		if q.Grades != nil {
			gain = 0
			for _, id := range group {
				gain = max(gain, q.Grades[id])
			}
		}
		gains = append(gains, gain)
		at := slices.IndexFunc(ranked, func(id string) bool { return slices.Contains(group, id) })
		if at < 0 {
			continue
		}
		one := 1 / float64(len(needs))
		for _, c := range []struct {
			k  int
			to *float64
		}{{1, &s.Top1}, {3, &s.Top3}, {5, &s.Top5}, {10, &s.Top10}} {
			if at < c.k {
				*c.to += one
			}
		}
		if at < 10 {
			dcg += gain / math.Log2(float64(2+at))
		}
	}
	slices.SortFunc(gains, func(a, b float64) int { return -int(math.Copysign(1, a-b)) })
	var best float64
	for i, g := range gains[:min(10, len(gains))] {
		best += g / math.Log2(float64(2+i))
	}
	if best > 0 {
		s.NDCG = dcg / best
	}
	return s
}
