package main

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// bm25Spans are the best parts of a text by BM25 for what the door sees, each score spread over three parts on both sides: in code points.
func bm25Spans(c *resultCase, limit int) [][2]int {
	runes := []rune(c.Text)
	parts := textParts(runes)
	goal := map[string]bool{}
	said := []string{c.Tool, c.About}
	said = append(said, jsonStrings(c.Arguments)...)
	for _, b := range c.Before {
		said = append(append(said, b.Tool), jsonStrings(b.Arguments)...)
	}
	for _, w := range lowerWords(strings.Join(said, " ")) {
		goal[w] = len(w) > 1
	}
	docs, df, total := make([]map[string]int, len(parts)), map[string]int{}, 0
	sizes := make([]int, len(parts))
	for i, p := range parts {
		words := lowerWords(string(runes[p[0]:p[1]]))
		docs[i], sizes[i] = map[string]int{}, len(words)
		total += len(words)
		for _, w := range words {
			if goal[w] {
				if docs[i][w]++; docs[i][w] == 1 {
					df[w]++
				}
			}
		}
	}
	const k1, b, reach = 1.2, .5, 3
	n, mean := float64(len(parts)), max(1, float64(total)/float64(len(parts)))
	scores := make([]float64, len(parts))
	for i, d := range docs {
		s := 0.0
		for w, tf := range d {
			idf := math.Log(1 + (n-float64(df[w])+.5)/(float64(df[w])+.5))
			s += idf * float64(tf) * (k1 + 1) / (float64(tf) + k1*(1-b+b*float64(sizes[i])/mean))
		}
		for j := max(0, i-reach); s > 0 && j <= min(len(parts)-1, i+reach); j++ {
			scores[j] += s * (1 - math.Abs(float64(i-j))/(reach+1))
		}
	}
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		switch {
		case scores[x] > scores[y]:
			return -1
		case scores[x] < scores[y]:
			return 1
		}
		return 0
	})
	var kept [][2]int
	for _, i := range order {
		if size := parts[i][1] - parts[i][0]; size <= limit {
			limit -= size
			kept = append(kept, parts[i])
		}
	}
	return joined(kept)
}

// textParts are the lines of a text, long ones in parts of about 200.
func textParts(runes []rune) (out [][2]int) {
	const long, part = 300, 200
	for at := 0; at < len(runes); {
		end := at
		for end < len(runes) && runes[end] != '\n' {
			end++
		}
		end = min(end+1, len(runes))
		for ; end-at > long; at += part {
			out = append(out, [2]int{at, at + part})
		}
		out = append(out, [2]int{at, end})
		at = end
	}
	return out
}

// joined are spans in order, adjacent ones as one.
func joined(spans [][2]int) (out [][2]int) {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	for _, s := range spans {
		if n := len(out); n > 0 && out[n-1][1] >= s[0] {
			out[n-1][1] = max(out[n-1][1], s[1])
			continue
		}
		out = append(out, s)
	}
	return out
}

func lowerWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
