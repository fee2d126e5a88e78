package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/access/auth"
	"secateur/internal/front/budget"
	"secateur/internal/front/datarate"
	"secateur/internal/llm/hook"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/capture"
	"secateur/internal/ops/events"
	"secateur/internal/ops/replica"
	"secateur/internal/ops/telemetry"
	"secateur/internal/ops/ui"
)

// door is a handler for an admitted caller.
type door func(w http.ResponseWriter, r *http.Request, principal *access.Principal)

// refusal answers a refused caller in the format of the door.
type refusal func(w http.ResponseWriter, r *http.Request, v access.Verdict)

// guard precedes every route. It refuses requests of foreign web pages, authenticates the caller,
// and recovers from panics. Clients behind it may not send or read too slowly.
type guard struct {
	policy    access.Policy
	auth      *auth.Authenticator
	admission *admission.Control
	budget    *budget.Budget
	log       *slog.Logger
	guesses   *guesses
	rates     *datarate.Guard
	tracing   *telemetry.Tracing // nil: off
	feed      *events.Feed
	capture   *capture.Recorder // nil: nothing is captured
	replicas  *replica.Group    // nil: single replica
	sessions  *ui.Sessions
}

// open admits every caller, unless a web page sent the request.
func (g guard) open(h http.HandlerFunc) http.Handler {
	return g.safely(func(w http.ResponseWriter, r *http.Request) {
		if v := g.policy.CheckSite(requestOf(r)); v.Kind != access.Allowed {
			g.note(r, v)
			plainRefusal(w, r, v)
			return
		}
		h(w, r)
	})
}

// site admits every caller, unless a web page sent the request. The door itself refuses unknown
// callers; callerOf tells it.
func (g guard) site(h http.Handler) http.Handler {
	serve := func(w http.ResponseWriter, r *http.Request, _ *access.Principal) { h.ServeHTTP(w, r) }
	return g.safely(func(w http.ResponseWriter, r *http.Request) {
		if replica.IsForwarded(r.Header) {
			p, v := g.fromReplica(r)
			if v.Kind != access.Allowed {
				g.note(r, v)
				rpchttp.Refuse(w, r, v)
				return
			}
			g.holdWith(&caller{r.Context(), p, v}, rpchttp.Refuse, w, r, p, serve) //nolint:contextcheck // derived from the request's context
			return
		}
		v := g.policy.CheckSite(effective(r))
		if auth.IsReplica(r) {
			v = access.Verdict{Kind: access.Forbidden, Reason: "over a connection of another replica, and not handed over"}
		}
		if v.Kind != access.Allowed {
			g.note(r, v)
			rpchttp.Refuse(w, r, v)
			return
		}
		var p *access.Principal
		p, v = g.auth.Authenticate(r)
		if !v.MessageMayTell() {
			g.note(r, v)
			if v = g.guesses.slow(r, v); v.Kind == access.Guessing {
				rpchttp.Refuse(w, r, v)
				return
			}
		}
		ctx := &caller{r.Context(), p, v}
		g.holdWith(ctx, rpchttp.Refuse, w, r, p, serve) //nolint:contextcheck // derived from the request's context
	})
}

// fromReplica admits a request forwarded by another replica, for the principal that the other one
// admitted.
func (g guard) fromReplica(r *http.Request) (*access.Principal, access.Verdict) {
	p, err := g.replicas.Accept(r)
	if err != nil {
		return nil, access.Verdict{Kind: access.Forbidden, Reason: err.Error()}
	}
	if p = g.auth.Recognize(p); p == nil {
		return nil, access.Verdict{Kind: access.Forbidden, Reason: "whom another replica has let in is not known to this one"}
	}
	return p, access.Verdict{Kind: access.Allowed}
}

// caller is the guard's result for a request, for a door that is an http.Handler. It is a context
// itself to save an allocation.
type caller struct {
	context.Context //nolint:containedctx // as package context does

	principal *access.Principal
	verdict   access.Verdict
}

