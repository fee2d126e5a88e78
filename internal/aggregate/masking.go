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

// tenant owns the originals of this door. All clients share one token, so they share one tenant.
const tenant = ""

// prunerName is what a pruner calls itself in its handshake.
const prunerName = "mcp-pruner"

// recoveryTools give back what was cut, or cut by themselves: their results are never cut again.
var recoveryTools = []string{"prune_text", "recover_text", "recover_range", "recover_chars", "search_text"}

// mayMask reports whether there may be something to cut in an answer. Most have been looked through for long strings
// when they came.
func (e *errand) mayMask(r *upstream.Reply) bool {
	s := e.s
	if s.opt.Masker == nil || s.only != "" || e.a.Method != "tools/call" {
		return false
	}
	return mayBeLong(&r.Message, s.opt.Masker.LongString()) && e.conn.Settings().Masked(e.d.tool)
}

// mayBeLong reports whether an answer may have a string of more than so many characters.
func mayBeLong(m *rpc.Message, most int) bool {
	isLong := func(t rawjson.String) bool { return t.Chars > most }
	return m.Noted == 0 || m.Noted > most || slices.ContainsFunc(m.Long, isLong)
}

// mask cuts the long texts of a tool's result, each kept first.
func (e *errand) mask(ctx context.Context, result []byte) []byte {
	s := e.s
	cuts := s.opt.Masker.TextCuts(result)
	if len(cuts) == 0 || era.ResultType(result) != "complete" || e.recovers(ctx) {
		return result
	}
	kept := make([]mask.Cut, 0, len(cuts))
	for _, c := range cuts {
		id, err := s.opt.Originals.Put(ctx, tenant, c.Text(result))
		if err != nil { // content fails open: what cannot be kept is not cut
			s.metrics.unmasked(e.d.server)
			s.log.DebugContext(ctx, "original not kept, text passes whole", "upstream", e.d.server, "chars", c.Chars, "err", err)
			continue
		}
		c.ID = id
		kept = append(kept, c)
	}
	if len(kept) == 0 {
		return result
	}
	out := s.opt.Masker.Append(make([]byte, 0, len(result)), result, kept)
	s.metrics.masked(e.d.server, len(kept), len(result)-len(out))
	return out
}

// recovers reports whether the tool is one of a pruner's own.
func (e *errand) recovers(ctx context.Context) bool {
	if !slices.Contains(recoveryTools, e.d.tool) {
		return false
	}
	peer, err := e.conn.Peer(ctx)
	return err == nil && peer.ServerName == prunerName
}
