package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/cut/cutting"
	"secateur/internal/cut/mask"
	"secateur/internal/mcp/catalog"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/tasks"
	"secateur/internal/mcp/upstream"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/events"
	"secateur/internal/ops/telemetry"
	"secateur/internal/store/originals"
)

// Options configure a Gateway.
type Options struct {
	// Servers returns the server of an id, held until release is called; nil: unknown id.
	Servers    func(id string) (up *upstream.Upstream, release func())
	IDs        func() []string      // the known ids, for the answer to an unknown one
	IsDisabled func(id string) bool // disabled in the configuration; nil: none is
	// Lists returns what a server lists; it may ask the server. Required if access rules exist.
	Lists  func(ctx context.Context, id string) *catalog.Catalog
	Lister admission.Lister // waits for the lists of Servers' servers; nil: no waiting
	// Subscribe briefly asks a server for updates of a resource. refused is the server's error
	// object. Nil: no subscriptions.
	Subscribe       func(ctx context.Context, id, uri string) (refused []byte, err error)
	Masker          *mask.Masker
	Originals       originals.Store
	Admission       *admission.Control // nil: everyone may do everything
	Tasks           *tasks.Owners      // owners of tasks; nil: this door keeps its own
	MaxMessageBytes int64              // a larger request is refused
	Metrics         prometheus.Registerer
	Events          *events.Feed          // nil: no events
	Tools           *telemetry.ToolLabels // nil: no per-tool labels
	Cut             func(cutting.Made)    // called for each cut; nil: not called
	Log             *slog.Logger

	// Replaces is the predecessor. Its running calls can still be cancelled, and its metrics
	// continue; nil: none.
	Replaces *Gateway
}

// Gateway serves POST /api/mcp-gateway/{server}/rpc.
type Gateway struct {
	opt      Options
	cutter   *cutting.Cutter
	metrics  telemetry.Requests
	inFlight *wire.InFlight // by callID
}