type callerKey struct{}

// Value returns the caller itself for its key.
func (c *caller) Value(key any) any {
	if key == (callerKey{}) {
		return c
	}
	return c.Context.Value(key)
}

func callerOf(r *http.Request) (*access.Principal, access.Verdict) {
	c, ok := r.Context().Value(callerKey{}).(*caller)
	if !ok {
		return nil, access.Verdict{Kind: access.Unauthorized, Cause: access.CauseMissing}
	}
	return c.principal, c.verdict
}

// shut admits known callers. Their open requests end when their token is revoked.
func (g guard) shut(refuse refusal, d door) http.Handler {
	return g.safely(func(w http.ResponseWriter, r *http.Request) {
		v := g.policy.CheckSite(effective(r))
		if auth.IsReplica(r) { // these doors accept no forwarded requests
			v = access.Verdict{Kind: access.Forbidden, Reason: "over a connection of another replica"}
		}
		var p *access.Principal
		if v.Kind == access.Allowed {
			p, v = g.auth.Authenticate(r)
		}
		if v.Kind != access.Allowed {
			g.note(r, v)
			refuse(w, r, g.guesses.slow(r, v))
			return
		}
		g.hold(refuse, w, r, p, d)
	})
}

// note audits a refused request.
func (g guard) note(r *http.Request, v access.Verdict) {
	switch v.Kind {
	case access.Unauthorized:
		g.admission.Unauthorized(r.Context(), doorOf(r.URL.Path), string(v.Cause))
	case access.Forbidden:
		g.admission.Forbidden(r.Context(), doorOf(r.URL.Path))
	}
}

// doorOf returns the door of a path.
func doorOf(path string) access.Door {
	switch {
	case strings.HasPrefix(path, "/api/mcp-gateway/"):
		return access.DoorGateway
	case path == "/mcp" || strings.HasPrefix(path, "/mcp/"):
		return access.DoorMCP
	case path == "/rpc":
		return access.DoorPruner
	case strings.HasPrefix(path, "/v1/") || path == "/chat/completions" || path == "/models" || path == hook.Path:
		return access.DoorChat
	default:
		return access.DoorAdmin
	}
}

// hold serves a request within the memory budget and ends it when its caller's token is revoked.
// The bytes of the request and its response count from here on.
func (g guard) hold(refuse refusal, w http.ResponseWriter, r *http.Request, p *access.Principal, d door) {
	g.holdWith(r.Context(), refuse, w, r, p, d)
}

// holdWith is hold with another context, derived from the request's.
func (g guard) holdWith(ctx context.Context, refuse refusal, w http.ResponseWriter, r *http.Request, p *access.Principal, d door) {
	if p != nil {
		callerIsKnown(ctx)
	}
	held, err := g.budget.Open(access.HolderOf(p))
	if err != nil {
		g.admission.Overloaded(ctx, doorOf(r.URL.Path))
		refuse(w, r, access.Verdict{Kind: access.Overloaded, Reason: err.Error()})
		return
	}
	defer func() {
		if held.Refused() {
			g.admission.Overloaded(ctx, doorOf(r.URL.Path))
		}
		held.Close()
	}()
	ctx, release := g.auth.Hold(ctx, p, r.TLS)
	defer release()
	r = r.WithContext(budget.With(ctx, held))
	r.Body = held.Body(r.Body)
	if g.capture != nil && p != nil && doorOf(r.URL.Path) != access.DoorAdmin {
		var end func()
		w, r, end = g.capture.Begin(p, telemetry.RequestID(ctx), w, r)
		defer end()
	}
	d(w, r, p)
}

// role admits callers with one of these roles.
func (g guard) role(d door, roles ...string) http.Handler {
	return g.shut(plainRefusal, g.withRole(d, roles...))
}

