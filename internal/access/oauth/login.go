package oauth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"secateur/internal/secret"
)

// SignIn is a running sign-in of a person with a server.
type SignIn struct {
	Server   string // the server's id
	Resource string // the server's address
	Settings Settings
	HTTP     *http.Client
	Version  string // our version, for the registration
	Scope    string // further scopes to ask for, such as those that a call lacked; "": none

	// Show receives the address that the person must open.
	Show func(address string)
}

// Run discovers the endpoints and passes the sign-in address to Show. It then waits for the
// redirect to its own loopback listener (RFC 8252), until ctx is done.
func (s SignIn) Run(ctx context.Context) (Login, error) {
	challenge := s.challenge(ctx)
	res, server, err := Discover(ctx, s.HTTP, s.Resource, challenge)
	if err != nil {
		return Login{}, err
	}
	if s.Settings.TokenURL != "" {
		server.TokenEndpoint = s.Settings.TokenURL
	}
	if server.AuthorizationEndpoint == "" || !server.challengesS256() {
		return Login{}, fmt.Errorf("%s lets nobody sign in with a code and PKCE", server.Issuer)
	}
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return Login{}, err
	}
	defer ln.Close()
	redirect := "http://" + ln.Addr().String() + "/callback"
	who, err := s.client(ctx, server, redirect)
	if err != nil {
		return Login{}, err
	}
	scope := withScopes(cmp.Or(s.Settings.Scope, ChallengeScope(challenge), strings.Join(res.Scopes, " ")), s.Scope)
	verifier, state := random(), random()
	// the resource as its metadata names it: an authorization server knows no other name
	address, err := authorizationURL(server, who, redirect, state, verifier, scope, res.Resource)
	if err != nil {
		return Login{}, err
	}
	code, err := awaitCode(ctx, ln, server, state, func() { s.Show(address) })
	if err != nil {
		return Login{}, err
	}
	t, err := askToken(ctx, s.HTTP, server.TokenEndpoint, server.AuthMethods, who, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirect}, "code_verifier": {verifier}, "resource": {res.Resource},
	})
	if err != nil {
		return Login{}, err
	}
	if !isFor(t.Access, s.Resource) {
		return Login{}, fmt.Errorf("%s gave a token that is for another resource than %s", server.Issuer, s.Resource)
	}
	login := Login{
		Server: s.Server, Resource: res.Resource, Issuer: server.Issuer, TokenEndpoint: server.TokenEndpoint, AuthMethods: server.AuthMethods, Client: who, Scope: scope,
	}
	return login.with(t, time.Now()), nil
}

// with returns the sign-in with a new token. The refresh token stays unless it is replaced.
func (l Login) with(t token, now time.Time) Login {
	l.AccessToken, l.IssuedAt, l.ExpiresAt = t.Access, now.UTC().Truncate(time.Second), t.expiry(now).UTC().Truncate(time.Second)
	if t.expiry(now).IsZero() {
		l.ExpiresAt = time.Time{}
	}
	if t.Refresh != "" {
		l.RefreshToken = t.Refresh
	}
	for _, jwt := range []string{t.ID, t.Access} {
		if sub := claimsOf(jwt).Subject; sub != "" {
			l.Subject = sub
			break
		}
	}
	return l
}

// challenge returns the server's WWW-Authenticate header for a request without credentials, or "".
func (s SignIn) challenge(ctx context.Context) string {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Resource, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return ""
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := s.HTTP.Do(req)
	if err != nil {
		return ""
	}
	defer res.Body.Close()
	return strings.Join(res.Header.Values("WWW-Authenticate"), ", ")
}