// New returns a Gateway.
func New(opt Options) (*Gateway, error) {
	if opt.Servers == nil || opt.IDs == nil || opt.Masker == nil || opt.Originals == nil || opt.MaxMessageBytes <= 0 || opt.Admission.Rules() != nil && opt.Lists == nil {
		return nil, errors.New("gateway: servers, masker, originals, a message size and, with rules, lists are needed")
	}
	if opt.Tasks == nil {
		opt.Tasks = &tasks.Owners{}
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	g := &Gateway{opt: opt}
	g.opt.Replaces = nil
	cut := cutting.Options{Masker: opt.Masker, Originals: opt.Originals, Door: "gateway", Metrics: opt.Metrics, Observe: opt.Cut, Log: opt.Log}
	if before := opt.Replaces; before != nil {
		g.metrics, g.inFlight, cut.Replaces = before.metrics, before.inFlight, before.cutter
	} else {
		g.metrics, g.inFlight = newMetrics(opt.Metrics), &wire.InFlight{}
	}
	var err error
	g.cutter, err = cutting.New(cut)
	return g, err
}

// Serve answers one HTTP request of a principal that may call.
func (g *Gateway) Serve(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	if rpchttp.PostOnly(w, r) {
		return
	}
	up, release := g.opt.Servers(r.PathValue("server"))
	defer release()
	t := g.begin(principal)
	if up != nil {
		t.Server = up.ID()
	}
	body, failed := rpchttp.Read(w, r, g.opt.MaxMessageBytes)
	if failed != nil {
		t.refuse(r.Context(), w, wire.ID{}, failed)
		return
	}
	defer body.Release()
	t.In = len(body.Bytes)
	req, bad := wire.ParseRequest(body.Bytes, wire.MaxRequestDepth)
	if bad != nil {
		t.refuse(r.Context(), w, req.ID, rpchttp.BadRequest(bad))
		return
	}
	t.about(req.Method, req.Name)
	by := caller{principal: principal}
	if rpchttp.Counts(req.Method) {
		entry, over := g.opt.Admission.Enter(r.Context(), principal, access.DoorGateway)
		if over != nil {
			t.refuse(r.Context(), w, req.ID, refusedBy(over))
			return
		}
		defer entry.Leave()
		admission.SetHeaders(w.Header(), entry.State())
	}
	if up == nil || !g.opt.Admission.Sees(principal, access.DoorGateway, t.Server) {
		t.refuse(r.Context(), w, req.ID, g.noServer(r, principal, &req, up != nil))
		return
	}
	var no *rpchttp.Failure
	by.targets = admission.TargetsOf(access.DoorGateway, t.Server, &req)
	if by.permit, no = g.ask(r.Context(), principal, t.Server, &req, by.targets); no != nil {
		t.refuse(r.Context(), w, req.ID, no)
		return
	}
	if no := g.foreignTask(r.Context(), principal, t.Server, &req); no != nil {
		t.refuse(r.Context(), w, req.ID, no)
		return
	}
	defer func() { by.permit.Done(t.In, t.Out) }()
	by.told = admission.ToldIn(w.Header())
	admission.SetHeaders(w.Header(), by.permit.State())
	if params := by.permit.RedactParams(req.Params); len(params) > 0 && &params[0] != &req.Params[0] {
		req = req.WithParams(params)
	}
	if req.Kind() == wire.Notification {
		if by.targets == nil {
			req = *g.opt.Admission.RedactSaid(principal, access.DoorGateway, t.Server, &req)
		}
		g.notify(r.Context(), up, &req, principal)
		t.End(r.Context(), "notification")
		w.WriteHeader(http.StatusAccepted)
		return
	}
	g.answer(w, r, up, &req, by, &t)
}

// answer calls the server and writes its answer.
func (g *Gateway) answer(w http.ResponseWriter, r *http.Request, up *upstream.Upstream, req *wire.Message, by caller, t *timing) {
	principal := by.principal
	ctx, span := telemetry.StartMessage(r.Context(), req.Meta())
	t.Span = span
	if isLive(up) {
		var done func()
		ctx, done = g.inFlight.Begin(ctx, callID(up, principal, req.ID))
		defer done()
	}
	reply, err := g.call(access.NewContext(ctx, principal), up, req)
	if err != nil {
		if r.Context().Err() != nil { // the caller is gone; no answer is needed
			t.End(ctx, "client_gone")
			return
		}
		t.refuse(ctx, w, req.ID, failureOf(ctx, up.ID(), err))
		return
	}
	defer reply.Release()
	if no := g.absent(ctx, w.Header(), up.ID(), reply, by); no != nil {
		t.refuse(ctx, w, req.ID, no)
		return
	}
	if reply, err = g.ownTasks(ctx, up.ID(), req, reply, principal); err != nil {
		t.refuse(ctx, w, req.ID, failureOf(ctx, up.ID(), err))
		return
	}
	if reply, err = g.withhold(ctx, up.ID(), req, reply, by); err != nil {
		t.refuse(ctx, w, req.ID, failureOf(ctx, up.ID(), err))
		return
	}
	out, kept := g.mask(ctx, principal.Owner(), up, req, reply)
	if len(kept) > 0 {
		g.announce(ctx, principal.Owner(), w.Header(), kept)
	}
	t.Out = len(out.Bytes)
	rpchttp.Write(w, http.StatusOK, out.Bytes)
	out.Release()
	t.End(ctx, outcomeOf(reply))
}

// errCancelled is the cause when a caller cancels its call.
var errCancelled = errors.New("cancelled by the caller")

// callID identifies a call like its caller does. Callers without a session may share one.
func callID(up *upstream.Upstream, principal *access.Principal, id wire.ID) wire.ID {
	return wire.StringID(up.ID() + "\x00" + principal.Key() + "\x00" + id.Key())
}

// call asks the server. It answers requests about the shared connection itself.
func (g *Gateway) call(ctx context.Context, up *upstream.Upstream, req *wire.Message) (*upstream.Reply, error) {
	if !isLive(up) {
		return up.Call(ctx, req)
	}
	if req.Method == "resources/subscribe" {
		return g.subscribe(ctx, up, req)
	}
	result, refused, err := g.answered(ctx, up, req)
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return g.own(refused.AppendResponse(nil, req.ID))
	case result != nil:
		return g.own(wire.AppendResult(nil, req.ID, result))
	}
	return up.Call(ctx, req)
}

// isLive reports whether a server has a connection with a handshake. A plain server gets every
// message separately, as its caller wrote it.
func isLive(up *upstream.Upstream) bool { return up.Settings().Transport != upstream.TransportRPC }

// notifyWait is how long the response to a notification waits for its delivery. A client's messages
// thus reach the server in order. The delivery itself may take longer.
const notifyWait = 2 * time.Second

// notify passes a notification on. Its sender does not learn the outcome.
func (g *Gateway) notify(ctx context.Context, up *upstream.Upstream, n *wire.Message, principal *access.Principal) {
	if isLive(up) {
		if n.Method == "notifications/cancelled" {
			g.inFlight.Cancel(callID(up, principal, n.RequestID()), errCancelled)
			return
		}
		if isOwn(n.Method) {
			return
		}
	}
	ctx, stop := context.WithTimeout(ctx, notifyWait)
	defer stop()
	if err := up.Notify(ctx, n); err != nil {
		g.opt.Log.DebugContext(ctx, "notification not delivered", "server", up.ID(), "method", n.Method, "err", err)
	}
}
