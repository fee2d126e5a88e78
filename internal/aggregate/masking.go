package aggregate

import (
	"context"
	"slices"

	"secateur/internal/era"
	"secateur/internal/mask"
	"secateur/internal/rawjson"
	"secateur/internal/rpc"
	"secateur/internal/upstream"
)

// mayMask reports whether there may be something to cut in an answer. Most have been looked through for long strings
// when they came.
func (e *proxiedCall) mayMask(r *upstream.Reply) bool {
	s := e.s
	if e.a.now.cutter == nil || s.only != "" || e.a.Method != "tools/call" {
		return false
	}
	return mayBeLong(&r.Message, e.a.now.Masker.LongString()) && !e.a.now.cutter.Exempts(e.conn, e.d.tool)
}

// mayBeLong reports whether an answer may have a string of more than so many characters.
func mayBeLong(m *rpc.Message, most int) bool {
	isLong := func(t rawjson.String) bool { return t.Chars > most }
	return m.Noted == 0 || m.Noted > most || slices.ContainsFunc(m.Long, isLong)
}

// mask cuts the long texts of a tool's result, each kept first.
func (e *proxiedCall) mask(ctx context.Context, result []byte) []byte {
	kept := e.a.now.cutter.Keep(ctx, e.a.principal.Owner(), e.conn, e.d.tool, result, func(m *mask.Masker) []mask.Cut {
		cuts := m.TextCuts(result)
		if len(cuts) > 0 && era.ResultType(result) != era.Complete {
			return nil
		}
		if e.a.now.MaskRepeats {
			cuts = m.WithRepeats(result, cuts, rawjson.Get(e.d.raw, "outputSchema"))
		}
		return cuts
	})
	if len(kept.IDs) == 0 {
		return result
	}
	return kept.Append(make([]byte, 0, len(result)))
}
