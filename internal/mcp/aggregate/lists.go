package aggregate

import (
	"context"
	"slices"

	"secateur/internal/access"
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
	hidesTasks := l == catalog.Tools && !c.callsTasks() && lists.HasTaskTools()
	if !a.now.Admission.Filters() && !hidesTasks {
		page, err = named.Page(l, ask, a.now.PageSize)
	} else {
		page, err = named.PageOf(l, ask, a.now.PageSize, func(server, original string) bool {
			return a.lists(l, server, original) && (!hidesTasks || !lists.NeedsTask(server, original))
		})
		info.Scope = "" // it is for this client alone
	}
	if err != nil {
		return refused(paramsFailed(err))
	}
	meta := rawjson.Object{'{'}
	var more rawjson.Object
	if c.era == era.Modern {
		more.Text("resultType", era.Complete)
		more.Int("ttlMs", max(info.TTLMillis, 0))
		more.Text("cacheScope", scopeWord(info.Scope))
		meta.Raw(era.MetaServer, s.info)
	}
	if missing := s.unlisted(c, a, l); len(missing) > 0 {
		meta.Texts(metaMissing, missing)
	}
	if len(meta) > 1 {
		more.Raw("_meta", append(meta, '}'))
	}
	body := wire.AppendResultFunc(buffer.Get(len(page.Items)+len(more)+256), a.ID,
		func(b []byte) []byte { return page.AppendResult(b, string(more)) })
	return reply{Answer: downstream.Answer{Body: body, Release: func() { buffer.Put(body) }}}
}

// metaMissing is the member of a list's _meta that names the servers that are missing.
const metaMissing = "secateur/missing"

// unlisted returns the ids of the servers that have not listed yet and that the caller may see.
func (s *clientConn) unlisted(c *client, a request, l catalog.List) []string {
	if s.only != "" {
		return nil // that server's own answer
	}
	return slices.DeleteFunc(c.member.Missing(l), func(server string) bool {
		return !a.now.Admission.Sees(a.principal, access.DoorMCP, server)
	})
}

func scopeWord(scope string) string {
	if scope == "public" {
		return scope
	}
	return "private"
}
