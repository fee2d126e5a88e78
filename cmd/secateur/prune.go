package main

import (
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/ops/telemetry"
	"secateur/internal/prune/pruner"
)

func newPrune(w world) *cobra.Command {
	var file, structure string
	run := pruner.PruneCommand{Ratio: 0.5, Timeout: 10 * time.Second, Out: exact(w.out), Err: w.err, Colour: w.colour}
	if w.kind == toTerminal {
		run.Show = visible
	}
	var bare bool
	cmd := &cobra.Command{
		Use:   "prune [FILE…]",
		Short: "Prune files or standard input for a goal",
		Long: `prune prints what of its input matters for a goal, and a marker for each cut; what it did
goes to standard error. 'secateur recover ID' restores the cut lines. On a terminal, characters
that it would act on or hide are escaped.

  secateur prune --goal "why did the build fail" build.log
  git show HEAD:main.go | secateur prune --goal "parse the flags" --ratio 0.7`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkPruneFlags(run, structure); err != nil {
				return err
			}
			inputs, closeAll := w.open(args)
			defer closeAll()
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				return err
			}
			if structure != "" {
				cfg.Pruner.Structure = structure
			}
			w.keepOnDisk(cfg)
			cfg.Store.PutTimeout = 0 // a person waits, however large the text
			p, err := app.NewPruner(app.Options{
				Config: cfg, Version: version, Home: w.home, StateDir: w.stateDir, StoreGiven: true,
				Log: telemetry.NewLogger(w.err, max(cfg.Level(), slog.LevelWarn), cfg.StructuredLogging),
			})
			if err != nil {
				return err
			}
			run.Inputs, run.Markers = inputs, !bare
			if run.JSON {
				run.Out = w.out
			}
			return p.Prune(cmd.Context(), run)
		},
	}
	f := cmd.Flags()
	configFlag(cmd, &file)
	f.StringVarP(&run.Goal, "goal", "g", "", "what you are after, in words")
	f.StringVarP(&run.Type, "type", "t", "", "`kind` of text: code, logs or docs (default: guessed from name and content); gzip and UTF-16 are read, other binary files refused")
	f.Float64VarP(&run.Ratio, "ratio", "r", run.Ratio, "at most this share of the lines is cut, 0 to 1")
	f.IntVar(&run.MinKeepLines, "min-keep", 0, "at least so many `lines` stay")
	f.StringVar(&structure, "structure", "", "which structural lines must stay: all or enclosing (default: as configured)")
	f.DurationVar(&run.Timeout, "timeout", run.Timeout, "for each file, and half a second more for each megabyte; after it the file is printed whole")
	f.BoolVarP(&run.Numbers, "numbers", "n", false, "put line numbers before the kept lines")
	f.BoolVar(&bare, "no-markers", false, "leave the markers out")
	f.BoolVar(&run.JSON, "json", false, "print the full result, one JSON object a file")
	return cmd
}

func checkPruneFlags(run pruner.PruneCommand, structure string) error {
	switch {
	case run.Ratio < 0 || run.Ratio > 1 || math.IsNaN(run.Ratio):
		return usage("--ratio must be from 0 to 1")
	case run.MinKeepLines < 0:
		return usage("--min-keep must not be negative")
	case run.Type != "" && !slices.Contains([]string{"code", "logs", "docs"}, run.Type):
		return usage("--type must be code, logs or docs")
	case structure != "" && structure != "all" && structure != "enclosing":
		return usage("--structure must be all or enclosing")
	case run.Timeout <= 0:
		return usage("--timeout must be more than 0")
	}
	return nil
}

// open opens the files; none, or -, is standard input. One that cannot be opened does not stop the others.
func (w world) open(names []string) (inputs []pruner.Input, closeAll func()) {
	var files []*os.File
	closeAll = func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if name == "-" {
			inputs = append(inputs, pruner.Input{From: w.in})
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			inputs = append(inputs, pruner.Input{Name: name, Err: err})
			continue
		}
		files = append(files, f)
		inputs = append(inputs, pruner.Input{Name: name, From: f})
	}
	return inputs, closeAll
}

// keepOnDisk lets a command that ends at once keep its originals all the same: where the configuration names no store
// that outlives it, they go to the user's cache.
func (w world) keepOnDisk(cfg *config.Config) {
	if w.cacheDir == "" || strings.HasPrefix(cfg.Store.URL, "file:") {
		return
	}
	cfg.Store.URL = "file:" + filepath.Join(w.cacheDir, "secateur", "originals")
}
