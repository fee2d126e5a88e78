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
	"secateur/internal/rawjson"
)

// mayMask reports whether there may be something to cut in an answer. Who cannot recover gets everything.
func (e *proxiedCall) mayMask(ctx context.Context, result []byte) bool {
	cutter := e.a.now.cutter
	if cutter == nil || e.s.only != "" || e.a.Method != "tools/call" {
		return false
	}
	limit := cutter.Limit(cutting.Call{MaxChars: catalog.Reads(e.c.name).MaxChars})
	return len(result) > limit && !cutter.Exempts(e.conn, e.d.tool) && e.s.canRecover(ctx, e.c, e.a) != ""
}

// canRecover is the server whose recover_text restores cuts for this caller; "": none.
func (s *clientConn) canRecover(ctx context.Context, c *client, a request) string {
	server := s.recoveryServer(ctx, c, a)
	if server == "" || !a.lists(catalog.Tools, server, mask.RecoverTool) {
		return ""
	}
	return server
}

// mask cuts long parts of a tool's result, each original kept first.
func (e *proxiedCall) mask(ctx context.Context, result []byte) []byte {
	call, isTold := e.cutCall(ctx, result)
	cutter := e.a.now.cutter
	kept := cutter.Keep(ctx, call, result, func(m *mask.Masker) []mask.Cut {
		cuts := cutter.TextCuts(call, result)
		if call.ReadsStructured && e.cutsStructured(call, isTold) {
			cuts = append(cuts, cutter.StructuredCuts(call, result)...)
		}
		if len(cuts) > 0 && era.ResultType(result) != era.Complete {
			return nil
		}
		if e.a.now.TargetChars > 0 && isError(result) {
			cuts = slices.DeleteFunc(cuts, func(c mask.Cut) bool { return c.Chars <= maxWholeError })
		}
		if len(cuts) > 0 && !call.ReadsStructured && e.cutsStructured(call, isTold) {
			cuts = m.WithRepeats(result, cuts, call.Schema)
		}
		return cuts
	})
	if len(kept.IDs) == 0 {
		return result
	}
	if e.a.now.TargetChars == 0 {
		return kept.Append(make([]byte, 0, len(result)))
	}
	if !call.ReadsStructured && e.cutsStructured(call, isTold) && call.Schema == nil {
		kept.Repeat(call.StructuredAt)
	}
	out := kept.Append(make([]byte, 0, len(result)))
	meta := rawjson.Get(out, "_meta")
	if !rawjson.IsObject(meta) {
		meta = []byte("{}")
	}
	return rawjson.Set(out, "_meta", rawjson.Set(meta, metaCut, kept.About()))
}

// cutsStructured reports whether structuredContent may be cut: its schema is known.
func (e *proxiedCall) cutsStructured(call cutting.Call, isTold bool) bool {
	return e.a.now.MaskRepeats && isTold && !call.StructuredAt.IsZero()
}

const (
	// metaCut is the member of _meta that describes what was cut for a goal.
	metaCut = "secateur/cut"
	// maxWholeError is how many characters of an error are never cut.
	maxWholeError = 30_000
)

// isError reports whether a tool's result says that the call failed.
func isError(result []byte) bool { return string(rawjson.Get(result, "isError")) == "true" }

// cutCall describes the call to the cutter, and reports whether its result's schema is known.
func (e *proxiedCall) cutCall(ctx context.Context, result []byte) (call cutting.Call, isTold bool) {
	reads := catalog.Reads(e.c.name)
	call = cutting.Call{
		Tenant: e.a.principal.Owner(), Server: e.conn, Tool: e.d.tool, Goal: e.d.goal, Session: e.d.session, MaxChars: reads.MaxChars,
		RecoverTool: e.s.recoverTool(e.c, e.a.now, e.s.canRecover(ctx, e.c, e.a)), StructuredAt: rawjson.Find(result, "structuredContent"),
	}
	if !rawjson.IsObject(call.StructuredAt.Of(result)) {
		call.StructuredAt = rawjson.Span{}
		return call, true
	}
	call.ReadsStructured = reads.Structured || isEmpty(rawjson.Get(result, "content"))
	call.Schema, isTold = e.outputSchema(ctx)
	return call, isTold
}

// recoverChars is how many characters one recovery returns to a client, at most usual. It leaves
// room for the JSON that the client writes around them.
func recoverChars(usual int, client string) int {
	if most := catalog.Reads(client).MaxChars; most > 0 {
		return min(usual, most*8/10)
	}
	return usual
}

// isEmpty reports whether a list has no element.
func isEmpty(list []byte) bool {
	for range rawjson.Items(list) {
		return false
	}
	return true
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
