package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Source provides tokens for one server or provider. It caches a token and renews it when a fifth
// of its life is left. Only one renewal runs at a time. It is safe for concurrent use.
type Source struct {
	opt SourceOptions

	// guards the fields below; held during a renewal, so that all waiters share it
	mu      sync.Mutex
	current Login
	mark    *Mark // of the file with the sign-in
	looked  time.Time
	tried   time.Time // time of the last failed renewal
}

// SourceOptions configure a Source.
type SourceOptions struct {
	Server   string // the server's id
	Resource string // the server's address; "": the token endpoint decides what tokens are for
	Settings Settings
	Logins   Logins // stored sign-ins
	HTTP     *http.Client
}

const (
	lookPause  = time.Second      // between two checks of the file
	retryPause = 10 * time.Second // after a failed renewal, while the token is still valid
	askTime    = 15 * time.Second
)

// NewSource returns a Source.
func NewSource(opt SourceOptions) *Source { return &Source{opt: opt} }

// ErrLoginRequired means that a person must sign in.
var ErrLoginRequired = errors.New("a sign-in is required")

// Token returns a token for the server. It returns "" if there is no sign-in, since the server may
// not require one. The error may be ErrLoginRequired.
func (s *Source) Token(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.opt.Settings.Flow != FlowClientCredentials {
		if err := s.follow(now); err != nil {
			return "", err
		}
		if s.current.AccessToken == "" {
			return "", nil
		}
		// the address changed: the token is for another server
		if !sameResource(s.current.Resource, s.opt.Resource) {
			return "", fmt.Errorf("%w: the one there is is for %s", ErrLoginRequired, s.current.Resource)
		}
	}
	if s.current.AccessToken != "" && !s.isDue(now) {
		return s.current.AccessToken, nil
	}
	err := s.renew(ctx, now)
	switch {
	case err == nil:
		return s.current.AccessToken, nil
	case s.isGood(now): // retried before it expires
		s.tried = now
		return s.current.AccessToken, nil
	}
	return "", err
}

// Refused reports that the server rejected a token. It is not used again if a new one can be
// obtained.
func (s *Source) Refused(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token == "" || s.current.AccessToken != token {
		return
	}
	if s.opt.Settings.Flow == FlowClientCredentials {
		s.current = Login{}
		return
	}
	// a fresh token that is rejected will not get better
	if s.current.RefreshToken != "" && time.Since(s.current.IssuedAt) > retryPause {
		s.current.ExpiresAt = time.Now()
	}
}

// isDue reports whether at most a fifth of the token's life is left.
func (s *Source) isDue(now time.Time) bool {
	c := s.current
	if c.ExpiresAt.IsZero() || now.Sub(s.tried) < retryPause && s.isGood(now) {
		return false
	}
	if c.RefreshToken == "" && s.opt.Settings.Flow != FlowClientCredentials {
		return !s.isGood(now) // it cannot be renewed
	}
	return c.ExpiresAt.Sub(now) <= c.ExpiresAt.Sub(c.IssuedAt)/5
}

func (s *Source) isGood(now time.Time) bool {
	return s.current.AccessToken != "" && (s.current.ExpiresAt.IsZero() || now.Before(s.current.ExpiresAt))
}

// follow reloads the sign-in if another process has changed it.
func (s *Source) follow(now time.Time) error {
	if now.Sub(s.looked) < lookPause {
		return nil
	}
	s.looked = now
	mark := s.opt.Logins.Mark(s.opt.Server)
	if s.mark != nil && mark == *s.mark {
		return nil
	}
	login, err := s.opt.Logins.Read(s.opt.Server)
	if err != nil && !errors.Is(err, ErrNoLogin) {
		return err
	}
	s.current, s.mark, s.tried = login, &mark, time.Time{}
	return nil
}

// renew obtains a new token. Other callers wait for it too, so it ignores the cancellation of ctx.
func (s *Source) renew(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	if s.opt.Settings.Flow == FlowClientCredentials {
		return s.byCredentials(ctx, now)
	}
	if s.current.RefreshToken == "" {
		return fmt.Errorf("%w: the token has ended", ErrLoginRequired)
	}
	t, err := askToken(ctx, s.opt.HTTP, s.current.TokenEndpoint, s.current.AuthMethods, s.current.Client, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {s.current.RefreshToken}, "resource": {s.current.Resource},
	})
	if errors.Is(err, errInvalidGrant) {
		was := s.current.RefreshToken
		s.looked, s.mark = time.Time{}, nil // files with equal size and time look the same
		if follow := s.follow(now); follow == nil && s.current.RefreshToken != was && s.isGood(now) {
			// another process renewed first, and its refresh token is now the valid one (rotation)
			return nil
		}
		return fmt.Errorf("%w: the sign-in has ended", ErrLoginRequired)
	}
	if err != nil {
		return err
	}
	if !isFor(t.Access, s.opt.Resource) {
		return fmt.Errorf("%w: the new token is for another resource", ErrLoginRequired)
	}
	s.current = s.current.with(t, now)
	if err := s.opt.Logins.Write(s.current); err != nil {
		return err // losing a rotated refresh token would end the sign-in
	}
	mark := s.opt.Logins.Mark(s.opt.Server)
	s.mark = &mark
	return nil
}

// byCredentials obtains a token with client credentials.
func (s *Source) byCredentials(ctx context.Context, now time.Time) error {
	set := s.opt.Settings
	endpoint, methods := set.TokenURL, []string(nil)
	if endpoint == "" && s.current.TokenEndpoint != "" {
		endpoint, methods = s.current.TokenEndpoint, s.current.AuthMethods
	}
	issuer, resource := s.current.Issuer, cmp.Or(s.current.Resource, s.opt.Resource)
	if endpoint == "" {
		res, server, err := Discover(ctx, s.opt.HTTP, s.opt.Resource, "")
		if err != nil {
			return err
		}
		endpoint, methods, issuer, resource = server.TokenEndpoint, server.AuthMethods, server.Issuer, res.Resource
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if resource != "" {
		form.Set("resource", resource)
	}
	if set.Scope != "" {
		form.Set("scope", set.Scope)
	}
	t, err := askToken(ctx, s.opt.HTTP, endpoint, methods, Client{ID: set.ClientID, Secret: set.ClientSecret.Reveal()}, form)
	if err != nil {
		return err
	}
	if s.opt.Resource != "" && !isFor(t.Access, s.opt.Resource) {
		return errors.New("the authorization server gave a token for another resource")
	}
	s.current = Login{
		Server: s.opt.Server, Resource: resource, Issuer: issuer, TokenEndpoint: endpoint, AuthMethods: methods,
	}.with(t, now)
	return nil
}
