package aggregate

import (
	"context"
	"strconv"

	"secateur/internal/catalog"
	"secateur/internal/era"
	"secateur/internal/upstream"
)

// list answers with a page of all servers' lists.
func (s *session) list(ctx context.Context, c *client, a asked, l catalog.List) reply {
	ask, err := catalog.ReadAsk(a.Params)
	if err != nil {
		return refused(paramsFailed(err))
	}
	lists, info := c.member.Catalog(ctx)
	named := c.named(lists)
	if l == catalog.Tools && s.only == "" {
		s.noteContractNames(ctx, c, named)
	}
	page, err := named.Page(l, ask, s.opt.PageSize)
	if err != nil {
		return refused(paramsFailed(err))
	}
	more := ""
	if c.era == upstream.Modern {
		more = `"resultType":"complete","ttlMs":` + strconv.FormatInt(max(info.TTLMillis, 0), 10) +
			`,"cacheScope":"` + scopeWord(info.Scope) + `","_meta":{"` + era.MetaServer + `":` + string(s.info) + `}`
	}
	b := append(make([]byte, 0, len(page.Items)+len(more)+256), `{"jsonrpc":"2.0","id":`...)
	b = append(a.ID.Append(b), `,"result":`...)
	r := reply{}
	r.Body = append(page.AppendResult(b, more), '}')
	return r
}

func scopeWord(scope string) string {
	if scope == "public" {
		return scope
	}
	return "private"
}
