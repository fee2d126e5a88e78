package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"secateur/internal/access"
	"secateur/internal/access/outbound"
	"secateur/internal/secret"
	"secateur/internal/store/redisdb"
)

// Options configure an Authenticator.
type Options struct {
	Settings  Settings
	Token     secret.Text // auth_token; empty: none
	StateDir  string      // default folder of the token file; "": none
	PublicURL string      // our address for clients; Settings.PublicURL overrides it
	// fetches the issuer's keys; nil: a client that peers cannot redirect to private addresses
	Client *http.Client

	// Certificates checks whether a certificate was revoked after its handshake; nil: never.
	Certificates *Certificates
	// shares used nonces between replicas; nil: each replica keeps its own
	Redis *redisdb.DB
	Log   *slog.Logger // nil discards

	// Replaces is the predecessor on reload. EndRevoked cancels its requests whose callers would
	// now be refused. nil: none.
	Replaces *Authenticator
}

// Authenticator identifies callers. It is safe for concurrent use.
type Authenticator struct {
	opt       Options
	file      TokenFile
	publicURL string

	tokens atomic.Pointer[tokens]
	apart  atomic.Bool // callers may belong to several tenants
	// a token file exists or existed; revoking the last token must not open the door
	filed  atomic.Bool
	seen   mark // state of the token file; only Run changes it
	jwt    *jwtVerifier
	keys   map[string]*hmacKey
	nonces *nonces

	noncePatience time.Duration // timeout of the nonce store

	anonymous *access.Principal
	held      *held
}

// New returns an Authenticator and reads the token file.
func New(opt Options) (*Authenticator, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	a := &Authenticator{
		opt: opt, file: TokenFileOf(opt.Settings, opt.StateDir), anonymous: access.Anonymous(), keys: map[string]*hmacKey{},
		publicURL: strings.TrimSuffix(opt.PublicURL, "/"), nonces: newNonces(opt.StateDir, opt.Redis != nil), noncePatience: noncePatience, held: &held{},
	}
	a.opt.Replaces = nil
	a.takeOver(opt.Replaces)
	if opt.Settings.PublicURL != "" {
		a.publicURL = strings.TrimSuffix(opt.Settings.PublicURL, "/")
	}
	a.seen = a.file.mark()
	filed, err := a.file.Read()
	if err != nil {
		return nil, err // access fails closed: the file may hold a revocation
	}
	a.take(filed)
	for _, h := range opt.Settings.HMAC {
		a.keys[h.KeyID] = keptKey(opt.Replaces, &hmacKey{secret: h.Secret, principal: principal(access.IssuerHMAC, h.KeyID, h.Tenant, h.Roles)})
	}
	if a.jwt = opt.Replaces.keptJWT(a); a.jwt != nil {
		return a, nil
	}
	if j := opt.Settings.JWT; j != nil {
		client := opt.Client
		if client == nil {
			issuer, err := url.Parse(j.Issuer)
			if err != nil {
				return nil, fmt.Errorf("auth.jwt.issuer: %w", err)
			}
			// the issuer chooses the address of its keys
			client = outbound.Client(issuer, opt.Settings.Networks())
		}
		a.jwt = newJWTVerifier(*j, a.publicURL, client)
	}
	return a, nil
}

// take installs the tokens of the file.
func (a *Authenticator) take(filed []Token) {
	all := a.gather(filed)
	if before := a.tokens.Load(); before != nil {
		all.keep(*before)
	}
	a.tokens.Store(&all)
	a.apart.Store(Settings{Tokens: filed}.NamesTenants() || a.opt.Settings.NamesTenants())
	if a.seen.exists || len(filed) > 0 {
		a.filed.Store(true)
	}
}

// Asks reports whether callers need a credential, because one is configured.
func (a *Authenticator) Asks() bool {
	return !a.opt.Token.IsZero() || a.opt.Settings.Asks() || a.filed.Load()
}

// NamesTenants reports whether callers may currently belong to another tenant than the default.
func (a *Authenticator) NamesTenants() bool { return a.apart.Load() }

// followEvery is the polling interval of the token file.
const followEvery = time.Second

// Run follows the token file until ctx is done, and cancels the requests of revoked tokens.
func (a *Authenticator) Run(ctx context.Context) error {
	return Follow(ctx, func() *Authenticator { return a })
}

// Follow is Run for the current Authenticator, which may be replaced in between.
func Follow(ctx context.Context, present func() *Authenticator) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			a := present()
			a.follow(ctx)
			a.nonces.age(time.Now())
		}
	}
}

func (a *Authenticator) follow(ctx context.Context) {
	now := a.file.mark()
	if now != a.seen {
		filed, err := a.file.Read()
		if err != nil {
			a.opt.Log.ErrorContext(ctx, "token file cannot be read, so its tokens stand as they were", "err", err)
			return // seen is unchanged, so the next poll retries
		}
		a.seen = now
		a.take(filed)
		a.opt.Log.InfoContext(ctx, "token file read", "tokens", len(filed))
	}
	a.held.end(a.stillGood)
}

// stillGood reports whether a static token or a certificate is still valid. Other credentials
// always count as valid.
func (a *Authenticator) stillGood(o owner) bool {
	switch o.principal.Issuer {
	case access.IssuerToken:
	case access.IssuerMTLS:
		return !a.opt.Certificates.Revoked(o.conn)
	default:
		return true
	}
	now := time.Now()
	for _, h := range *a.tokens.Load() {
		if h.principal == o.principal && (h.expires.IsZero() || now.Before(h.expires)) {
			return true
		}
	}
	return false
}

