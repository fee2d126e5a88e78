// Command evalformats measures whether a conversation costs the same in every format. It converts
// the recorded runs below $EVALDATA to chat completions, Anthropic Messages and OpenAI Responses.
// It sends each request by request through the program's door, which prunes big results, to a
// provider that keeps its own books. It prints the amount paid relative to the pass-through cost.
//
//	go run ./test/evalformats
//
// It fails if a run was dearer than passing through, or if the formats differ.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// far is the allowed difference between the ratios of two formats. Their envelopes have different
// lengths, and caches with other lookup places find a little more or less.
const far = 0.02

func main() {
	only := flag.String("run", "", "only runs of files whose name contains this")
	most := flag.Int("requests", 20, "at most so many requests of each run")
	flag.BoolVar(&repeats, "repeats", true, "refer to lines that an earlier result shows")
	flag.StringVar(&arguments, "arguments", "off", "on: cut long arguments of calls")
	limit := flag.Duration("time", 10*time.Minute, "give up after this long")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := run(ctx, *only, *most); err != nil {
		fmt.Fprintln(os.Stderr, "evalformats:", err)
		os.Exit(1) //nolint:gocritic // no deferred work is left
	}
}

func run(ctx context.Context, only string, most int) error {
	data := cmp.Or(os.Getenv("EVALDATA"), "../shared/evaldata")
	sessions, err := readSessions(filepath.Join(data, "sessions"), only)
	if err != nil {
		return err
	}
	// One of each pair is the chat completion with the same rates.
	pairs := [][2]lane{
		{{chat, "gpt-5"}, {responses, "gpt-5"}},
		{{chat, "claude-sonnet-4-5"}, {messages, "claude-sonnet-4-5"}},
	}
	var faults []string
	for _, pair := range pairs {
		fmt.Printf("%-44s %8s %18s %18s %8s\n", pair[0].model, "requests", "chat completions", pair[1].format, "pruned")
		for i := range sessions {
			var got [2]outcome
			for j, l := range pair {
				if got[j], err = play(ctx, &sessions[i], l, most); err != nil {
					return fmt.Errorf("%s in %s: %w", sessions[i].ID, l.format, err)
				}
			}
			a, b := got[0], got[1]
			fmt.Printf("%-44.44s %8d %18.4f %18.4f %4d/%-4d\n", sessions[i].ID, a.requests, a.ratio, b.ratio, a.pruned, b.pruned)
			if max(a.ratio, b.ratio) > 1 || !agree(a, b, pair[1].format) {
				faults = append(faults, sessions[i].ID+" at "+pair[0].model)
			}
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%d runs cost another bill in another format, or more than passing through: %s", len(faults), strings.Join(faults, ", "))
	}
	return nil
}

// agree reports whether a run costs the same in both formats. If both are cached in blocks, the
// same results are pruned. Marks match to the token, so a result too small to save a block may be
// pruned in Messages alone. Messages must then be cheaper.
func agree(a, b outcome, format string) bool {
	if format == messages && b.pruned > a.pruned {
		return b.ratio < a.ratio
	}
	return a.pruned == b.pruned && math.Abs(a.ratio-b.ratio) <= far
}
