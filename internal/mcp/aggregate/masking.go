package aggregate

import (
	"context"
	"slices"

	"secateur/internal/cut/mask"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
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
func mayBeLong(m *wire.Message, most int) bool {
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
		if len(cuts) == 0 || !e.a.now.MaskRepeats || rawjson.Get(result, "structuredContent") == nil {
			return cuts
		}
		if schema, told := e.outputSchema(ctx); told {
			cuts = m.WithRepeats(result, cuts, schema)
		}
		return cuts
	})
	if len(kept.IDs) == 0 {
		return result
	}
	return kept.Append(make([]byte, 0, len(result)))
}

// outputSchema is what the tool that was called says of its structuredContent; nil if it says nothing, false if what it says
// is not known. A client may have the tool's definition from an earlier time and call before the server has listed it to us.
func (e *proxiedCall) outputSchema(ctx context.Context) (schema []byte, told bool) {
	raw := e.d.raw
	if raw == nil {
		if err := e.c.member.Settle(ctx, e.d.server, catalog.Tools); err != nil {
			return nil, false
		}
		raw, _ = known(ctx, e.c.member).Tool(e.d.server, e.d.tool)
	}
	return rawjson.Get(raw, "outputSchema"), true
}
