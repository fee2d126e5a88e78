// Command prose counts comments that are hard to read: lines over 110 columns, sentences over 30 words, and words of
// a style that we left. The counts may only fall: limits.txt beside this file holds them.
//
//	go run ./test/prose         prints the counts, and fails if one has grown
//	go run ./test/prose -list   prints each place as well
//	go run ./test/prose -write  lowers the limits to the counts
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const limitsFile = "test/prose/limits.txt"

func main() {
	list := flag.Bool("list", false, "print each place")
	write := flag.Bool("write", false, "lower the limits to the counts")
	flag.Parse()
	if err := run(*list, *write); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(list, write bool) error {
	var found []finding
	for _, root := range []string{"cmd", "internal", "test", "web"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(file, ".go"):
				return nil
			}
			source, err := os.ReadFile(file) //nolint:gosec // our own sources
			if err == nil {
				found = append(found, look(file, source)...)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	counts := map[kind]int{}
	for _, f := range found {
		counts[f.kind]++
		if list {
			fmt.Printf("%s:%d: %s: %s\n", f.file, f.line, f.kind, f.text)
		}
	}
	return compare(counts, write)
}

// compare holds the counts against the limits, and writes them down if asked.
func compare(counts map[kind]int, write bool) error {
	b, err := os.ReadFile(limitsFile)
	if err != nil {
		return err
	}
	var next strings.Builder
	var grown []string
	for _, k := range kinds {
		limit := limitOf(string(b), k)
		fmt.Printf("%6d %s (at most %d)\n", counts[k], k, limit)
		if counts[k] > limit {
			grown = append(grown, fmt.Sprintf("%d more %s than before", counts[k]-limit, k))
		}
		fmt.Fprintf(&next, "%s: %d\n", k, min(limit, counts[k]))
	}
	if len(grown) > 0 {
		return fmt.Errorf("%s: run 'go run ./test/prose -list' and rewrite the new ones", strings.Join(grown, ", "))
	}
	if write {
		return os.WriteFile(limitsFile, []byte(next.String()), 0o644) //nolint:gosec // a source file
	}
	return nil
}

// limitOf reads a line "kind: number". A kind without one may not occur.
func limitOf(limits string, k kind) (n int) {
	for line := range strings.Lines(limits) {
		if rest, ok := strings.CutPrefix(line, string(k)+": "); ok {
			_, _ = fmt.Sscan(rest, &n)
		}
	}
	return n
}
