package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/cut/cutting"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
)

// mask cuts the long observations of a reply, after storing each one. It returns the bytes to send
// and the ids of the cuts. Without a cut it returns the reply's own bytes.
func (g *Gateway) mask(ctx context.Context, tenant string, up *upstream.Upstream, req *wire.Message, reply *upstream.Reply) (rpchttp.Buffer, []string) {
	whole := rpchttp.Buffer{Bytes: reply.Raw}
	if len(reply.Long) == 0 {
		return whole, nil
	}
	tool := ""
	if req.Method == "tools/call" {
		tool = req.Name
	}
	call := cutting.Call{Tenant: tenant, Server: up, Tool: tool}
	kept := g.cutter.Keep(ctx, call, reply.Raw, func(m *mask.Masker) []mask.Cut { return m.Cuts(reply.Raw, reply.Long) })
	if len(kept.IDs) == 0 {
		return whole, nil
	}
	out := rpchttp.Grab(len(reply.Raw))
	out.Bytes = kept.Append(out.Bytes)
	return out, kept.IDs
}

// Response headers about the cuts. Clients limit the size of headers, so at most maxListed ids are
// listed. If more exist, all ids, one per line, are stored as another original.
const (
	headerOriginals = "X-Secateur-Originals"
	headerMasked    = "X-Secateur-Masked"
	headerIndex     = "X-Secateur-Originals-Index"
	maxListed       = 100
)

// announce names the originals in the response headers.
func (g *Gateway) announce(ctx context.Context, tenant string, h http.Header, ids []string) {
	h.Set(headerMasked, strconv.Itoa(len(ids)))
	distinct := distinct(ids)
	if len(distinct) > maxListed {
		index, err := g.opt.Originals.Put(ctx, tenant, strings.Join(distinct, "\n")+"\n")
		if err != nil {
			g.opt.Log.DebugContext(ctx, "list of originals not kept", "ids", len(distinct), "err", err)
		} else {
			h.Set(headerIndex, index)
		}
		distinct = distinct[:maxListed]
	}
	h.Set(headerOriginals, strings.Join(distinct, ", "))
}

// distinct drops repeated ids, because equal texts share one.
func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}