// withRole is a door for callers with one of these roles.
func (g guard) withRole(d door, roles ...string) door {
	return func(w http.ResponseWriter, r *http.Request, p *access.Principal) {
		if !g.admission.Lists(p, access.Target{Door: access.DoorAdmin, Kind: access.KindRoute, Name: r.URL.Path}) {
			// As if it did not exist.
			admin.NewProblem(http.StatusNotFound, admin.CodeInvalidRequest, "there is no such endpoint", "").Write(w)
			return
		}
		if !p.HasRole(roles...) {
			g.admission.Forbidden(r.Context(), access.DoorAdmin)
			plainRefusal(w, r, access.Verdict{Kind: access.Forbidden, Reason: "this needs the role " + strings.Join(roles, " or ")})
			return
		}
		g.limited(d)(w, r, p)
	}
}

// limited is a control plane door for callers within their limits. A tool call counts as at any
// other door.
func (g guard) limited(d door) door {
	return func(w http.ResponseWriter, r *http.Request, p *access.Principal) {
		enter := g.admission.EnterView
		if r.URL.Path == admin.Base+admin.CallPath {
			enter = func(ctx context.Context, p *access.Principal) (admission.Entry, *admission.Refusal) {
				return g.admission.Enter(ctx, p, access.DoorAdmin)
			}
		}
		entry, over := enter(r.Context(), p)
		if over != nil {
			asProblem(over).Write(w)
			return
		}
		defer entry.Leave()
		admission.SetHeaders(w.Header(), entry.State())
		d(w, r, p)
	}
}

// ready reports whether the program is ready, with details for administrators. Guessing callers are
// slowed down as at any door.
func (g guard) ready(tell func(w http.ResponseWriter, isAdmin bool)) http.Handler {
	return g.open(func(w http.ResponseWriter, r *http.Request) {
		p, v := g.auth.Authenticate(r)
		if v = g.guesses.slow(r, v); v.Kind == access.Guessing {
			plainRefusal(w, r, v)
			return
		}
		tell(w, p.HasRole(access.RoleAdmin))
	})
}

// safely gives a request its id, starts its trace and recovers from panics.
func (g guard) safely(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, id := telemetry.WithRequest(r.Context(), r.Header.Get(telemetry.HeaderRequestID), g.tracing)
		w.Header().Set(idHeader(r.URL.Path), id)
		ctx, span := g.tracing.StartHTTP(ctx, r, r.Pattern)
		g.rates.Serve(w, r.WithContext(ctx), func(w http.ResponseWriter, r *http.Request) {
			if g.tracing != nil {
				seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
				w = seen
				defer func() {
					span.Status(seen.status)
					span.End("")
				}()
			}
			defer func() { //nolint:contextcheck // it has the request's
				if p := recover(); p != nil {
					if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
						panic(p)
					}
					g.log.ErrorContext(r.Context(), "handler panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
					http.Error(w, "internal error", http.StatusInternalServerError)
				}
			}()
			if fields(r.Header) > maxHeaderFields {
				w.Header().Set("Connection", "close")
				http.Error(w, fmt.Sprintf("the header has more than %d fields", maxHeaderFields), http.StatusRequestHeaderFieldsTooLarge)
				return
			}
			h(w, r)
		})
	})
}

// statusWriter records the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader records the status and starts the response.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func requestOf(r *http.Request) access.Request {
	return access.Request{
		ReadOnly: r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions,
		Host:     r.Host, Origin: r.Header.Get("Origin"), FetchSite: r.Header.Get("Sec-Fetch-Site"),
	}
}

// effective is a request to a door with side effects, whatever its method: a link or an image on
// another site's page must not make us call a provider.
func effective(r *http.Request) access.Request {
	req := requestOf(r)
	req.ReadOnly = false
	return req
}

// plainRefusal refuses at a route that is no JSON-RPC door.
func plainRefusal(w http.ResponseWriter, _ *http.Request, v access.Verdict) { admin.Refuse(w, v) }
