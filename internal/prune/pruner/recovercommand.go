package pruner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/cut/mask"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// Fetch gets an original from one source. It returns originals.ErrNotFound if the source has no
// such original, ErrUnreachable if it does not answer, or another error.
type Fetch func(ctx context.Context, id string) (text string, err error)

// ErrUnreachable means that no program answers at an address.
var ErrUnreachable = errors.New("not reachable")

// ErrRefused means that a running program does not accept our token.
var ErrRefused = errors.New("the running secateur refuses the token; set AUTH_TOKEN or auth_token to its own")

// RecoverCommand recovers an original for a person or a pipe.
type RecoverCommand struct {
	ID      string
	Ranges  []string // "3", "3-7", "3-", "-7"; empty: the whole text
	Chars   string   // "4388-8364": these characters, from 0, end exclusive; "": lines
	Numbers bool     // prefix lines with their numbers
	JSON    bool     // print the response of recover_text
	Sources []Fetch  // tried in turn until one has the original
	Out     io.Writer
	Err     io.Writer // receives the recovery mark, so that the text is not cut again; nil: none
}

// FromStore fetches from a store in this process.
func FromStore(store originals.Store, tenant string) Fetch {
	return func(ctx context.Context, id string) (string, error) { return store.Get(ctx, tenant, id) }
}

// RunRecover writes lines of an original.
func RunRecover(ctx context.Context, cmd RecoverCommand) error {
	spans, err := parseSpans(cmd.Ranges)
	if err != nil {
		return err
	}
	if cmd.Chars != "" && (len(cmd.Ranges) > 0 || cmd.Numbers || cmd.JSON) {
		return errors.New("--chars prints characters alone: leave out lines, --numbers and --json")
	}
	cmd.ID = originals.NormalID(cmd.ID)
	text, err := cmd.fetch(ctx)
	if err != nil {
		return err
	}
	rec := recovered{}
	if cmd.Chars != "" {
		if rec.text, err = charsOf(text, cmd.Chars); err != nil {
			return err
		}
	} else if lines := prune.IndexLines(text).Len(); lines > 0 || len(cmd.Ranges) > 0 {
		var bad *rangeError
		if rec, bad = recoverLines(text, spans, cmd.Numbers, math.MaxInt, 0); bad != nil {
			return bad
		}
	}
	out := rec.text
	if cmd.JSON {
		out = string(append(rec.appendJSON(nil, cmd.ID), '\n'))
	}
	if cmd.Err != nil {
		// The text itself stays the same, byte for byte.
		_, _ = fmt.Fprintln(cmd.Err, mask.RecoveredMark(cmd.ID))
	}
	if _, err := io.WriteString(cmd.Out, out); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// charsOf returns characters of a text by a marker's range: "4388-8364", from 0, end exclusive.
func charsOf(text, span string) (string, error) {
	first, last, isSpan := strings.Cut(span, "-")
	start, err1 := strconv.Atoi(first)
	end, err2 := strconv.Atoi(last)
	total := rawjson.Chars(text)
	if !isSpan || err1 != nil || err2 != nil || start < 0 || start >= end || start >= total {
		return "", fmt.Errorf("--chars %q: use 4388-8364, from 0 and within the %d characters there are", clip(span), total)
	}
	from := skipChars(text, start)
	return text[from : from+skipChars(text[from:], end-start)], nil
}

// absentDaemon means that no program answers at an address.
type absentDaemon struct {
	address string
	why     error
}

func (a absentDaemon) Error() string   { return "no daemon at " + a.address }
func (a absentDaemon) Unwrap() []error { return []error{ErrUnreachable, a.why} }

// errAsked means that a running program was asked.
var errAsked = errors.New("asked a running secateur")

// fetch tries the sources in turn. If all fail, it reports the error that says most about the
// original.
func (cmd *RecoverCommand) fetch(ctx context.Context) (string, error) {
	var problem, refused error
	var absent []string
	isAsked := false
	for _, source := range cmd.Sources {
		text, err := source(ctx, cmd.ID)
		if err == nil {
			return text, nil
		}
		if errors.Is(err, ErrRefused) {
			refused = err
		}
		if a, ok := errors.AsType[absentDaemon](err); ok && !slices.Contains(absent, a.address) {
			absent = append(absent, a.address)
		}
		isAsked = isAsked || errors.Is(err, errAsked)
		if problem == nil || gravity(err) > gravity(problem) {
			problem = err
		}
	}
	id := clip(cmd.ID)
	switch {
	case problem == nil:
		return "", fmt.Errorf("nowhere to look for %s: %w", id, ErrUnreachable)
	case errors.Is(problem, originals.ErrDamaged):
		return "", fmt.Errorf("%s: %w; the rest of it is in the store's folder corrupt", id, problem)
	case errors.Is(problem, originals.ErrExpired):
		return "", fmt.Errorf("%s: %w; [store] ttl_s says how long originals are kept", id, problem)
	case errors.Is(problem, originals.ErrNotFound) && refused != nil:
		return "", fmt.Errorf("%w %s here, and %w", originals.ErrNotFound, id, refused)
	case len(absent) > 0 && !isAsked && (errors.Is(problem, originals.ErrNotFound) || errors.Is(problem, ErrUnreachable)):
		return "", fmt.Errorf("%w %s in a store here, and no daemon at %s: %w; start 'secateur serve', or name its file with --config",
			originals.ErrNotFound, id, strings.Join(absent, " or "), ErrUnreachable)
	case errors.Is(problem, originals.ErrNotFound):
		return "", fmt.Errorf("%w %s: it has expired, or was kept elsewhere", originals.ErrNotFound, id)
	}
	return "", problem
}

// gravity ranks errors by how much they say about the original.
func gravity(err error) int {
	switch {
	case errors.Is(err, originals.ErrDamaged):
		return 5
	case errors.Is(err, originals.ErrExpired):
		return 4
	case errors.Is(err, originals.ErrNotFound):
		return 3
	case errors.Is(err, ErrRefused):
		return 2
	case errors.Is(err, ErrUnreachable):
		return 0
	}
	return 1
}

// parseSpans parses ranges of lines; none means all lines.
func parseSpans(ranges []string) ([]prune.Span, error) {
	if len(ranges) == 0 {
		return []prune.Span{{Start: 1, End: math.MaxInt}}, nil
	}
	spans := make([]prune.Span, 0, len(ranges))
	for _, r := range ranges {
		span, err := parseSpan(r)
		if err != nil {
			return nil, fmt.Errorf("range %q: use 3, 3-7, 3- or -7, counting lines from 1", clip(r))
		}
		spans = append(spans, span)
	}
	return spans, nil
}

func parseSpan(text string) (span prune.Span, err error) {
	first, last, isRange := strings.Cut(text, "-")
	span = prune.Span{Start: 1, End: math.MaxInt}
	if first != "" || !isRange {
		if span.Start, err = lineNumber(first); err != nil {
			return span, err
		}
	}
	switch {
	case !isRange:
		span.End = span.Start
	case last != "":
		span.End, err = lineNumber(last)
	case first == "":
		err = strconv.ErrSyntax // a lone dash
	}
	return span, err
}

func lineNumber(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 62)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return int(n), err
}
