package app

import (
	"context"
	"net/http"

	"secateur/internal/access"
	"secateur/internal/ops/admin"
	"secateur/internal/ops/ui"
	"secateur/web"
)

// newDashboard makes the door for a person's browser. Signing in needs the role admin, because the
// dashboard shows the control plane.
func (g guard) newDashboard(isSecure bool) (*ui.Dashboard, error) {
	return ui.New(ui.Options{
		Files: web.Dist(), Secure: isSecure, Sessions: g.sessions, Log: g.log,
		SignIn: func(r *http.Request, token string) (*access.Principal, access.Verdict) {
			p, v := g.auth.AuthenticateMessage(r.Context(), token, r.URL.Path)
			if v.Kind == access.Allowed && !p.HasRole(access.RoleAdmin) {
				v = access.Verdict{Kind: access.Forbidden, Reason: "the dashboard needs the role " + access.RoleAdmin + ", which this token does not have"}
			}
			if v.Kind != access.Allowed {
				g.note(r, v)
				v = g.guesses.slow(r, v)
			}
			return p, v
		},
		Refuse: admin.Refuse,
		Reject: func(w http.ResponseWriter, detail string) {
			admin.NewProblem(http.StatusBadRequest, admin.CodeInvalidRequest, detail, "").Write(w)
		},
	})
}

// hangDashboard registers the dashboard's routes.
func hangDashboard(mux *router, g guard, d *ui.Dashboard) {
	mux.Handle("GET /{$}", g.page(d.Redirect))
	mux.Handle("GET /ui/", g.page(d.ServeFile))
	mux.Handle("POST /ui/session", g.form(d.SignIn))
	mux.Handle("DELETE /ui/session", g.page(d.SignOut))
	mux.Handle("POST /ui/csp-report", g.form(d.Report))
}

// form is page for requests with a body. They count in the byte budget as requests of an unknown
// caller.
func (g guard) form(h http.HandlerFunc) http.Handler {
	return g.page(func(w http.ResponseWriter, r *http.Request) {
		g.hold(plainRefusal, w, r, nil, func(w http.ResponseWriter, r *http.Request, _ *access.Principal) { h(w, r) })
	})
}

// page lets every caller in except pages of other origins, even those that may call the other
// doors.
func (g guard) page(h http.HandlerFunc) http.Handler {
	g.policy.Origins = nil
	return g.open(h)
}

// headerToken carries a session's token to the authenticator.
const headerToken = "X-Secateur-Token" //nolint:gosec // a header's name

// withCookie replaces a session cookie by the session's token. The request must have no other
// credential and come from our own pages (own). Any other request passes unchanged (next). Open
// streams end with the session.
func (g guard) withCookie(own, next http.Handler) http.Handler {
	foreign := g.safely(func(w http.ResponseWriter, r *http.Request) {
		v := access.Verdict{Kind: access.Forbidden, Reason: "only the dashboard's own pages may use its cookie"}
		g.note(r, v)
		plainRefusal(w, r, v)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !ui.HasCookie(r) || showsCredential(r):
			next.ServeHTTP(w, r)
			return
		case !ui.IsOwnPage(r):
			foreign.ServeHTTP(w, r)
			return
		}
		token, ended := g.sessions.Token(r)
		if token == "" {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(ended, cancel)() //nolint:contextcheck // the session's end, in addition to the request's
		r = r.Clone(ctx)
		r.Header.Set(headerToken, token)
		own.ServeHTTP(w, r)
	})
}

// showsCredential reports whether a request has a credential in a header.
func showsCredential(r *http.Request) bool {
	return r.Header.Get("X-Secateur-Signature") != "" || r.Header.Get(headerToken) != "" || r.Header.Get("Authorization") != ""
}
