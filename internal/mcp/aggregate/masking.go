package aggregate

import (
	"context"
	"slices"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/cut/cutting"
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
	kept := e.a.now.cutter.Keep(ctx, e.cutCall(), result, func(m *mask.Masker) []mask.Cut {
		cuts := m.TextCuts(result)
		if len(cuts) > 0 && era.ResultType(result) != era.Complete {
			return nil
		}
		if e.a.now.TargetChars > 0 && isError(result) {
			cuts = slices.DeleteFunc(cuts, func(c mask.Cut) bool { return c.Chars <= maxWholeError })
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
	if e.a.now.TargetChars == 0 {
		return kept.Append(make([]byte, 0, len(result)))
	}
	if at := rawjson.Find(result, "structuredContent"); e.a.now.MaskRepeats && !at.IsZero() {
		if schema, told := e.outputSchema(ctx); told && schema == nil {
			kept.Repeat(at)
		}
	}
	out := kept.Append(make([]byte, 0, len(result)))
	meta := rawjson.Get(out, "_meta")
	if !rawjson.IsObject(meta) {
		meta = []byte("{}")
	}
	return rawjson.Set(out, "_meta", rawjson.Set(meta, metaCut, kept.About()))
}

const (
	// metaCut is the member of _meta that describes what was cut for a goal.
	metaCut = "secateur/cut"
	// maxWholeError is how many characters of an error are never cut.
	maxWholeError = 30_000
)

// isError reports whether a tool's result says that the call failed.
func isError(result []byte) bool { return string(rawjson.Get(result, "isError")) == "true" }

// cutCall is what the cutter needs to know of the call.
func (e *proxiedCall) cutCall() cutting.Call {
	return cutting.Call{
		Tenant: e.a.principal.Owner(), Server: e.conn, Tool: e.d.tool, Goal: e.d.goal, Session: e.d.session,
		RecoverTool: e.s.recoverTool(e.c, e.a.now, e.a.now.Recovery),
	}
}

// readGoal finds out what a tool is called for, and notes it for the calls behind it. What the model says for us alone is taken out of
// the params.
func (e *proxiedCall) readGoal(now time.Time) {
	if e.a.now.cutter == nil || e.a.now.TargetChars == 0 || e.s.only != "" || e.a.Method != "tools/call" {
		return
	}
	arguments := rawjson.Get(e.d.params, "arguments")
	said := argumentsText(arguments)
	e.d.goal.Call = said + "\n" + e.d.tool + "\n" + rawjson.GetText(e.d.raw, "title")
	e.d.session = e.s.sessionOf(e.c, e.a, now)
	e.d.goal.Before = e.d.session.Begin(said)
}

// takeFocus takes out of a call what its model says to us alone, where the tool's own arguments do not have that name.
func (e *proxiedCall) takeFocus() {
	if e.s.only != "" || e.a.Method != "tools/call" || !e.conn.Settings().Focus || catalog.OwnsFocus(e.d.raw) {
		return
	}
	arguments := rawjson.Get(e.d.params, "arguments")
	if rawjson.Get(arguments, catalog.FocusArgument) == nil {
		return
	}
	e.d.goal.Focus = rawjson.GetText(arguments, catalog.FocusArgument)
	e.d.params = rawjson.RemoveWithin(e.d.params, "arguments", catalog.FocusArgument)
}

// argumentsText is what the arguments of a call say: their strings and numbers.
func argumentsText(arguments []byte) string {
	var b strings.Builder
	c := rawjson.NewCursor(arguments)
	for depth := 0; c.Peek() != 0 && b.Len() < maxGoal; {
		switch c.Peek() {
		case '{', '[':
			c.Enter()
			depth++
		case '}', ']':
			c.Done()
			depth--
		default:
			raw := c.Raw()
			if text, ok := rawjson.Text(raw); ok {
				b.WriteString(text)
			} else {
				b.Write(raw)
			}
			b.WriteByte('\n')
		}
		if depth <= 0 {
			break
		}
	}
	return strings.ToValidUTF8(b.String()[:min(b.Len(), maxGoal)], "")
}

// maxGoal is how many bytes of a call's arguments count.
const maxGoal = 8 << 10

// sessionOf is what was asked for and cut before: on the connection or, without one, by this token and client. Callers without a token
// are not told apart.
func (s *clientConn) sessionOf(c *client, a request, now time.Time) *cutting.Session {
	if s.link != nil {
		return &s.recent
	}
	if a.principal == nil || a.principal.Issuer == access.IssuerNone {
		return nil
	}
	return s.sessions.Of(a.principal.Key()+"\x00"+c.name, now)
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
