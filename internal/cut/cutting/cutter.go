package cutting

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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
	Head, Tail   int    // characters that are left of its beginning and end, where Sent is ""

	booked bool // the client's model was spared it
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

	// The structuredContent of the document; zero: it has none.
	StructuredAt rawjson.Span
	// The client's model reads it instead of the texts.
	ReadsStructured bool
	Schema          []byte // that it has to obey; nil: none
	// The most characters of a result that the client passes on to its model; 0: all.
	MaxChars int
}

// isRead reports whether the client's model reads the part that a cut shortens.
func (c Call) isRead(cut *mask.Cut) bool { return cut.Within(c.StructuredAt) == c.ReadsStructured }

// recoverChars is what the client calls recover_chars.
func (c Call) recoverChars() string {
	return strings.TrimSuffix(c.RecoverTool, mask.RecoverTool) + mask.RecoverCharsTool
}

// Keep stores the originals of the cuts that find returns for a call's document. A spared result is
// not searched. If nothing can be cut that the model reads, everything stays whole.
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
	for i := range cuts {
		if call.isRead(&cuts[i]) {
			k.keep(ctx, shorter, cuts[i], true)
		}
	}
	if len(k.cuts) == 0 {
		return k
	}
	for i := range cuts {
		if !call.isRead(&cuts[i]) {
			k.keep(ctx, shorter, cuts[i], false)
		}
	}
	return k
}

// keep keeps the original of one cut, and adds the cut.
func (k *Kept) keep(ctx context.Context, shorter *shortener, cut mask.Cut, isRead bool) {
	c, call := k.c, k.call
	text := cut.Text(k.doc)
	if mask.IsRecovered(text) {
		return
	}
	out, ok := shorter.shorten(text, &cut)
	if !ok {
		return
	}
	id, err := c.opt.Originals.Put(ctx, call.Tenant, text)
	if err != nil { // content fails open: what cannot be kept is not cut
		c.metrics.unkept.WithLabelValues(call.Server.ID()).Inc()
		c.opt.Log.DebugContext(ctx, "original not kept, text passes whole", "server", call.Server.ID(), "chars", cut.Chars, "err", err)
		return
	}
	cut.ID, cut.Tool = id, call.recoverChars()
	made := Made{ID: id, Chars: cut.Chars, Kept: cut.Head + cut.Tail, Head: cut.Head, Tail: cut.Tail}
	if c.opt.Target > 0 {
		made.Sent = strings.Replace(out, prune.CostlyID, id, 1)
		made.Kept = rawjson.Chars(made.Sent)
		cut.Out = []byte(made.Sent)
		if !cut.JSON {
			cut.Out = rawjson.AppendQuoted(nil, made.Sent)
		}
		shorter.made(text, out)
	}
	made.booked = isRead && !slices.Contains(k.IDs, id) // one original, one booking
	if c.opt.Observe != nil && made.booked {
		made.Tokens = missing(text, made)
	}
	k.cuts, k.IDs, k.made = append(k.cuts, cut), append(k.IDs, id), append(k.made, made)
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
	// Ids of the originals, those that the model reads first. Equal texts share one. Empty: no cuts.
	IDs []string

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
	mask.SortCuts(k.cuts)
	dst = k.c.opt.Masker.Append(dst, k.doc, k.cuts)
	booked := 0
	for _, m := range k.made {
		if !m.booked {
			continue
		}
		booked++
		if k.c.opt.Observe != nil {
			m.RequestID, m.Door, m.Server, m.Tool = k.request, k.c.opt.Door, server, k.call.Tool
			k.c.opt.Observe(m)
		}
	}
	k.c.metrics.cut(server, booked, len(k.doc)-(len(dst)-before))
	return dst
}
