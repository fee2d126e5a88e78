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

// cookiePath limits the cookie to the control plane.
const cookiePath = "/api/v1"

// KeyHeader carries the page's half of a session. Browsers scope cookies by host, but storage by
// origin. So a program on another port of the host may get the cookie, but never both halves.
const KeyHeader = "X-Secateur-Session"

const (
	longestSession = 24 * time.Hour
	maxSessions    = 1000 // beyond it the one that expires first is removed
	maxToken       = 8 << 10
)

// Sessions holds the sessions in memory: a restart ends them all. It is safe for concurrent use.
type Sessions struct {
	mu  sync.Mutex                     // guards the field below
	all map[[sha256.Size]byte]*session // by the hash of the page's half
}

// session is one sign-in.
type session struct {
	cookie  [sha256.Size]byte // hash of the cookie's half
	token   string            // checked again at each request, so that revocation takes effect
	expires time.Time
	ended   context.Context //nolint:containedctx // done when the session ends
	end     context.CancelFunc
}

// open starts a session and returns its halves.
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

// makeRoom removes expired sessions and, if there are too many, the one that expires first. The
// caller holds mu.
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

// remove ends a session. The caller holds mu.
func (s *Sessions) remove(key [sha256.Size]byte) {
	if one := s.all[key]; one != nil {
		one.end()
		delete(s.all, key)
	}
}

// close ends the session of the page's half in a request.
func (s *Sessions) close(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(sha256.Sum256([]byte(r.Header.Get(KeyHeader))))
}

// Token returns the token of a request's session, and a context that ends with the session. It
// returns "" unless the request carries both halves.
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

// HasCookie reports whether a request carries our cookie.
func HasCookie(r *http.Request) bool {
	_, err := r.Cookie(cookieName(r.Host))
	return err == nil
}

// cookieName returns the cookie's name. Browsers scope cookies by host, not by port, so the name
// contains the port. Otherwise two programs on one machine would sign each other out.
func cookieName(host string) string {
	if _, port, err := net.SplitHostPort(host); err == nil && port != "" {
		return "secateur-" + port
	}
	return "secateur"
}

// cookie returns the cookie for a session's half, valid for some seconds. A negative number deletes
// it.
func (d *Dashboard) cookie(r *http.Request, half string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure wherever the browser can keep it so
		Name: cookieName(r.Host), Value: half, Path: cookiePath, MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: d.opt.Secure || r.TLS != nil,
	}
}

// sessionLife returns the life of a session, at most that of its token.
func sessionLife(p *access.Principal, now time.Time) time.Duration {
	life := longestSession
	if p != nil && p.Expires != 0 {
		life = min(life, time.Unix(p.Expires, 0).Sub(now))
	}
	return max(time.Second, life.Truncate(time.Second))
}

// IsOwnPage reports whether a request with a cookie came from our own page. The guard checks
// whether an Origin is ours. Requests that change something must say where they come from. Reads
// may omit it, as browsers do over a network without TLS. The cookie is not sent with cross-site
// requests, and other sites could not read the response.
func IsOwnPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return site == "" || site == "same-origin" || site == "none"
	}
	return site == "same-origin" || site == "" && r.Header.Get("Origin") != ""
}
