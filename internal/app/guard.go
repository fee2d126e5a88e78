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
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/capture"
	"secateur/internal/ops/events"
	"secateur/internal/ops/replica"
	"secateur/internal/ops/telemetry"
	"secateur/internal/ops/ui"
)

// door is a handler for a caller who may come in.
type door func(w http.ResponseWriter, r *http.Request, principal *access.Principal)

// refusal answers a caller who may not, in the words of the door.
type refusal func(w http.ResponseWriter, r *http.Request, v access.Verdict)

// guard stands before every route: it turns away what a stranger's web page could send, asks who is calling, and
// catches what should never happen. No client behind it may send or read too slowly.
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
	capture   *capture.Recorder // nil: nothing is kept
	replicas  *replica.Group    // nil: there is one alone
	sessions  *ui.Sessions
}

// open lets every caller in whose request is no web page's.
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

// site lets every caller in whose request is no web page's, and leaves it to the door to turn away who is not known: callerOf tells it.
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
			g.holdWith(&caller{r.Context(), p, v}, rpchttp.Refuse, w, r, p, serve) //nolint:contextcheck // it is the request's, and more
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
		g.holdWith(ctx, rpchttp.Refuse, w, r, p, serve) //nolint:contextcheck // it is the request's, and more
	})
}

// fromReplica lets a request in that another replica has forwarded, for whom that has let in.
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

// caller is what the guard found out about a request, for a door that is an http.Handler. It is a context itself: every request
// has one.
type caller struct {
	context.Context //nolint:containedctx // as the contexts of package context do

	principal *access.Principal
	verdict   access.Verdict
}

type callerKey struct{}

// Value gives the caller itself for its key.
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

// shut lets those in who are known. What they have open ends when their token is revoked.
func (g guard) shut(refuse refusal, d door) http.Handler {
	return g.safely(func(w http.ResponseWriter, r *http.Request) {
		v := g.policy.CheckSite(effective(r))
		if auth.IsReplica(r) { // nothing is handed over to these doors
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

// note writes down who was turned away.
func (g guard) note(r *http.Request, v access.Verdict) {
	switch v.Kind {
	case access.Unauthorized:
		g.admission.Unauthorized(r.Context(), doorOf(r.URL.Path), string(v.Cause))
	case access.Forbidden:
		g.admission.Forbidden(r.Context(), doorOf(r.URL.Path))
	}
}

// doorOf is the door that a path leads to.
func doorOf(path string) access.Door {
	switch {
	case strings.HasPrefix(path, "/api/mcp-gateway/"):
		return access.DoorGateway
	case path == "/mcp" || strings.HasPrefix(path, "/mcp/"):
		return access.DoorMCP
	case path == "/rpc":
		return access.DoorPruner
	case strings.HasPrefix(path, "/v1/") || path == "/chat/completions" || path == "/models":
		return access.DoorChat
	default:
		return access.DoorAdmin
	}
}

// hold serves a request that ends when its caller's token is revoked, if there is memory for one more. What is read of it
// and for it counts from here on.
func (g guard) hold(refuse refusal, w http.ResponseWriter, r *http.Request, p *access.Principal, d door) {
	g.holdWith(r.Context(), refuse, w, r, p, d)
}

// holdWith is hold for a request that gets ctx, which is made of its own.
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

// role lets those in who have one of these roles.
func (g guard) role(d door, roles ...string) http.Handler {
	return g.shut(plainRefusal, g.withRole(d, roles...))
}

// withRole is a door for those who have one of these roles.
func (g guard) withRole(d door, roles ...string) door {
	return func(w http.ResponseWriter, r *http.Request, p *access.Principal) {
		if !g.admission.Lists(p, access.Target{Door: access.DoorAdmin, Kind: access.KindRoute, Name: r.URL.Path}) {
			admin.NewProblem(http.StatusNotFound, admin.CodeInvalidRequest, "there is no such endpoint", "").Write(w) // as if it were not there
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

// limited is a door of the control plane for those who are within their limits. A call of a tool counts as at any other door.
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

// ready answers whether the program is ready, and tells administrators how it fares. Who guesses is slowed down as at any door.
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

// safely gives a request its id, begins its trace and catches what should never happen.
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

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader begins the answer.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func requestOf(r *http.Request) access.Request {
	return access.Request{
		ReadOnly: r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions,
		Host:     r.Host, Origin: r.Header.Get("Origin"), FetchSite: r.Header.Get("Sec-Fetch-Site"),
	}
}

// effective is a request to a door that does something, whatever its method: a link or an image of another site's page
// may not make us ask a provider.
func effective(r *http.Request) access.Request {
	req := requestOf(r)
	req.ReadOnly = false
	return req
}

// plainRefusal is the answer of a route that is no JSON-RPC door.
func plainRefusal(w http.ResponseWriter, _ *http.Request, v access.Verdict) { admin.Refuse(w, v) }
