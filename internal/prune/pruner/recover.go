package pruner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"secateur/internal/access"
	"secateur/internal/mcp/toolserver"
	"secateur/internal/mcp/wire"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxEncoded limits the sum of all ranges, in bytes of the response. There, an original of
	// control characters is thirteen times its size.
	maxEncoded = 32 << 20
	// maxRecoveredChars is the most that one recover_chars returns without max_chars. The response
	// says where to continue.
	maxRecoveredChars = 100_000
)

func (s *Server) recoverText(ctx context.Context, arguments jsontext.Value) (toolserver.Result, *wire.Error) {
	args := toolserver.Read(arguments)
	id := args.Text("prune_id")
	limit, bad := maxChars(ctx, args, 0)
	if bad != nil {
		return toolserver.Result{}, bad
	}
	text, failed := s.original(ctx, id)
	if failed != nil {
		return toolserver.Result{}, failed
	}
	spans := readSpans(args)
	if len(spans) == 0 && toolserver.BriefChars(ctx) > 0 {
		spans = []prune.Span{{Start: 1, End: math.MaxInt}}
	}
	rec, err := recoverLines(text, spans, args.Bool("include_line_numbers"), maxEncoded, limit)
	if err != nil {
		return toolserver.Result{}, err.rpc(id)
	}
	s.returned(id, rec.text)
	return answer(ctx, rec.appendJSON(nil, id)), nil
}

// readSpans reads the ranges of a call. A missing start is the first line, a missing end the last.
func readSpans(args toolserver.Arguments) (spans []prune.Span) {
	for item := range args.Items("ranges") {
		r := toolserver.Read(item)
		span := prune.Span{Start: 1, End: math.MaxInt}
		if r.Has("start_line") {
			span.Start = r.Integer("start_line")
		}
		if r.Has("end_line") {
			span.End = r.Integer("end_line")
		}
		spans = append(spans, span)
	}
	return spans
}

// recovered is a selection of lines of an original.
type recovered struct {
	text  string
	spans []prune.Span // as requested, clamped to the line numbers of the text
	next  *nextCall    // nil: nothing is left of what was requested
}

// rangeError is a range outside of the text.
type rangeError struct {
	path    string // JSON Pointer into the arguments
	problem string
	total   string // the available size, as members of the error's data
}

func (e *rangeError) Error() string { return e.problem }

func (e *rangeError) rpc(id string) *wire.Error {
	failed := domainError(wire.CodeInvalidRange, wire.WordInvalidRange, id, e.problem)
	failed.Data.Path = e.path
	failed.Data.Extra = append(append(failed.Data.Extra, ','), e.total...)
	return failed
}

// embedded returns the text that a one-line JSON document wraps. Pruned results count the lines of
// that text.
func embedded(text string) (string, bool) {
	at, ok := rawjson.Embedded(text)
	if !ok {
		return "", false
	}
	return rawjson.Unquote([]byte(text[at.Start:at.End])), true
}

// recoverLines returns spans of lines in the requested order, if they fit into most bytes of a
// response. A limit bounds the characters, and the result then says how to go on. If a text numbers its lines, the spans are those numbers (prune.ViewOf). An example is
// a part of a file shown by a tool.
func recoverLines(text string, spans []prune.Span, numbered bool, most, limit int) (recovered, *rangeError) {
	lines := prune.IndexLines(text)
	inner, isInner := embedded(text)
	if isInner = isInner && slices.ContainsFunc(spans, func(s prune.Span) bool { return s.Start > lines.Len() }); isInner {
		lines = prune.IndexLines(inner)
	}
	view := prune.ViewOf(lines)
	places := make([]prune.Span, len(spans))
	fail := func(path, format string, args ...any) (recovered, *rangeError) {
		total := `"total_lines":` + strconv.Itoa(lines.Len())
		return recovered{}, &rangeError{path, fmt.Sprintf(format, args...), total}
	}
	if len(spans) == 0 {
		return fail("/ranges", "ask for at least one range; the text has %d lines", lines.Len())
	}
	budget := most
	for i := range spans {
		at := "/ranges/" + strconv.Itoa(i)
		places[i] = view.Place(spans[i])
		switch span := &spans[i]; {
		case span.Start < 1 || span.End < 1:
			return fail(at, "lines are counted from 1; the text has %d", lines.Len())
		case span.Start > span.End:
			return fail(at, "start_line %d is behind end_line %d", span.Start, span.End)
		case places[i].Start > lines.Len():
			return fail(at, "start_line %d is past the end; the text has %d lines", span.Start, lines.Len())
		default:
			span.End = min(span.End, max(lines.Len(), view.Last()))
			if limit > 0 {
				continue
			}
			if budget -= encodedLines(lines, places[i], numbered, budget); budget < 0 {
				_, tooMuch := fail(at, "the ranges make an answer of more than %d MiB; ask for fewer lines at a time, and with recover_chars for a part of a long line", most>>20)
				tooMuch.total += `,"` + memberTooMuch + `":` + strconv.Itoa(most)
				return recovered{}, tooMuch
			}
		}
	}
	if limit > 0 {
		return selection{lines, view, spans, places, numbered, isInner}.within(limit), nil
	}
	return recovered{text: lines.Recover(places, numbered), spans: spans}, nil
}

