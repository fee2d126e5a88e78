package app

import (
	"log/slog"
	"net/http"
	"runtime/debug"

	"secateur/internal/access"
	"secateur/internal/datarate"
	"secateur/internal/rpchttp"
)

// door is a handler for a caller who may come in.
type door func(w http.ResponseWriter, r *http.Request, principal string)

// refusal answers a caller who may not, in the words of the door.
type refusal func(w http.ResponseWriter, r *http.Request, v access.Verdict)

// guard stands before every route: it turns away what a stranger's web page could send, asks for the token, and
// catches what should never happen. No client behind it may send or read too slowly.
type guard struct {
	policy access.Policy
	log    *slog.Logger
}

// open lets every caller in whose request is no web page's.
func (g guard) open(h http.HandlerFunc) http.Handler {
	return g.safely(func(w http.ResponseWriter, r *http.Request) {
		if v := g.policy.CheckSite(requestOf(r)); v.Kind != access.Allowed {
			plainRefusal(w, r, v)
			return
		}
		h(w, r)
	})
}

// site lets every caller in whose request is no web page's, and leaves it to the door to ask for the token.
func (g guard) site(h http.Handler) http.Handler {
	return g.safely(func(w http.ResponseWriter, r *http.Request) {
		if v := g.policy.CheckSite(requestOf(r)); v.Kind != access.Allowed {
			rpchttp.Refuse(w, r, v)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// shut lets those in who have the token.
func (g guard) shut(refuse refusal, d door) http.Handler {
	return g.safely(func(w http.ResponseWriter, r *http.Request) {
		req := requestOf(r)
		v := g.policy.CheckSite(req)
		principal := ""
		if v.Kind == access.Allowed {
			principal, v = g.policy.CheckToken(req)
		}
		if v.Kind != access.Allowed {
			refuse(w, r, v)
			return
		}
		d(w, r, principal)
	})
}

// knows reports whether this caller has the token, or none is asked.
func (g guard) knows(r *http.Request) bool {
	_, v := g.policy.CheckToken(requestOf(r))
	return v.Kind == access.Allowed
}

func (g guard) safely(h http.HandlerFunc) http.Handler {
	return datarate.Limits{}.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { //nolint:contextcheck // it has the request's
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it the same way
					panic(p)
				}
				g.log.ErrorContext(r.Context(), "handler panicked", "path", r.URL.Path, "panic", p, "stack", string(debug.Stack()))
				http.Error(w, "internal error", http.StatusInternalServerError)
			}
		}()
		h(w, r)
	}))
}

func requestOf(r *http.Request) access.Request {
	return access.Request{
		ReadOnly: r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions,
		Host:     r.Host, Origin: r.Header.Get("Origin"), FetchSite: r.Header.Get("Sec-Fetch-Site"),
		Authorization: r.Header.Get("Authorization"), Token: r.Header.Get("X-Secateur-Token"),
	}
}

// plainRefusal is the answer of a route that is no JSON-RPC door.
func plainRefusal(w http.ResponseWriter, _ *http.Request, v access.Verdict) {
	status := http.StatusForbidden
	if v.Kind == access.Unauthorized {
		w.Header().Set("WWW-Authenticate", access.Challenge)
		status = http.StatusUnauthorized
	}
	http.Error(w, v.Reason, status)
}
