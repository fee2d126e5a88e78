package pruner

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"secateur/internal/prune"
	"secateur/internal/rawjson"
)

// PruneCommand is a prune for a person or a pipe.
type PruneCommand struct {
	Inputs []Input

	Goal         string
	Type         string // code, logs or docs; empty: guessed for each input
	Ratio        float64
	MinKeepLines int
	Timeout      time.Duration // of each input
	Numbers      bool          // kept lines stand behind their numbers
	Markers      bool          // a line stands for each cut

	JSON   bool // the full result, one object a line
	Colour bool // markers stand out

	Out io.Writer // the text, or the JSON
	Err io.Writer // what was done to it
}

// Input is a text to prune. Its name is only looked at; without one it is the standard input.
type Input struct {
	Name string
	From io.Reader
}

func (in Input) title() string {
	if in.Name == "" {
		return "standard input"
	}
	return in.Name
}

// RunPrune prunes one input after the other.
func (s *Server) RunPrune(ctx context.Context, cmd PruneCommand) error {
	if _, err := prune.ParseSource(cmd.Type); cmd.Type != "" && err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.Out)
	lost := false
	for i, in := range cmd.Inputs {
		text, err := io.ReadAll(in.From)
		if err != nil {
			return fmt.Errorf("read %s: %w", in.title(), err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		res, kind := s.pruneInput(ctx, cmd, in.Name, string(text))
		lost = lost || (len(res.Annotations) > 0 && s.opt.Originals.Stats().Kind == "memory")
		if err := cmd.print(out, i, in.title(), res); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		cmd.report(in.title(), kind, res)
	}
	if lost {
		fmt.Fprintln(cmd.Err, `note: what was cut cannot be recovered once this command has ended; set [store] url = "file:DIR" to keep it`)
	}
	return nil
}

func (s *Server) pruneInput(ctx context.Context, cmd PruneCommand, name, text string) (PruneResult, prune.Source) {
	kind, err := prune.ParseSource(cmd.Type)
	if err != nil {
		kind = prune.Guess(name, text)
	}
	return s.Prune(ctx, PruneRequest{
		Text: text, Goal: cmd.Goal, Source: kind,
		MaxPruneRatio: cmd.Ratio, MinKeepLines: cmd.MinKeepLines, Timeout: cmd.Timeout,
		AnnotateLines: cmd.Numbers, IncludeMarkers: cmd.Markers,
	}), kind
}

// print writes a result. Of several, each says which it is.
func (cmd *PruneCommand) print(out *bufio.Writer, i int, name string, res PruneResult) error {
	several := len(cmd.Inputs) > 1
	switch {
	case cmd.JSON:
		object := append(res.AppendJSON(nil), '\n')
		if several {
			object = slices.Concat(rawjson.AppendQuoted([]byte(`{"file":`), name), []byte{','}, object[1:])
		}
		_, _ = out.Write(object)
	default:
		if several {
			fmt.Fprintf(out, "%s==> %s <==\n", strings.Repeat("\n", min(i, 1)), name)
		}
		text := res.Text
		if cmd.Colour && cmd.Markers {
			text = colourMarkers(res)
		}
		_, _ = out.WriteString(text)
		if several && text != "" && !strings.HasSuffix(text, "\n") {
			_ = out.WriteByte('\n')
		}
	}
	return out.Flush()
}

// colourMarkers is the text with its markers dimmed. Each is found where it must be: behind the one before, alone on
// its line.
func colourMarkers(res PruneResult) string {
	const dim, plain = "\x1b[2m", "\x1b[0m"
	var b strings.Builder
	rest := res.Text
	for _, a := range res.Annotations {
		before, after, found := strings.Cut(rest, a.Marker)
		if !found {
			break
		}
		b.WriteString(before + dim + a.Marker + plain)
		rest = after
	}
	b.WriteString(rest)
	return b.String()
}

// report tells a person what was done.
func (cmd *PruneCommand) report(name string, kind prune.Source, res PruneResult) {
	st := res.Stats
	fmt.Fprintf(cmd.Err, "%s: %s, %d lines, %d kept (%.0f %% cut); about %d tokens, now %d; %s\n",
		name, kind, st.OriginalLines, st.KeptLines, 100*st.PrunedRatio(), st.TokensBefore, st.TokensAfter, res.ID)
	for _, w := range res.Warnings {
		fmt.Fprintf(cmd.Err, "%s: %s\n", name, explain(w))
	}
}

// explain puts a warning into a sentence.
func explain(warning string) string {
	switch warning {
	case warnInputTooLarge:
		return "nothing cut: longer than max_input_chars (" + warning + ")"
	case warnTimeout:
		return "nothing cut: no time left; give it more (" + warning + ")"
	case warnConstraintsUnmet:
		return "nothing cut: every line is protected or has to be kept (" + warning + ")"
	case warnInternalError:
		return "nothing cut: a fault in the pruner, see the log (" + warning + ")"
	case warnRecoveryUnavailable:
		return "nothing cut: the store would not keep the original (" + warning + ")"
	}
	return warning
}
