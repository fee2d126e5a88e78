package cutting

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/cut/mask"
	"secateur/internal/llm/tokens"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/telemetry"
	"secateur/internal/store/originals"
)

// Options make a Cutter.
type Options struct {
	Masker    *mask.Masker
	Originals originals.Store // where originals go before they are cut
	Door      string          // whose cuts they are, in the names of the metrics: gateway, mcp
	Metrics   prometheus.Registerer
	Observe   func(Made) // told of each cut; nil: nobody wants to know
	Log       *slog.Logger
	Replaces  *Cutter // whose place it takes: it counts on in the same metrics; nil: nobody's
}

// Made is a cut that was made.
type Made struct {
	ID           string // of the original
	RequestID    string // "": not known
	Door         string
	Server, Tool string
	Chars, Kept  int // of the original, and of what is left of it
	Tokens       int // an estimate of what is missing
}

// A Cutter keeps originals and makes cuts. Its methods may be used by many goroutines.
type Cutter struct {
	opt     Options
	metrics metrics
}

// New makes a Cutter.
func New(opt Options) (*Cutter, error) {
	if opt.Masker == nil || opt.Originals == nil || opt.Door == "" {
		return nil, errors.New("cutting: a masker, a store and the name of a door are needed")
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	c := &Cutter{opt: opt}
	c.opt.Replaces = nil
	if opt.Replaces != nil {
		c.metrics = opt.Replaces.metrics
	} else {
		c.metrics = newMetrics(opt.Metrics, opt.Door)
	}
	return c, nil
}

// A Server is who an answer is from: an [upstream.Upstream] or a connection of a pool's.
type Server interface {
	ID() string
	Settings() upstream.Settings
	Peer(ctx context.Context) (*upstream.Peer, error)
}

// Exempts reports whether the settings of a server want the results of a tool whole. Tool is "" for what is no tool's.
func (c *Cutter) Exempts(s Server, tool string) bool { return !s.Settings().Masked(tool) }

// Keep keeps for a tenant the originals of what find wants to cut out of a document, which is what a server's tool answered. Tool
// is "" for what is no tool's. Nothing is looked for, and nothing kept, where the result is spared.
func (c *Cutter) Keep(ctx context.Context, tenant string, s Server, tool string, doc []byte, find func(*mask.Masker) []mask.Cut) Kept {
	k := Kept{c: c, server: s.ID(), tool: tool, doc: doc}
	if c.Exempts(s, tool) {
		return k
	}
	cuts := find(c.opt.Masker)
	if len(cuts) == 0 || isRecovery(ctx, s, tool) {
		return k
	}
	for _, cut := range cuts {
		text := cut.Text(doc)
		if mask.IsRecovered(text) {
			continue
		}
		id, err := c.opt.Originals.Put(ctx, tenant, text)
		if err != nil { // content fails open: what cannot be kept is not cut
			c.metrics.unkept.WithLabelValues(k.server).Inc()
			c.opt.Log.DebugContext(ctx, "original not kept, text passes whole", "server", k.server, "chars", cut.Chars, "err", err)
			continue
		}
		cut.ID = id
		k.cuts, k.IDs = append(k.cuts, cut), append(k.IDs, id)
		if c.opt.Observe != nil {
			k.tokens, k.request = append(k.tokens, c.missing(text, cut.Chars)), telemetry.RequestID(ctx)
		}
	}
	return k
}

// missing estimates how many tokens a cut takes out of a text of so many characters. Results of tools are measured as logs, as in conversations.
func (c *Cutter) missing(text string, chars int) int {
	kept := c.opt.Masker.KeptChars()
	return int(float64(tokens.Sample(text, tokens.Logs)) * float64(chars-kept) / float64(max(chars, 1)))
}

// isRecovery asks a server for its name, where the tool could be a pruner's; one that does not tell is no pruner.
func isRecovery(ctx context.Context, s Server, tool string) bool {
	if !mask.IsRecovery(tool) {
		return false
	}
	peer, err := s.Peer(ctx)
	return err == nil && peer.ServerName == mask.PrunerName
}

// Kept are the cuts that may be made in a document, because their originals are safe.
type Kept struct {
	IDs []string // of the originals, in the document's order; equal texts share one. Empty: there is nothing to cut

	c       *Cutter
	server  string
	tool    string
	request string // its id
	doc     []byte
	cuts    []mask.Cut
	tokens  []int // that each of them takes out; nil: nobody wants to know
}

// Append appends the document with the cuts made.
func (k Kept) Append(dst []byte) []byte {
	before := len(dst)
	dst = k.c.opt.Masker.Append(dst, k.doc, k.cuts)
	k.c.metrics.cut(k.server, len(k.cuts), len(k.doc)-(len(dst)-before))
	for i, n := range k.tokens {
		k.c.opt.Observe(Made{
			ID: k.IDs[i], RequestID: k.request, Door: k.c.opt.Door, Server: k.server, Tool: k.tool, Chars: k.cuts[i].Chars, Kept: k.c.opt.Masker.KeptChars(), Tokens: n,
		})
	}
	return dst
}
