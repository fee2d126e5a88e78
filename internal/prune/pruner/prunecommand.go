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

// PruneCommand prunes texts for a person or a pipe.
type PruneCommand struct {
	Inputs []Input

	Goal         string
	Type         string // code, logs or docs; "": guessed for each input
	Ratio        float64
	MinKeepLines int
	Timeout      time.Duration // for each input
	Numbers      bool          // prefix kept lines with their numbers
	Markers      bool          // put a marker line in place of each cut

	JSON   bool                     // print the full result, one object per line
	Colour bool                     // highlight markers
	Show   func(text string) string // escapes the text for a terminal; nil: no escaping

	Out io.Writer // the text, or the JSON
	Err io.Writer // for messages about the result
}

// Input is a text to prune. Name is only for display; "": standard input.
type Input struct {
	Name string
	From io.Reader
	Err  error // why it cannot be read; replaces From
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

// withoutPath removes the path from a file system error, because the message already names it.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// patience returns the time limit for a text: the given one, plus more for a large text.
func patience(base time.Duration, bytes int) time.Duration {
	const perMegabyte = 500 * time.Millisecond
	return base + time.Duration(bytes>>20)*perMegabyte
}

func (s *Server) pruneInput(ctx context.Context, cmd PruneCommand, name, text string) (PruneResult, prune.Source) {
	req := cmd.request(name, text)
	return s.Prune(ctx, req), req.Source
}

// request returns the prune request for a text.
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

// print writes a result. With several inputs, each is labelled.
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

// colourMarkers dims the markers in the text. It looks for each marker after the previous one,
// alone on its line.
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

// report prints a summary for a person.
func (s *Server) report(cmd PruneCommand, name string, kind prune.Source, text string, res PruneResult) {
	st := res.Stats
	what := kind.String()
	if form := prune.FormOf(text); form != prune.Plain {
		what += " (" + form.String() + ")"
	}
	kept := fmt.Sprintf("%d lines, %d kept (%.0f %% cut)", st.OriginalLines, st.KeptLines, 100*st.PrunedRatio())
	// Parts of lines were cut.
	if all, left := rawjson.Chars(text), rawjson.Chars(res.Text); st.KeptLines == st.OriginalLines && left < all {
		kept = fmt.Sprintf("%d characters, %d kept (%.0f %% cut)", all, left, 100*(1-float64(left)/float64(all)))
	}
	fmt.Fprintf(cmd.Err, "%s: %s, %s; about %d tokens, now %d; %s\n", name, what, kept, st.TokensBefore, st.TokensAfter, res.ID)
	for _, w := range res.Warnings {
		fmt.Fprintf(cmd.Err, "%s: %s\n", name, s.explain(w, rawjson.Chars(text)))
	}
}

// explain turns a warning into a sentence.
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
