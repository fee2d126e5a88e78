package pruner

import (
	"slices"
	"strconv"

	"secateur/internal/rawjson"
)

// AppendJSON writes the result in the tool's format.
func (r PruneResult) AppendJSON(out []byte) []byte {
	out = slices.Grow(out, len(r.Text)+len(r.Text)/8+len(r.Annotations)*256+1024)
	out = rawjson.AppendQuoted(append(out, `{"prune_id":`...), r.ID)
	out = rawjson.AppendQuoted(append(out, `,"pruned_text":`...), r.Text)
	out = append(out, `,"annotations":[`...)
	for i, a := range r.Annotations {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendQuoted(append(out, `{"kind":`...), a.Kind)
		out = appendInt(out, "original_start_line", a.StartLine)
		out = appendInt(out, "original_end_line", a.EndLine)
		out = appendInt(out, "pruned_line_count", a.Count)
		out = rawjson.AppendQuoted(append(out, `,"reason":`...), a.Reason)
		out = rawjson.AppendQuoted(append(out, `,"marker":`...), a.Marker)
		if a.EndChar > 0 {
			out = appendInt(out, "original_start_char", a.StartChar)
			out = appendInt(out, "original_end_char", a.EndChar)
		}
		out = append(out, '}')
	}
	out = append(out, `],"stats":{`...)
	out = append(r.Stats.appendMembers(out), `},"warnings":[`...)
	for i, w := range r.Warnings {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendQuoted(out, w)
	}
	return append(out, `]}`...)
}

func (s Stats) appendMembers(out []byte) []byte {
	out = append(out, `"original_lines":`...)
	out = strconv.AppendInt(out, int64(s.OriginalLines), 10)
	out = appendInt(out, "kept_lines", s.KeptLines)
	out = appendInt(out, "pruned_lines", s.PrunedLines())
	out = appendFloat(out, "pruned_ratio", s.PrunedRatio())
	out = appendInt(out, "tokens_est_before", s.TokensBefore)
	out = appendInt(out, "tokens_est_after", s.TokensAfter)
	out = appendInt(out, "elapsed_ms", int(s.Elapsed.Milliseconds()))
	out = appendBool(out, "used_fallback", s.UsedFallback)
	out = rawjson.AppendQuoted(append(out, `,"backend":`...), s.Backend)
	out = appendInt(out, "tokens_saved_est", s.TokensSaved())
	out = appendFloat(out, "cost_estimated_usd", s.CostUSD)
	return s.Rerank.appendMembers(out, s.Backend)
}

func (s RerankStats) appendMembers(out []byte, backend string) []byte {
	if s.Ran {
		out = appendInt(out, backend+"_latency_ms", int(s.Latency.Milliseconds()))
		out = appendInt(out, backend+"_docs_scored", s.LinesScored)
		out = appendInt(out, backend+"_docs_total", s.LinesTotal)
		out = appendBool(out, backend+"_cached", s.Cached)
	}
	if s.HTTPStatus != 0 {
		out = appendInt(out, backend+"_http_status", s.HTTPStatus)
	}
	return out
}

func appendInt(out []byte, name string, n int) []byte {
	out = append(append(append(out, `,"`...), name...), `":`...)
	return strconv.AppendInt(out, int64(n), 10)
}

func appendFloat(out []byte, name string, f float64) []byte {
	out = append(append(append(out, `,"`...), name...), `":`...)
	return strconv.AppendFloat(out, f, 'f', -1, 64)
}

func appendBool(out []byte, name string, b bool) []byte {
	out = append(append(append(out, `,"`...), name...), `":`...)
	return strconv.AppendBool(out, b)
}
