package cutting

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/cut/mask"
	"secateur/internal/llm/tokens"
	"secateur/internal/mcp/upstream"
	"secateur/internal/ops/telemetry"
	"secateur/internal/prune"
	"secateur/internal/rawjson"
	"secateur/internal/store/originals"
)

// Options make a Cutter.
type Options struct {
	Masker    *mask.Masker
	Originals originals.Store // where originals go before they are cut
	Target    int             // characters that a text is pruned towards for its goal; 0: head and tail stay
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
	Chars, Kept  int    // of the original, and of what is left of it
	Tokens       int    // an estimate of what is missing
	Sent         string // what is left, where it was pruned for a goal; "": head and tail
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

// Call is the call that a document answers.
type Call struct {
	Tenant string
	Server Server
	Tool   string // "": what is no tool's

	Goal        Goal
	Session     *Session // nil: none is known
	RecoverTool string   // what the client calls recover_text, for the first marker of a session; "": it has none
}

// Keep keeps the originals of what find wants to cut out of the document that answers a call. Nothing is looked for, and nothing kept,
// where the result is spared.
func (c *Cutter) Keep(ctx context.Context, call Call, doc []byte, find func(*mask.Masker) []mask.Cut) Kept {
	k := Kept{c: c, call: call, doc: doc}
	if c.Exempts(call.Server, call.Tool) {
		return k
	}
	cuts := find(c.opt.Masker)
	if len(cuts) == 0 || isRecovery(ctx, call.Server, call.Tool) {
		return k
	}
	k.request = telemetry.RequestID(ctx)
	shorter := c.shortener(call)
	for _, cut := range cuts {
		text := cut.Text(doc)
		if mask.IsRecovered(text) {
			continue
		}
		out, ok := shorter.shorten(text)
		if !ok {
			continue
		}
		id, err := c.opt.Originals.Put(ctx, call.Tenant, text)
		if err != nil { // content fails open: what cannot be kept is not cut
			c.metrics.unkept.WithLabelValues(call.Server.ID()).Inc()
			c.opt.Log.DebugContext(ctx, "original not kept, text passes whole", "server", call.Server.ID(), "chars", cut.Chars, "err", err)
			continue
		}
		cut.ID = id
		made := Made{ID: id, Chars: cut.Chars, Kept: c.opt.Masker.KeptChars()}
		if c.opt.Target > 0 {
			made.Sent = strings.Replace(out, prune.CostlyID, id, 1)
			made.Kept = rawjson.Chars(made.Sent)
			cut.Out = rawjson.AppendQuoted(nil, made.Sent)
			shorter.made(text, out)
		}
		if c.opt.Observe != nil {
			made.Tokens = missing(text, made)
		}
		k.cuts, k.IDs, k.made = append(k.cuts, cut), append(k.IDs, id), append(k.made, made)
	}
	return k
}

// missing estimates how many tokens a cut takes out of a text. Results of tools are measured as logs, as in conversations.
func missing(text string, m Made) int {
	return int(float64(tokens.Sample(text, tokens.Logs)) * float64(m.Chars-m.Kept) / float64(max(m.Chars, 1)))
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
	call    Call
	request string // its id
	doc     []byte
	cuts    []mask.Cut
	made    []Made // what each of the cuts is
}

// Append appends the document with the cuts made.
func (k Kept) Append(dst []byte) []byte {
	before, server := len(dst), k.call.Server.ID()
	dst = k.c.opt.Masker.Append(dst, k.doc, k.cuts)
	k.c.metrics.cut(server, len(k.made), len(k.doc)-(len(dst)-before))
	for _, m := range k.made {
		if k.c.opt.Observe != nil {
			m.RequestID, m.Door, m.Server, m.Tool = k.request, k.c.opt.Door, server, k.call.Tool
			k.c.opt.Observe(m)
		}
	}
	return dst
}
