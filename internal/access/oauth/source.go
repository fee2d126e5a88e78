package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Source gives tokens for one server or provider: the cached one as long as it is good, and a new one when a fifth of its life is left,
// asked for once at a time. Its methods may be used by many goroutines.
type Source struct {
	opt SourceOptions

	mu      sync.Mutex // guards the fields below; held while a token is asked for, so that all who wait share it
	current Login
	mark    *Mark // of the file that the sign-in was read from
	looked  time.Time
	tried   time.Time // when a renewal last failed
}

// SourceOptions make a Source.
type SourceOptions struct {
	Server   string // its id
	Resource string // its address; "": tokens are for whatever the token endpoint says
	Settings Settings
	Logins   Logins // where sign-ins are
	HTTP     *http.Client
}

const (
	lookPause  = time.Second      // between two looks at the file
	retryPause = 10 * time.Second // after a renewal that failed, while the token is still good
	askTime    = 15 * time.Second
)

// NewSource makes a Source.
func NewSource(opt SourceOptions) *Source { return &Source{opt: opt} }

// ErrLoginRequired means that a person has to sign in.
var ErrLoginRequired = errors.New("a sign-in is required")

// Token gives a token for the server. It is "" where nobody has signed in and the server may not want it. The error may be ErrLoginRequired.
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
		if !sameResource(s.current.Resource, s.opt.Resource) { // the address was changed since: its token is another's
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
	case s.isGood(now): // it will be tried again before it ends
		s.tried = now
		return s.current.AccessToken, nil
	}
	return "", err
}

// Refused says that the server did not take a token: it is not used again, if there is a way to another.
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
	if s.current.RefreshToken != "" && time.Since(s.current.IssuedAt) > retryPause { // a fresh one that is refused will not get better
		s.current.ExpiresAt = time.Now()
	}
}

// isDue reports whether a fifth of the token's life is left, or less.
func (s *Source) isDue(now time.Time) bool {
	c := s.current
	if c.ExpiresAt.IsZero() || now.Sub(s.tried) < retryPause && s.isGood(now) {
		return false
	}
	if c.RefreshToken == "" && s.opt.Settings.Flow != FlowClientCredentials {
		return !s.isGood(now) // there is no way to another
	}
	return c.ExpiresAt.Sub(now) <= c.ExpiresAt.Sub(c.IssuedAt)/5
}

func (s *Source) isGood(now time.Time) bool {
	return s.current.AccessToken != "" && (s.current.ExpiresAt.IsZero() || now.Before(s.current.ExpiresAt))
}

// follow reads the sign-in again if another process has changed it.
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

// renew gets another token. What others do at the same time does not end with this caller's patience.
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
		s.looked, s.mark = time.Time{}, nil // two files of the same size and moment look alike
		if follow := s.follow(now); follow == nil && s.current.RefreshToken != was && s.isGood(now) {
			return nil // another process was first, and its refresh token is the one that counts (rotation)
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
		return err // a refresh token that was used and not replaced ends the sign-in
	}
	mark := s.opt.Logins.Mark(s.opt.Server)
	s.mark = &mark
	return nil
}

// byCredentials asks as the client itself.
func (s *Source) byCredentials(ctx context.Context, now time.Time) error {
	set := s.opt.Settings
	endpoint, methods := set.TokenURL, []string(nil)
	if endpoint == "" && s.current.TokenEndpoint != "" {
		endpoint, methods = s.current.TokenEndpoint, s.current.AuthMethods
	}
	issuer := s.current.Issuer
	if endpoint == "" {
		_, server, err := Discover(ctx, s.opt.HTTP, s.opt.Resource, "")
		if err != nil {
			return err
		}
		endpoint, methods, issuer = server.TokenEndpoint, server.AuthMethods, server.Issuer
	}
	form := url.Values{"grant_type": {"client_credentials"}}
	if s.opt.Resource != "" {
		form.Set("resource", s.opt.Resource)
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
		Server: s.opt.Server, Resource: s.opt.Resource, Issuer: issuer, TokenEndpoint: endpoint, AuthMethods: methods,
	}.with(t, now)
	return nil
}
