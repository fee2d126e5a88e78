package ui

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"sync"
	"time"

	"secateur/internal/access"
)

// cookiePath is what the browser sends the cookie to: the control plane.
const cookiePath = "/api/v1"

// KeyHeader carries the page's half of a session. Browsers keep cookies by host and the page's storage by origin, so a program on another
// port of the host may get the cookie, but never both.
const KeyHeader = "X-Secateur-Session"

const (
	longestSession = 24 * time.Hour
	maxSessions    = 1000 // beyond it the one that ends first makes room
	maxToken       = 8 << 10
)

// Sessions are the people who have signed in, in memory: a restart ends them all. They are safe for concurrent use.
type Sessions struct {
	mu  sync.Mutex                     // guards the field below
	all map[[sha256.Size]byte]*session // by the hash of the page's half
}

// session is one sign-in.
type session struct {
	cookie  [sha256.Size]byte // hash of the cookie's half
	token   string            // shown again with each request, so that a revoked one opens nothing
	expires time.Time
	ended   context.Context //nolint:containedctx // done when the session ends, with all that it has open
	end     context.CancelFunc
}

// open begins a session and returns its halves.
func (s *Sessions) open(token string, now time.Time, life time.Duration) (cookie, key string) {
	cookie, key = rand.Text(), rand.Text()
	one := &session{cookie: sha256.Sum256([]byte(cookie)), token: token, expires: now.Add(life)}
	one.ended, one.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[[sha256.Size]byte]*session{}
	}
	s.makeRoom(now)
	s.all[sha256.Sum256([]byte(key))] = one
	return cookie, key
}

// makeRoom ends sessions that have expired, and where there are too many the one that would expire first. The lock is held.
func (s *Sessions) makeRoom(now time.Time) {
	var first [sha256.Size]byte
	for key, one := range s.all {
		if !now.Before(one.expires) {
			s.remove(key)
		} else if next := s.all[first]; next == nil || one.expires.Before(next.expires) {
			first = key
		}
	}
	if len(s.all) >= maxSessions {
		s.remove(first)
	}
}

// remove ends a session. The lock is held.
func (s *Sessions) remove(key [sha256.Size]byte) {
	if one := s.all[key]; one != nil {
		one.end()
		delete(s.all, key)
	}
}

// close ends the session with the page's half that a request shows.
func (s *Sessions) close(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(sha256.Sum256([]byte(r.Header.Get(KeyHeader))))
}

// Token returns the token of the session whose halves a request shows, and what is done when the session ends; "" where there is none.
func (s *Sessions) Token(r *http.Request) (token string, ended context.Context) {
	cookie, err := r.Cookie(cookieName(r.Host))
	if err != nil {
		return "", nil
	}
	shown := sha256.Sum256([]byte(cookie.Value))
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[sha256.Sum256([]byte(r.Header.Get(KeyHeader)))]
	if one == nil || subtle.ConstantTimeCompare(shown[:], one.cookie[:]) == 0 || !time.Now().Before(one.expires) {
		return "", nil
	}
	return one.token, one.ended
}

// HasCookie reports whether a request came with a cookie of ours.
func HasCookie(r *http.Request) bool {
	_, err := r.Cookie(cookieName(r.Host))
	return err == nil
}

// cookieName is the cookie's. A browser keeps cookies by host and not by port: two programs on one machine must not sign each other out.
func cookieName(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil && port != "" {
		return "secateur-" + port
	}
	return "secateur"
}

// cookie keeps a session's half for so many seconds; a negative number takes it away.
func (d *Dashboard) cookie(r *http.Request, half string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure wherever the browser can keep it so
		Name: cookieName(r.Host), Value: half, Path: cookiePath, MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.opt.Secure || r.TLS != nil,
	}
}

// sessionLife is how long a session lasts: no longer than its token is good.
func sessionLife(p *access.Principal, now time.Time) time.Duration {
	life := longestSession
	if p != nil && p.Expires != 0 {
		life = min(life, time.Unix(p.Expires, 0).Sub(now))
	}
	return max(time.Second, life.Truncate(time.Second))
}

// IsOwnPage reports whether a request that a cookie came along with was made by a page of ours; that an Origin is our own is the
// guard's to see. What changes something has to say where it comes from. What only reads may leave it open, as browsers do
// that reach us over a network without TLS: the cookie does not travel with what other sites ask, and they could not read the answer.
func IsOwnPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return site == "" || site == "same-origin" || site == "none"
	}
	return site == "same-origin" || site == "" && r.Header.Get("Origin") != ""
}
