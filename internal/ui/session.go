package ui

import (
	"encoding/base64"
	"net"
	"net/http"
	"time"

	"secateur/internal/access"
)

// cookiePath is what the browser sends the cookie to: the control plane.
const cookiePath = "/api/v1"

const (
	longestSession = 30 * 24 * time.Hour
	maxToken       = 2800 // bytes: browsers keep cookies of 4096, encoding included
)

// cookieName is the cookie's. A browser keeps cookies by host and not by port: two programs on one machine must not sign each other out.
func cookieName(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil && port != "" {
		return "secateur-" + port
	}
	return "secateur"
}

// cookie keeps a token for so many seconds; a negative number takes it away.
func (d *Dashboard) cookie(r *http.Request, token string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure wherever the browser can keep it so
		Name: cookieName(r.Host), Value: base64.RawURLEncoding.EncodeToString([]byte(token)), Path: cookiePath, MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.opt.Secure || r.TLS != nil,
	}
}

// cookieLife is for how many seconds a cookie is kept: no longer than what it holds is good.
func cookieLife(p *access.Principal, now time.Time) int {
	life := longestSession
	if p != nil && p.Expires != 0 {
		life = min(life, time.Unix(p.Expires, 0).Sub(now))
	}
	return max(1, int(life.Seconds()))
}

// Token is the token that a request's cookie holds; "" where there is none.
func Token(r *http.Request) string {
	c, err := r.Cookie(cookieName(r.Host))
	if err != nil {
		return ""
	}
	token, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return ""
	}
	return string(token)
}

// IsOwnPage reports whether a request that a cookie came along with was made by a page of ours, or typed by a person; that an Origin is our
// own is the guard's to see. What changes something has to say where it comes from. What only reads may leave it open, as browsers do
// that reach us over a network without TLS: the cookie does not travel with what other sites ask, and they could not read the answer.
func IsOwnPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return site == "" || site == "same-origin" || site == "none"
	}
	return site == "same-origin" || site == "" && r.Header.Get("Origin") != ""
}