func (r recovered) appendJSON(out []byte, id string) []byte {
	out = rawjson.AppendQuoted(append(out, `{"raw_text":`...), r.text)
	out = rawjson.AppendQuoted(append(out, `,"metadata":{"prune_id":`...), id)
	out = appendSpans(append(out, ','), r.spans)
	out = append(out, `,"line_numbering":"original"`...)
	if r.next != nil {
		out = r.next.append(appendBool(out, "truncated", true), id)
	}
	return append(out, `}}`...)
}

// appendSpans appends the member ranges.
func appendSpans(out []byte, spans []prune.Span) []byte {
	out = append(out, `"ranges":[`...)
	for i, span := range spans {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"start_line":`...)
		out = strconv.AppendInt(out, int64(span.Start), 10)
		out = appendInt(out, "end_line", span.End)
		out = append(out, '}')
	}
	return append(out, ']')
}

func (s *Server) recoverChars(ctx context.Context, arguments jsontext.Value) (toolserver.Result, *wire.Error) {
	args := toolserver.Read(arguments)
	id, start, end := args.Text("prune_id"), args.Integer("start"), math.MaxInt
	if args.Has("end") {
		end = args.Integer("end")
	}
	limit, bad := maxChars(ctx, args, maxRecoveredChars)
	if bad != nil {
		return toolserver.Result{}, bad
	}
	text, failed := s.original(ctx, id)
	if failed != nil {
		return toolserver.Result{}, failed
	}
	total := rawjson.Chars(text)
	if start < 0 || start >= end || start >= total {
		problem := fmt.Sprintf("characters %d to %d are none; count from 0, end behind start, within the %d there are", start, end, total)
		totals := `"total_chars":` + strconv.Itoa(total) + `,"total_lines":` + strconv.Itoa(prune.IndexLines(text).Len())
		return toolserver.Result{}, (&rangeError{"/start", problem, totals}).rpc(id)
	}
	end = min(end, total)
	stop := min(end, start+limit)
	from := skipChars(text, start)
	part := text[from : from+skipChars(text[from:], stop-start)]

	out := rawjson.AppendQuoted([]byte(`{"raw_text":`), part)
	out = rawjson.AppendQuoted(append(out, `,"metadata":{"prune_id":`...), id)
	out = appendInt(out, "start", start)
	out = appendInt(out, "end", stop)
	out = appendInt(out, "total_chars", total)
	out = appendBool(out, "truncated", stop < end)
	if stop < end {
		out = charsFrom(stop, end).append(out, id)
	}
	s.returned(id, part)
	return answer(ctx, append(out, `}}`...)), nil
}

// skipChars returns the offset after the first n characters of a text. A lone surrogate counts as
// one.
func skipChars(text string, n int) int {
	for i := range len(text) {
		if utf8.RuneStart(text[i]) {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(text)
}

// original fetches an original, or returns the error for the caller.
func (s *Server) original(ctx context.Context, id string) (string, *wire.Error) {
	text, err := s.opt.Originals.Get(ctx, s.tenant(ctx), originals.NormalID(id))
	switch {
	case err == nil:
		s.metrics.recoveries.WithLabelValues("ok").Inc()
		return text, nil
	case errors.Is(err, originals.ErrNotFound):
		if over := s.opt.Admission.Missed(ctx, access.FromContext(ctx)); over != nil {
			e, _, _ := over.Error()
			return "", e
		}
		s.metrics.recoveries.WithLabelValues(wire.WordPruneIDNotFound).Inc()
		hint := "the original has expired or was never kept here; run the tool that produced the text again"
		if errors.Is(err, originals.ErrDamaged) {
			hint = "the original's file is damaged; run the tool that produced the text again"
		}
		return "", domainError(wire.CodePruneIDNotFound, wire.WordPruneIDNotFound, id, hint)
	default: // the store logs its outage once a minute
		s.metrics.recoveries.WithLabelValues(wire.WordRecoveryUnavailable).Inc()
		return "", domainError(wire.CodeRecoveryUnavailable, wire.WordRecoveryUnavailable, id,
			"the store of originals does not answer; try again in a moment")
	}
}

// returned reports the part of an original that a call gives back.
func (s *Server) returned(id, part string) {
	if s.opt.Recovered != nil {
		s.opt.Recovered(originals.NormalID(id), part)
	}
}

// domainError is one of the pruner's own errors. Its message is the word, the hint says what to do.
func domainError(code int, word, id, hint string) *wire.Error {
	e := wire.NewError(code, word)
	e.Data.Hint = hint
	e.Data.Extra = rawjson.AppendQuoted([]byte(`"prune_id":`), clip(id))
	return e
}

// clip limits how much of a caller's text goes into a response.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return s[:most]
}
