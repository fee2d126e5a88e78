package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/admission"
	"secateur/internal/cutting"
	"secateur/internal/mask"
	"secateur/internal/originals"
	"secateur/internal/rpc"
	"secateur/internal/rpchttp"
	"secateur/internal/tasks"
	"secateur/internal/upstream"
)

// Options make a Gateway.
type Options struct {
	// Servers is the server of an id, which stays until release is called; nil for an id that is not known.
	Servers         func(id string) (up *upstream.Upstream, release func())
	IDs             func() []string      // the known ids, for the answer to an unknown one
	IsDisabled      func(id string) bool // it is switched off in the configuration; nil: none is
	Masker          *mask.Masker
	Originals       originals.Store
	Admission       *admission.Control // nil: everyone may do everything
	Tasks           *tasks.Owners      // who made which task; nil: what this door makes is kept for this door
	MaxMessageBytes int64              // a larger request is refused
	Metrics         prometheus.Registerer
	Log             *slog.Logger
}

// Gateway serves POST /api/mcp-gateway/{server}/rpc.
type Gateway struct {
	opt      Options
	cutter   *cutting.Cutter
	metrics  metrics
	inFlight rpc.InFlight // by callID
}

// New makes a gateway.
func New(opt Options) (*Gateway, error) {
	if opt.Servers == nil || opt.IDs == nil || opt.Masker == nil || opt.Originals == nil || opt.MaxMessageBytes <= 0 {
		return nil, errors.New("gateway: servers, masker, originals and a message size are needed")
	}
	if opt.Tasks == nil {
		opt.Tasks = &tasks.Owners{}
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	cutter, err := cutting.New(cutting.Options{
		Masker: opt.Masker, Originals: opt.Originals, Door: "gateway", Metrics: opt.Metrics, Log: opt.Log,
	})
	if err != nil {
		return nil, err
	}
	return &Gateway{opt: opt, cutter: cutter, metrics: newMetrics(opt.Metrics)}, nil
}

// Serve answers one HTTP request of a principal who may call.
func (g *Gateway) Serve(w http.ResponseWriter, r *http.Request, principal *access.Principal) {
	if rpchttp.PostOnly(w, r) {
		return
	}
	began := time.Now()
	up, release := g.opt.Servers(r.PathValue("server"))
	defer release()
	server := "unknown"
	if up != nil {
		server = up.ID()
	}
	body, failed := rpchttp.Read(w, r, g.opt.MaxMessageBytes)
	if failed != nil {
		g.refuse(w, server, rpc.ID{}, failed)
		return
	}
	defer body.Release()
	req, bad := rpc.ParseRequest(body.Bytes, rpc.MaxRequestDepth)
	if bad != nil {
		g.refuse(w, server, req.ID, rpchttp.BadRequest(bad))
		return
	}
	if rpchttp.Counts(req.Method) {
		entry, over := g.opt.Admission.Enter(r.Context(), principal, access.DoorGateway)
		if over != nil {
			g.refuse(w, server, req.ID, refusedBy(over))
			return
		}
		defer entry.Leave()
		admission.SetHeaders(w.Header(), entry.State())
	}
	if up == nil || !g.opt.Admission.Sees(principal, access.DoorGateway, server) {
		g.refuse(w, server, req.ID, g.noServer(r, principal, &req, up != nil))
		return
	}
	permit, no := g.ask(r.Context(), principal, server, &req)
	if no != nil {
		g.refuse(w, server, req.ID, no)
		return
	}
	if no := g.foreignTask(r.Context(), principal, server, &req); no != nil {
		g.refuse(w, server, req.ID, no)
		return
	}
	written := 0
	defer func() { permit.Done(len(body.Bytes), written) }()
	admission.SetHeaders(w.Header(), permit.State())
	if params := permit.RedactParams(req.Params); len(params) > 0 && &params[0] != &req.Params[0] {
		req = req.WithParams(params)
	}
	if req.Kind() == rpc.Notification {
		g.notify(r.Context(), up, &req, principal)
		g.metrics.count(server, "notification", began)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	written = g.answer(w, r, up, &req, caller{principal, permit}, began)
}

// answer calls the server and writes what it says. It returns the size of that.
func (g *Gateway) answer(w http.ResponseWriter, r *http.Request, up *upstream.Upstream, req *rpc.Message, by caller, began time.Time) int {
	principal := by.principal
	ctx := r.Context()
	if isLive(up) {
		var done func()
		ctx, done = g.inFlight.Begin(ctx, callID(up, principal, req.ID))
		defer done()
	}
	reply, err := g.call(access.NewContext(ctx, principal), up, req)
	if err != nil {
		if r.Context().Err() != nil { // the caller is gone; nobody reads an answer
			g.metrics.count(up.ID(), "client_gone", began)
			return 0
		}
		g.refuse(w, up.ID(), req.ID, failureOf(ctx, up.ID(), err))
		return 0
	}
	defer reply.Release()
	if reply, err = g.ownTasks(ctx, up.ID(), req, reply, principal); err != nil {
		g.refuse(w, up.ID(), req.ID, failureOf(ctx, up.ID(), err))
		return 0
	}
	if reply, err = g.withhold(up.ID(), req, reply, by); err != nil {
		g.refuse(w, up.ID(), req.ID, failureOf(ctx, up.ID(), err))
		return 0
	}
	out, kept := g.mask(ctx, principal.Owner(), up, req, reply)
	if len(kept) > 0 {
		g.announce(ctx, principal.Owner(), w.Header(), kept)
	}
	rpchttp.Write(w, http.StatusOK, out.Bytes)
	size := len(out.Bytes)
	out.Release()
	g.metrics.count(up.ID(), outcomeOf(reply), began)
	return size
}

// errCancelled is why a call ended whose caller asked for that.
var errCancelled = errors.New("cancelled by the caller")

// callID names a call as its caller does. Callers without a session may share one.
func callID(up *upstream.Upstream, principal *access.Principal, id rpc.ID) rpc.ID {
	return rpc.StringID(up.ID() + "\x00" + principal.Key() + "\x00" + id.Key())
}

// call asks the server, or answers in its place what its handshake already told: a second initialize would confuse
// a server that has a connection.
func (g *Gateway) call(ctx context.Context, up *upstream.Upstream, req *rpc.Message) (*upstream.Reply, error) {
	if !isLive(up) {
		return up.Call(ctx, req)
	}
	var result func(*upstream.Peer) []byte
	switch req.Method {
	case "initialize":
		result = (*upstream.Peer).InitializeResult
	case "server/discover":
		result = (*upstream.Peer).DiscoverResult
	case "ping":
		result = func(*upstream.Peer) []byte { return []byte("{}") }
	default:
		return up.Call(ctx, req)
	}
	peer, err := up.Peer(ctx)
	if err != nil {
		return nil, err
	}
	msg, err := rpc.ParseServer(rpc.AppendResult(nil, req.ID, result(peer)), g.opt.Masker.LongString())
	if err != nil {
		return nil, err
	}
	return &upstream.Reply{Message: msg}, nil
}

// isLive reports whether a server is reached through a connection that it shook hands on, as opposed to one that
// gets every message by itself, as its caller wrote it.
func isLive(up *upstream.Upstream) bool { return up.Settings().Transport != upstream.TransportRPC }

// notifyWait is how long the answer to a notification waits for its delivery, so that what a client sends in
// order reaches the server in order. The delivery itself may take longer.
const notifyWait = 2 * time.Second

// notify passes a notification on. Its sender is told nothing of the outcome.
func (g *Gateway) notify(ctx context.Context, up *upstream.Upstream, n *rpc.Message, principal *access.Principal) {
	if isLive(up) {
		switch n.Method {
		case "notifications/initialized":
			return // this connection's own handshake has said so
		case "notifications/cancelled":
			g.inFlight.Cancel(callID(up, principal, n.RequestID()), errCancelled)
			return
		}
	}
	ctx, stop := context.WithTimeout(ctx, notifyWait)
	defer stop()
	if err := up.Notify(ctx, n); err != nil {
		g.opt.Log.DebugContext(ctx, "notification not delivered", "server", up.ID(), "method", n.Method, "err", err)
	}
}
