package pruner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	JSON   bool                     // the full result, one object a line
	Colour bool                     // markers stand out
	Show   func(text string) string // escapes the text for a terminal; nil: it is written as it is

	Out io.Writer // the text, or the JSON
	Err io.Writer // what was done to it
}

// Input is a text to prune. Its name is only looked at; without one it is the standard input.
type Input struct {
	Name string
	From io.Reader
	Err  error // why it cannot be read, instead of From
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
	if cmd.Show == nil {
		cmd.Show = func(text string) string { return text }
	}
	out := bufio.NewWriter(cmd.Out)
	lost, failed := false, 0
	for i, in := range cmd.Inputs {
		text, note, err := "", "", in.Err
		if err == nil {
			text, note, err = readInput(in.From)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && len(cmd.Inputs) == 1 {
			return fmt.Errorf("read %s: %w", in.title(), withoutPath(err))
		}
		if err != nil {
			fmt.Fprintf(cmd.Err, "%s: %v\n", in.title(), withoutPath(err))
			failed++
			continue
		}
		res, kind := s.pruneInput(ctx, cmd, in.Name, text)
		lost = lost || (len(res.Annotations) > 0 && s.opt.Originals.Stats().Kind == "memory")
		if err := cmd.print(out, i, in.title(), res); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		if note != "" {
			fmt.Fprintf(cmd.Err, "%s: %s\n", in.title(), note)
		}
		s.report(cmd, in.title(), kind, text, res)
	}
	if lost {
		fmt.Fprintln(cmd.Err, `note: what was cut cannot be recovered once this command has ended; set [store] url = "file:DIR" to keep it`)
	}
	if failed == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d inputs could not be read", failed, len(cmd.Inputs))
}

// withoutPath leaves out of an error of the file system what stands before it anyway.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// patience is how much time a text gets: what was asked for, and more where it is large.
func patience(base time.Duration, bytes int) time.Duration {
	const perMegabyte = 500 * time.Millisecond
	return base + time.Duration(bytes>>20)*perMegabyte
}

func (s *Server) pruneInput(ctx context.Context, cmd PruneCommand, name, text string) (PruneResult, prune.Source) {
	req := cmd.request(name, text)
	return s.Prune(ctx, req), req.Source
}

// request is how the command has a text pruned.
func (cmd *PruneCommand) request(name, text string) PruneRequest {
	kind, err := prune.ParseSource(cmd.Type)
	if err != nil {
		kind = prune.Guess(name, text)
	}
	return PruneRequest{
		Text: text, Goal: cmd.Goal, Source: kind,
		MaxPruneRatio: cmd.Ratio, MinKeepLines: cmd.MinKeepLines, Timeout: patience(cmd.Timeout, len(text)),
		AnnotateLines: cmd.Numbers, IncludeMarkers: cmd.Markers,
	}
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
			fmt.Fprintf(out, "%s==> %s <==\n", strings.Repeat("\n", min(i, 1)), cmd.Show(name))
		}
		text := cmd.Show(res.Text)
		if cmd.Colour && cmd.Markers {
			text = colourMarkers(res, cmd.Show)
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
func colourMarkers(res PruneResult, show func(string) string) string {
	const dim, plain = "\x1b[2m", "\x1b[0m"
	var b strings.Builder
	rest := res.Text
	for _, a := range res.Annotations {
		before, after, found := strings.Cut(rest, a.Marker)
		if !found {
			break
		}
		b.WriteString(show(before) + dim + show(a.Marker) + plain)
		rest = after
	}
	b.WriteString(show(rest))
	return b.String()
}

// report tells a person what was done.
func (s *Server) report(cmd PruneCommand, name string, kind prune.Source, text string, res PruneResult) {
	st := res.Stats
	what := kind.String()
	if form := prune.FormOf(text); form != prune.Plain {
		what += " (" + form.String() + ")"
	}
	kept := fmt.Sprintf("%d lines, %d kept (%.0f %% cut)", st.OriginalLines, st.KeptLines, 100*st.PrunedRatio())
	if all, left := rawjson.Chars(text), rawjson.Chars(res.Text); st.KeptLines == st.OriginalLines && left < all { // parts of lines went
		kept = fmt.Sprintf("%d characters, %d kept (%.0f %% cut)", all, left, 100*(1-float64(left)/float64(all)))
	}
	fmt.Fprintf(cmd.Err, "%s: %s, %s; about %d tokens, now %d; %s\n", name, what, kept, st.TokensBefore, st.TokensAfter, res.ID)
	for _, w := range res.Warnings {
		fmt.Fprintf(cmd.Err, "%s: %s\n", name, s.explain(w, rawjson.Chars(text)))
	}
}

// explain puts a warning into a sentence.
func (s *Server) explain(warning string, chars int) string {
	switch warning {
	case warnInputTooLarge:
		return fmt.Sprintf("nothing cut: %d characters, and [mcp_pruner] max_input_chars is %d; raise it in the configuration, or with MCP_PRUNER_MAX_INPUT_CHARS=%d (%s)",
			chars, s.opt.MaxInputChars, chars, warning)
	case warnTimeout:
		return "nothing cut: no time left; give it more with --timeout (" + warning + ")"
	case warnConstraintsUnmet:
		return "nothing cut: every line is protected or has to be kept (" + warning + ")"
	case warnInternalError:
		return "nothing cut: a fault in the pruner, see the log (" + warning + ")"
	case warnRecoveryUnavailable:
		return "nothing cut: the store would not keep the original, see [store] max_bytes (" + warning + ")"
	}
	return warning
}
