// Command evalbill measures what the masking costs and saves on recorded agent
// runs. It reads the sessions below $EVALDATA, prints what each strategy would
// have cost, and writes the totals to docs/bill.md.
//
//	go run ./test/evalbill
//
// It fails where a figure is missed.
package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"secateur/internal/chat"
	"secateur/internal/replay"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "evalbill:", err)
		os.Exit(1) //nolint:gocritic // stop has nothing left to do
	}
}

func run(ctx context.Context, w io.Writer) error {
	data := cmp.Or(os.Getenv("EVALDATA"), "../shared/evaldata")
	files, err := filepath.Glob(filepath.Join(data, "sessions", "*.jsonl.gz"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no sessions in %s: set EVALDATA", data)
	}
	var sessions []replay.Session
	for _, f := range files {
		s, err := replay.ReadFile(f)
		if err != nil {
			return err
		}
		sessions = append(sessions, s...)
	}
	pruning := chat.DefaultPruning()
	pruning.MinChars = 4000
	report, err := replay.Run(ctx, sessions, replay.Options{
		Strategies: replay.Strategies(chat.Default(), pruning),
		Tables:     replay.Tables(),
	})
	if err != nil {
		return err
	}
	if err := report.WriteText(w); err != nil {
		return err
	}
	misses := check(report)
	if err := writeDoc(report, misses); err != nil {
		return err
	}
	for _, m := range misses {
		fmt.Fprintln(w, "missed:", m)
	}
	if len(misses) > 0 {
		return fmt.Errorf("%d figures missed", len(misses))
	}
	return nil
}

// figure is what a strategy may cost at most, for each table, and the worst session.
type figure struct {
	strategy string
	ratio    []float64
	worst    float64
	lost     float64 // share of changed results; 0: not judged
}

var figures = []figure{
	{"priced + pruning", []float64{0.79, 0.78, 0.75, 0.83, 0.68, 0.64}, 1.00, 0},
	{"priced, max_loss 0.05", []float64{0.90, 0.86, 0.82, 1.00, 0.72, 0.68}, 1.05, 0},
	{"pruning", nil, 1.00, 0.20},
	{"priced", nil, 1.00, 0},
}

// rounding is by how much a bill may be off because caches work in blocks.
const rounding = 0.0005

func check(r *replay.Report) []string {
	var misses []string
	for _, f := range figures {
		for _, s := range r.Strategies {
			if s.Name != f.strategy {
				continue
			}
			for i, t := range s.Totals {
				if f.ratio != nil && t.Ratio > f.ratio[i]+rounding {
					misses = append(misses, fmt.Sprintf("%s at %s: %.3f, at most %.2f", s.Name, t.Table, t.Ratio, f.ratio[i]))
				}
				if t.Worst > f.worst+rounding {
					misses = append(misses, fmt.Sprintf("%s at %s: worst session %.3f, at most %.2f", s.Name, t.Table, t.Worst, f.worst))
				}
				if lost := float64(t.Faults.Lost); f.lost > 0 && lost > f.lost*float64(t.Faults.Changed) {
					misses = append(misses, fmt.Sprintf("%s at %s: %d of %d lost", s.Name, t.Table, t.Faults.Lost, t.Faults.Changed))
				}
			}
		}
	}
	return misses
}

const head = `# What masking costs and saves

Written by ` + "`go run ./test/evalbill`" + `: recorded agent runs, sent request by request through the masking as the
proxy does it, priced with a model of the provider's prompt cache (blocks of 128 tokens, nothing below 1024, always
warm). %d sessions, %d requests. In brackets after a table's name: the price of a cached token and of writing one,
over that of an uncached one. Output tokens are the same either way and are left out. ` + "`sliding`" + ` keeps 8 turns,
` + "`stepped`" + ` moves its boundary 8 turns at a time, pruning has ` + "`min_chars = 4000`" + `.

`

func writeDoc(r *replay.Report, misses []string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, head, r.Sessions, r.Requests)
	if err := r.WriteMarkdown(&b); err != nil {
		return err
	}
	for _, m := range misses {
		fmt.Fprintf(&b, "Missed: %s\n", m)
	}
	return os.WriteFile(filepath.Join("docs", "bill.md"), append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), 0o644) //nolint:gosec // a page of the documentation
}
