package aggregate

import (
	"context"

	"secateur/internal/mcp/buffer"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/downstream"
	"secateur/internal/mcp/era"
	"secateur/internal/mcp/wire"
	"secateur/internal/rawjson"
)

// list answers with a page of all servers' lists.
func (s *clientConn) list(ctx context.Context, c *client, a request, l catalog.List) reply {
	ask, err := catalog.ReadAsk(a.Params)
	if err != nil {
		return refused(paramsFailed(err))
	}
	if p := s.profileOf(c, a.now); l == catalog.Tools && p.Finds() {
		if r, ok := s.listTools(ctx, c, a, p); ok {
			return r
		}
	}
	lists, info := c.member.Catalog(ctx)
	named := c.named(lists)
	if l == catalog.Tools && s.only == "" {
		s.noteContractNames(ctx, c, named)
	}
	var page catalog.Page
	if !a.now.Admission.Filters() {
		page, err = named.Page(l, ask, a.now.PageSize)
	} else {
		page, err = named.PageOf(l, ask, a.now.PageSize, func(server, original string) bool { return a.lists(l, server, original) })
		info.Scope = "" // it is for this client alone
	}
	if err != nil {
		return refused(paramsFailed(err))
	}
	var more rawjson.Object
	if c.era == era.Modern {
		more.Text("resultType", era.Complete)
		more.Int("ttlMs", max(info.TTLMillis, 0))
		more.Text("cacheScope", scopeWord(info.Scope))
		more.Raw("_meta", s.serverMeta())
	}
	body := wire.AppendResultFunc(buffer.Get(len(page.Items)+len(more)+256), a.ID,
		func(b []byte) []byte { return page.AppendResult(b, string(more)) })
	return reply{Answer: downstream.Answer{Body: body, Release: func() { buffer.Put(body) }}}
}

func scopeWord(scope string) string {
	if scope == "public" {
		return scope
	}
	return "private"
}
