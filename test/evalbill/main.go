// Command evalbill measures the cost of recorded agent runs. It sends the runs below $EVALDATA
// request by request through the program's chat completions door, configured as by `secateur init`.
// The provider counts tokens in its own way and keeps its own books. The command prints what was
// paid beside what the program reported.
//
//	go run ./test/evalbill
//
// It fails if a run was ever dearer than passing through.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"secateur/test/provider"
)

func main() {
	only := flag.String("run", "", "only runs whose name contains this")
	most := flag.Int("requests", 0, "at most so many requests of each run; 0: all")
	tokenizer := flag.String("tokenizer", "word pieces", "the provider's: "+strings.Join(provider.Names(), " | ")+" | a file tokenizer.json")
	model := flag.String("model", "", "only prices of models whose name contains this")
	flag.BoolVar(&repeats, "repeats", true, "refer to lines that an earlier result shows")
	flag.StringVar(&arguments, "arguments", "off", "on: cut long arguments of calls")
	each := flag.Bool("each", false, "print every run")
	limit := flag.Duration("time", 10*time.Minute, "give up after this long")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := run(ctx, os.Stdout, options{*only, *model, *tokenizer, *most, *each}); err != nil {
		fmt.Fprintln(os.Stderr, "evalbill:", err)
		os.Exit(1) //nolint:gocritic // no deferred work is left
	}
}

// options say what to play.
type options struct {
	only, model, tokenizer string
	most                   int
	each                   bool
}

func run(ctx context.Context, w io.Writer, o options) error {
	split, err := tokenizer(o.tokenizer)
	if err != nil {
		return err
	}
	played := slices.DeleteFunc(slices.Clone(allPrices), func(p prices) bool { return !strings.Contains(p.model, o.model) })
	data := cmp.Or(os.Getenv("EVALDATA"), "../shared/evaldata")
	all, err := readSessions(filepath.Join(data, "sessions"))
	if err != nil {
		return err
	}
	var sessions []session
	for _, s := range all {
		if strings.Contains(s.ID, o.only) {
			sessions = append(sessions, s)
		}
	}
	if len(sessions) == 0 {
		return fmt.Errorf("no run's name contains %q", o.only)
	}
	best, err := limitsOf(ctx, sessions, played, split, o.most)
	if err != nil {
		return err
	}
	outcomes, err := playAll(ctx, sessions, played, split, o.most)
	if err != nil {
		return err
	}
	if o.each {
		for i, p := range played {
			printEach(w, p, outcomes[i])
		}
	}
	printTotals(w, played, outcomes, best)
	dear := 0
	for i, p := range played {
		printNames(w, p, outcomes[i])
		dear += printDear(w, p, outcomes[i])
	}
	if dear > 0 {
		return errors.New("runs were dearer than passing through")
	}
	return nil
}

// tokenizer returns one of the provider's by name, or one from a file.
func tokenizer(name string) (provider.Tokenizer, error) {
	if strings.HasSuffix(name, ".json") {
		return provider.Vocabulary(name)
	}
	split := provider.Tokenizers[name]
	if split == nil {
		return nil, fmt.Errorf("no tokenizer is called %q; there are: %s, and files *.json", name, strings.Join(provider.Names(), ", "))
	}
	return split, nil
}

// atOnce is how many runs are played concurrently.
const atOnce = 2

// playAll plays every run at every price, and returns the outcomes by price.
func playAll(ctx context.Context, sessions []session, played []prices, split provider.Tokenizer, most int) ([][]outcome, error) {
	outcomes := make([][]outcome, len(played))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, p := range played {
		outcomes[i] = make([]outcome, len(sessions))
		for j := range sessions {
			g.Go(func() (err error) {
				outcomes[i][j], err = play(ctx, &sessions[j], p, split, most)
				return err
			})
		}
	}
	return outcomes, g.Wait()
}

// ratios are the least cost of all runs together relative to passing through: at the end, and
// without ever exceeding it.
type ratios struct{ atTheEnd, always float64 }

func limitsOf(ctx context.Context, sessions []session, played []prices, split provider.Tokenizer, most int) ([]ratios, error) {
	all := make([][]least, len(sessions))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range sessions {
		g.Go(func() error {
			ruler := &provider.Ruler{Terms: played[0].terms, Split: split, Now: func() time.Time { return start }}
			whole, pruned, err := playPruned(ctx, &sessions[i], played[0], ruler, most)
			if err != nil {
				return fmt.Errorf("%s without masking: %w", sessions[i].ID, err)
			}
			all[i] = limits(ruler, &sessions[i], whole, pruned, played, most)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]ratios, len(played))
	for p := range played {
		var sum least
		for i := range sessions {
			l := all[i][p]
			sum = least{sum.atTheEnd + l.atTheEnd, sum.always + l.always, sum.through + l.through}
		}
		out[p] = ratios{sum.atTheEnd / sum.through, sum.always / sum.through}
	}
	return out, nil
}