// client returns our client id and secret: as configured, else by registration (RFC 7591).
func (s SignIn) client(ctx context.Context, server Server, redirect string) (Client, error) {
	if id := s.Settings.ClientID; id != "" {
		if strings.HasPrefix(id, "https://") && !server.ClientDocuments {
			return Client{}, fmt.Errorf("%s takes no address of a client's metadata for a client_id", server.Issuer)
		}
		return Client{ID: id, Secret: s.Settings.ClientSecret.Reveal()}, nil
	}
	if server.RegistrationEndpoint == "" {
		return Client{}, fmt.Errorf("%s registers no clients by itself: register secateur there, and set oauth.client_id of the server %s", server.Issuer, s.Server)
	}
	asked := map[string]any{
		"client_name": "secateur", "software_version": s.Version, "redirect_uris": []string{redirect}, "application_type": "native",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}, "token_endpoint_auth_method": "none",
	}
	if s.Settings.Scope != "" {
		asked["scope"] = s.Settings.Scope
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return Client{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.RegistrationEndpoint, bytes.NewReader(body))
	if err != nil {
		return Client{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := s.HTTP.Do(req)
	if err != nil {
		return Client{}, fmt.Errorf("registration: %w", secret.WithoutURL(err))
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxMetadata))
	if err != nil {
		return Client{}, fmt.Errorf("registration: %w", err)
	}
	var who Client
	if res.StatusCode/100 != 2 || json.Unmarshal(answer, &who) != nil || who.ID == "" {
		return Client{}, fmt.Errorf("%s did not register this client: HTTP %d; register secateur there, and set oauth.client_id of the server %s", server.Issuer, res.StatusCode, s.Server)
	}
	return who, nil
}

func authorizationURL(server Server, who Client, redirect, state, verifier, scope, resource string) (string, error) {
	u, err := url.Parse(server.AuthorizationEndpoint)
	// the HTTP client has allowed it
	isPlain := err == nil && u.Scheme == "http" && strings.HasPrefix(server.Issuer, "http://")
	if err != nil || u.Scheme != "https" && !isPlain || u.Host == "" {
		return "", fmt.Errorf("%s has no https address to sign in at", server.Issuer)
	}
	sum := sha256.Sum256([]byte(verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": who.ID, "redirect_uri": redirect, "state": state, "scope": scope, "resource": resource,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256",
	} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if slices.Contains(strings.Fields(scope), "offline_access") {
		q.Set("prompt", "consent") // OpenID Connect requires it for a refresh token
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// awaitCode waits for the redirect with the code. Redirects without our state get a response, and
// are otherwise ignored.
func awaitCode(ctx context.Context, ln net.Listener, server Server, state string, ready func()) (string, error) {
	type outcome struct {
		code string
		err  error
	}
	done := make(chan outcome, 1)
	web := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/callback" || q.Get("state") != state {
			http.NotFound(w, r)
			return
		}
		var o outcome
		switch iss := q.Get("iss"); {
		case iss != "" && iss != server.Issuer || iss == "" && server.AnswersIssuer:
			// RFC 9207: response of another server (mix-up attack)
			o.err = errors.New("the answer is of another authorization server")
		case q.Get("error") != "":
			o.err = fmt.Errorf("the sign-in was refused: %.64q", q.Get("error"))
		case q.Get("code") == "":
			o.err = errors.New("the sign-in brought no code")
		default:
			o.code = q.Get("code")
		}
		page := "Signed in. You can close this page.\n"
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		if o.err != nil {
			w.WriteHeader(http.StatusBadRequest)
			page = "The sign-in failed; where it was begun it says why.\n"
		}
		_, _ = io.WriteString(w, page)
		// inform the person before this program continues, and maybe exits
		_ = http.NewResponseController(w).Flush()
		select {
		case done <- o:
		default: // one is enough
		}
	})}
	served := make(chan error, 1)
	go func() { served <- web.Serve(ln) }()
	ready()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		o.err = fmt.Errorf("nobody signed in: %w", context.Cause(ctx))
	case err := <-served:
		served <- err
		o.err = err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if web.Shutdown(last) != nil {
		_ = web.Close()
	}
	<-served
	return o.code, o.err
}

// random returns 256 random bits, URL-safe.
func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}
