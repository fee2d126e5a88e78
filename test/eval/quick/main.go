// Command quick prints recall and gain of the shipped models on views.
package main

import (
	"fmt"
	"os"
	"strings"

	"secateur/internal/prune"
	"secateur/test/eval/cases"
)

func main() {
	all, err := cases.Load(cases.Folder())
	if err != nil {
		panic(err)
	}
	set := "views"
	if len(os.Args) > 1 {
		set = os.Args[1]
	}
	for _, goal := range []string{"hint", "flat", "parts"} {
		for _, group := range []string{"all", "numbered", "plain"} {
			fmt.Printf("%-6s %-9s", goal, group)
			for _, ratio := range []float64{.3, .5, .7, .9} {
				sum, kn, n := 0.0, 0.0, 0.0
				for _, c := range all {
					if c.Set != set || group == "numbered" && !c.Numbered || group == "plain" && c.Numbered {
						continue
					}
					src, _ := prune.ParseSource(c.SourceType)
					req := prune.Request{Text: c.Text, Goal: c.Goal, Source: src, MaxPruneRatio: ratio, Structure: prune.Enclosing}
					switch goal {
					case "flat":
						req.Goal += "\n" + c.Task
					case "parts":
						req.Parts = []prune.Part{{Text: c.Task, Weight: 1}}
					}
					res := prune.Plan(req)
					kept := map[int]bool{}
					for i := 1; i <= res.Lines; i++ {
						kept[i] = true
					}
					for _, b := range res.Blocks {
						for i := b.Start; i <= b.End; i++ {
							delete(kept, i)
						}
					}
					k := 0
					for _, g := range c.Gold {
						if kept[g] {
							k++
						}
					}
					filled, keptFilled := 0, 0
					for i, l := range strings.Split(strings.TrimSuffix(c.Text, "\n"), "\n") {
						if strings.Trim(l, " \t0123456789→:") == "" {
							continue
						}
						filled++
						if kept[i+1] {
							keptFilled++
						}
					}
					sum += float64(k) / float64(len(c.Gold))
					kn += float64(keptFilled) / float64(filled)
					n++
				}
				fmt.Printf("  %.3f(%.3f)", sum/n, (sum-kn)/(n-kn))
			}
			fmt.Println()
		}
	}
}