// Authenticate identifies the sender of a request. If no credential was sent, the cause is
// CauseMissing; the message may still hold one. It removes our credentials from the headers, so
// that they are not forwarded.
func (a *Authenticator) Authenticate(r *http.Request) (*access.Principal, access.Verdict) {
	if !a.Asks() {
		return a.anonymous, access.Verdict{}
	}
	shown := access.Credentials{
		Signature: r.Header.Get("X-Secateur-Signature"), Token: r.Header.Get("X-Secateur-Token"), Authorization: r.Header.Get("Authorization"),
		Certificate: r.TLS != nil && len(r.TLS.VerifiedChains) > 0,
	}
	way, text := shown.First()
	p, cause := a.check(r, way, text)
	if p != nil && isTwice(r.Header, way) {
		p, cause = nil, access.CauseInvalid
	}
	if p == nil {
		v := a.refuse(r.URL.Path, cause)
		v.Way = way
		return nil, v
	}
	if way == access.WayBearer {
		r.Header.Del("Authorization")
	}
	for _, name := range ownHeaders {
		delete(r.Header, name)
	}
	a.dropOwn(r.Header)
	return p, access.Verdict{}
}

// isTwice reports whether a header of the deciding credential occurs more than once. A proxy in
// front of us may have checked the other one.
func isTwice(h http.Header, way access.Way) bool {
	switch way {
	case access.WaySignature:
		return slices.ContainsFunc(ownHeaders, func(name string) bool { return len(h[name]) > 1 })
	case access.WayToken:
		return len(h["X-Secateur-Token"]) > 1
	case access.WayBearer:
		return len(h["Authorization"]) > 1
	default:
		return false
	}
}

// dropOwn removes our tokens from the headers that providers read.
func (a *Authenticator) dropOwn(h http.Header) {
	for _, name := range providersHeaders {
		if shown, ok := h[name]; ok && slices.ContainsFunc(shown, a.isOwn) {
			h[name] = slices.DeleteFunc(slices.Clone(shown), a.isOwn)
		}
		if len(h[name]) == 0 {
			delete(h, name)
		}
	}
}

var providersHeaders = []string{"Authorization", "X-Api-Key", "Api-Key"}

// isOwn reports whether a header value is one of our static tokens, alone or after a scheme.
func (a *Authenticator) isOwn(value string) bool {
	_, token, behind := strings.Cut(strings.TrimSpace(value), " ")
	if !behind {
		token = value
	}
	return (*a.tokens.Load())[sha256.Sum256([]byte(strings.TrimSpace(token)))] != nil
}

// ownHeaders are the headers of our credentials, in canonical form.
var ownHeaders = []string{
	"X-Secateur-Token", "X-Secateur-Signature", "X-Secateur-Key", "X-Secateur-Timestamp", "X-Secateur-Nonce", "X-Secateur-Content-Sha256",
}

func (a *Authenticator) check(r *http.Request, way access.Way, text string) (*access.Principal, access.Cause) {
	switch way {
	case access.WaySignature:
		return a.checkSignature(r, text)
	case access.WayToken, access.WayBearer, access.WayMessage:
		return a.checkToken(r.Context(), text)
	case access.WayCertificate:
		return a.checkCertificate(r.TLS)
	default:
		return nil, access.CauseMissing
	}
}

// AuthenticateMessage identifies the sender of a message by the token or JWT inside it. path is the
// requested path.
func (a *Authenticator) AuthenticateMessage(ctx context.Context, text, path string) (*access.Principal, access.Verdict) {
	if !a.Asks() {
		return a.anonymous, access.Verdict{}
	}
	if text == "" {
		return nil, a.refuse(path, access.CauseMissing)
	}
	p, cause := a.checkToken(ctx, text)
	if p == nil {
		return nil, a.refuse(path, cause)
	}
	return p, access.Verdict{}
}

func (a *Authenticator) checkToken(ctx context.Context, text string) (*access.Principal, access.Cause) {
	h, cause := a.tokens.Load().find(text, time.Now())
	if h != nil {
		return h.principal, ""
	}
	if cause == access.CauseInvalid && a.jwt != nil && strings.Count(text, ".") == 2 {
		p, cause, err := a.jwt.verify(ctx, text)
		if err != nil {
			a.opt.Log.DebugContext(ctx, "jwt refused", "cause", string(cause), "err", err)
		}
		return p, cause
	}
	return nil, cause
}

// refuse returns the verdict for a request to a path.
func (a *Authenticator) refuse(path string, cause access.Cause) access.Verdict {
	challenge := access.Challenge
	if cause != access.CauseMissing {
		challenge = access.InvalidChallenge
	}
	if a.jwt != nil {
		challenge += `, resource_metadata="` + a.publicURL + MetadataPath + metadataSuffix(path) + `"`
	}
	return access.Verdict{Kind: access.Unauthorized, Cause: cause, Reason: reasons[cause], Challenge: challenge}
}

var reasons = map[access.Cause]string{
	access.CauseMissing:  "this door asks who is calling: send a token as Authorization: Bearer …",
	access.CauseInvalid:  "what was shown to say who is calling is not valid",
	access.CauseExpired:  "what was shown to say who is calling is no longer valid, or not yet",
	access.CauseReplayed: "this signature has been used before",
	access.CauseTooMany:  "this key has signed more requests than can be remembered: try again in ten minutes, or use a token",
}

var errNoKeys = errors.New("the issuer's keys cannot be had")
