package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"secateur/internal/llm/discover"
	"secateur/internal/llm/replay"
)

func newDiscover(w world) *cobra.Command {
	var file, page string
	var from []string
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "discover [DIR|FILE…]",
		Short: "Read the sessions that agents recorded here: what they cost, what would be saved",
		Long: `discover reads the sessions that Claude Code, Codex and OpenCode have recorded on this machine,
and says what was paid at the prices of each day, output included, and what pruning and
masking would have saved, in money and tokens. It also names the most expensive tools, and shows
three results as they would have been sent. Nothing leaves the machine, and nothing is changed.

Without arguments it reads ~/.claude/projects, ~/.codex/sessions and ~/.local/share/opencode, or
where CLAUDE_CONFIG_DIR, CODEX_HOME and XDG_DATA_HOME say. Arguments and --from name other folders
and files: transcripts, rollouts, and what 'opencode export' writes.

Of large stores a sample of the sessions is played; --all plays every one. Prices are those of
the configuration, else list prices ('secateur prices --at DAY').`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				return err
			}
			stores := discover.Stores(w.home, w.lookup)
			if given := slices.Concat(from, args); len(given) > 0 {
				stores = nil
				for _, dir := range given {
					if _, err := os.Stat(dir); err != nil {
						return usage("%w", err)
					}
					stores = append(stores, discover.Store{Dir: dir})
				}
			}
			files, skipped := discover.Find(stores)
			masking, pruning := cfg.ObservationMasking.Schema1, cfg.ContextPruning
			pruning.Enabled, masking.Enabled = true, true
			meter := newMeter(files)
			done := w.progressOf(meter.state)
			report, err := discover.Run(cmd.Context(), files, skipped, discover.Options{
				Prices:  configuredPrices(cfg),
				Pruning: replay.Strategy{Name: "pruning", Pruning: pruning}, Both: replay.Strategy{Name: "pruning and masking", Masking: masking, Pruning: pruning},
				All: all, Progress: meter.add,
			})
			done()
			if err != nil {
				return err
			}
			if page != "" {
				if err := writePage(page, report); err != nil {
					return err
				}
			}
			if asJSON {
				return json.MarshalWrite(w.out, report, jsontext.Multiline(true))
			}
			return report.WriteText(w.out)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringSliceVar(&from, "from", nil, "read these `folders` or files instead of the agents' own")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&page, "html", "", "also write the report as a page to this `file`")
	cmd.Flags().BoolVar(&all, "all", false, "play every session, however many there are")
	return cmd
}

func writePage(path string, report *discover.Report) error {
	var b bytes.Buffer
	if err := report.WriteHTML(&b); err != nil {
		return err
	}
	const mode = 0o600 // it holds what was said
	return os.WriteFile(path, b.Bytes(), mode)
}

// meter counts what was read, for the progress bar.
type meter struct {
	files, read atomic.Int64
	of, bytes   int64
	start       time.Time
}

func newMeter(files []discover.File) *meter {
	m := &meter{of: int64(len(files)), start: time.Now()}
	for _, f := range files {
		m.bytes += f.Size
	}
	return m
}

func (m *meter) add(files int, bytes int64) {
	m.files.Add(int64(files))
	m.read.Add(bytes)
}

// state describes the progress: files, per cent, and the time left.
func (m *meter) state() (string, float64) {
	part := 0.0
	if m.bytes > 0 {
		part = min(1, float64(m.read.Load())/float64(m.bytes))
	}
	text := fmt.Sprintf("%d of %d files, %.0f %%", m.files.Load(), m.of, 100*part)
	if spent := time.Since(m.start); part > 0.02 {
		text += fmt.Sprintf(", %s left", time.Duration(float64(spent)*(1/part-1)).Round(time.Second))
	}
	return text, part
}
