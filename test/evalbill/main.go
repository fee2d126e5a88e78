// Command evalbill measures what recorded agent runs cost. It sends the runs below $EVALDATA request
// by request through the program's door for chat completions, as `secateur init` sets it up, to a provider that counts
// tokens in its own way and keeps its own books, and prints what was paid beside what the program told.
//
//	go run ./test/evalbill
//
// It fails where a run was ever dearer than passing through.
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
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	only := flag.String("run", "", "only runs whose name contains this")
	most := flag.Int("requests", 0, "at most so many requests of each run; 0: all")
	each := flag.Bool("each", false, "print every run")
	limit := flag.Duration("time", 10*time.Minute, "give up after this long")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := run(ctx, os.Stdout, *only, *most, *each); err != nil {
		fmt.Fprintln(os.Stderr, "evalbill:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to do for what was deferred
	}
}

func run(ctx context.Context, w io.Writer, only string, most int, each bool) error {
	data := cmp.Or(os.Getenv("EVALDATA"), "../shared/evaldata")
	all, err := readSessions(filepath.Join(data, "sessions"))
	if err != nil {
		return err
	}
	var sessions []session
	for _, s := range all {
		if strings.Contains(s.ID, only) {
			sessions = append(sessions, s)
		}
	}
	if len(sessions) == 0 {
		return fmt.Errorf("no run's name contains %q", only)
	}
	outcomes, err := playAll(ctx, sessions, most)
	if err != nil {
		return err
	}
	if each {
		for i, p := range allPrices {
			printEach(w, p, outcomes[i])
		}
	}
	printTotals(w, outcomes)
	dear := 0
	for i, p := range allPrices {
		dear += printDear(w, p, outcomes[i])
	}
	if dear > 0 {
		return errors.New("runs were dearer than passing through")
	}
	return nil
}

// atOnce is how many runs are played at the same time.
const atOnce = 2

// playAll plays every run at every price, and gives the outcomes by price.
func playAll(ctx context.Context, sessions []session, most int) ([][]outcome, error) {
	outcomes := make([][]outcome, len(allPrices))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, p := range allPrices {
		outcomes[i] = make([]outcome, len(sessions))
		for j := range sessions {
			g.Go(func() (err error) {
				outcomes[i][j], err = play(ctx, &sessions[j], p, most)
				return err
			})
		}
	}
	return outcomes, g.Wait()
}
