package gateway

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"secateur/internal/mask"
	"secateur/internal/rpc"
	"secateur/internal/rpchttp"
	"secateur/internal/upstream"
)

// tenant owns the originals of this door. All callers share one token, so they share one tenant.
const tenant = ""

// recoveryTools give back what was cut, or cut by themselves: their results are never cut again.
var recoveryTools = []string{"prune_text", "recover_text", "recover_range", "recover_chars", "search_text"}

// prunerName is what a pruner calls itself in its handshake.
const prunerName = "mcp-pruner"

// mask cuts the long observations of a reply, each kept first, and returns what is to be sent and the ids of what
// was cut. Without a cut the reply's own bytes are returned.
func (g *Gateway) mask(ctx context.Context, up *upstream.Upstream, req *rpc.Message, reply *upstream.Reply) (rpchttp.Buffer, []string) {
	whole := rpchttp.Buffer{Bytes: reply.Raw}
	if len(reply.Long) == 0 {
		return whole, nil
	}
	tool := ""
	if req.Method == "tools/call" {
		tool = req.Name
	}
	if !up.Settings().Masked(tool) {
		return whole, nil
	}
	cuts := g.opt.Masker.Cuts(reply.Raw, reply.Long)
	if len(cuts) == 0 || (slices.Contains(recoveryTools, tool) && isPruner(ctx, up)) {
		return whole, nil
	}
	kept, ids := g.keep(ctx, up.ID(), reply.Raw, cuts)
	if len(kept) == 0 {
		return whole, nil
	}
	out := rpchttp.Grab(len(reply.Raw))
	out.Bytes = g.opt.Masker.Append(out.Bytes, reply.Raw, kept)
	g.metrics.masked(up.ID(), len(kept), len(reply.Raw)-len(out.Bytes))
	return out, ids
}

// isPruner asks a server for its name, once; one that does not tell is no pruner.
func isPruner(ctx context.Context, up *upstream.Upstream) bool {
	peer, err := up.Peer(ctx)
	return err == nil && peer.ServerName == prunerName
}

// keep stores the originals and returns the cuts whose original is safe.
func (g *Gateway) keep(ctx context.Context, server string, doc []byte, cuts []mask.Cut) (kept []mask.Cut, ids []string) {
	for _, c := range cuts {
		id, err := g.opt.Originals.Put(ctx, tenant, c.Text(doc))
		if err != nil { // content fails open: what cannot be kept is not cut
			g.metrics.refused(server)
			g.opt.Log.DebugContext(ctx, "original not kept, observation passes whole", "upstream", server, "chars", c.Chars, "err", err)
			continue
		}
		c.ID = id
		kept, ids = append(kept, c), append(ids, id)
	}
	return kept, ids
}

// What the answer's headers say of its cuts. Clients bound the size of headers, so that only so many ids are listed;
// all of them, one a line, are then an original of their own.
const (
	headerOriginals = "X-Secateur-Originals"
	headerMasked    = "X-Secateur-Masked"
	headerIndex     = "X-Secateur-Originals-Index"
	maxListed       = 100
)

// announce names the originals in the answer's headers.
func (g *Gateway) announce(ctx context.Context, h http.Header, ids []string) {
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

// distinct drops repeated ids: equal texts share one.
func distinct(ids []string) []string {
	seen := make(map[string]bool, len(ids))
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		again := seen[id]
		seen[id] = true
		return again
	})
}
