package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tiktoken-go/tokenizer"

	"secateur/internal/prune"
	"secateur/test/eval/cases"
)

// markersOf returns the markers that pruning a text leaves, one per line.
func markersOf(c *cases.Case, text string) string {
	source, err := prune.ParseSource(c.SourceType)
	if err != nil {
		return ""
	}
	id := anID(text)
	res := prune.Plan(prune.Request{
		Text: text, Goal: c.Goal, Source: source, MaxPruneRatio: .7, Structure: prune.Enclosing,
		Marker: func(b prune.Block) string { return prune.Marker(id, b) },
	})
	var b strings.Builder
	for _, block := range res.Blocks {
		b.WriteString(prune.Marker(id, block) + "\n")
	}
	return b.String()
}

// anID returns a plausible id for a text.
func anID(text string) string {
	sum := sha256.Sum256([]byte(text))
	id := []byte("prn_")
	for _, b := range sum[:26] {
		id = append(id, "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[b&31])
	}
	return string(id)
}

// judgeSaved prints the error of the estimated savings of pruning against the tokenizer's count,
// including markers.
func judgeSaved(out io.Writer, all []*cases.Case, codec tokenizer.Codec) error {
	const id = "prn_R5JT960T52MN9N4FMKV3BW2QZ4"
	fmt.Fprintf(out, "%-8s %5s %8s %8s %8s %8s\n", "saved", "n", "error", "median", "bias", "total")
	for _, set := range []string{"code", "views", "docs", "logs"} {
		var errs []float64
		bias, est, real := 0.0, 0.0, 0.0
		for i, c := range all {
			if c.Set != set || i%5 != 0 || len(c.Text) > 60_000 {
				continue
			}
			source, err := prune.ParseSource(c.SourceType)
			if err != nil {
				return err
			}
			text := strings.ToValidUTF8(c.Text, "")
			res := prune.Plan(prune.Request{
				Text: text, Goal: c.Goal, Source: source, MaxPruneRatio: .7, Structure: prune.Enclosing,
				Marker: func(b prune.Block) string { return prune.Marker(id, b) },
			})
			pruned, _ := prune.Render(text, res, id, false, true)
			before, err := codec.Count(text)
			if err != nil {
				return err
			}
			after, err := codec.Count(pruned)
			if err != nil {
				return err
			}
			saved := float64(before - after)
			told := float64(source.Tokens(text) - source.Tokens(pruned))
			if saved < 50 {
				continue
			}
			e := told/saved - 1
			errs = append(errs, math.Abs(e))
			bias += e
			est += told
			real += saved
		}
		if len(errs) == 0 {
			continue
		}
		sum := 0.0
		for _, e := range errs {
			sum += e
		}
		slices.Sort(errs)
		n := float64(len(errs))
		fmt.Fprintf(out, "%-8s %5d %8.3f %8.3f %+8.3f %+8.3f\n", set, len(errs), sum/n, errs[len(errs)/2], bias/n, est/real-1)
	}
	return nil
}
