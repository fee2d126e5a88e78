package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"secateur/internal/rawjson"
	"secateur/internal/secret"
)

// issuerKeys holds the public keys of an issuer (OpenID Connect Discovery, RFC 7517). It fetches
// them when a token names an unknown key.
type issuerKeys struct {
	issuer     string
	client     *http.Client
	algorithms []string

	mu       sync.Mutex // guards the fields below
	keys     []jose.JSONWebKey
	jwksURL  string
	fetched  time.Time     // start of the last fetch
	err      error         // result of the last fetch
	fetching chan struct{} // closed when the running fetch ends; nil: none
}

const (
	fetchPause   = 10 * time.Second // between two fetches
	fetchTime    = 5 * time.Second
	maxKeysBytes = 1 << 20
)

// VerifySignature checks a token's signature and returns its claims. It chooses the key by kid; the
// key must allow the token's algorithm. It ignores key material inside the token and refuses a crit
// header.
func (k *issuerKeys) VerifySignature(ctx context.Context, text string) ([]byte, error) {
	algorithms := make([]jose.SignatureAlgorithm, len(k.algorithms))
	for i, a := range k.algorithms {
		algorithms[i] = jose.SignatureAlgorithm(a)
	}
	token, err := jose.ParseSigned(text, algorithms)
	if err != nil || len(token.Signatures) != 1 {
		return nil, errors.New("it is no JWT with an accepted algorithm")
	}
	header := token.Signatures[0].Protected
	if _, critical := header.ExtraHeaders["crit"]; critical {
		return nil, errors.New("it has a crit header")
	}
	for _, again := range []bool{false, true} {
		keys, err := k.known(ctx, again)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if !fits(key, header) {
				continue
			}
			if payload, err := token.Verify(key.Key); err == nil {
				return payload, unambiguous(payload)
			}
			if header.KeyID != "" {
				return nil, errors.New("the signature is wrong")
			}
		}
	}
	return nil, errors.New("no key of the issuer fits")
}

// registered are the claims that decide (RFC 7519).
var registered = []string{"iss", "sub", "aud", "exp", "nbf", "iat"}

// maxClaimDepth limits the nesting of claims.
const maxClaimDepth = 32

// unambiguous refuses claims that parsers may read differently: duplicate names, or registered
// names in another case. encoding/json takes SUB for sub, which an attacker may have added to the
// issuer's own.
func unambiguous(payload []byte) error {
	check := rawjson.NewScanner(payload, maxClaimDepth)
	check.Unique = true
	if _, err := check.Skip(); err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	for member := range rawjson.Members(payload) {
		name := string(member)
		for _, r := range registered {
			if name != r && strings.EqualFold(name, r) {
				return fmt.Errorf("claims: %s is written in other letters", r)
			}
		}
	}
	return nil
}

// fits reports whether a key may have made a signature.
func fits(key jose.JSONWebKey, header jose.Header) bool {
	return key.IsPublic() && (header.KeyID == "" || key.KeyID == header.KeyID) &&
		(key.Use == "" || key.Use == "sig") && (key.Algorithm == "" || key.Algorithm == header.Algorithm)
}

// known returns the keys. It fetches them if none are known. With again, it also fetches if
// fetchPause has passed since the last fetch. Callers that need a fetch share it (singleflight).
// Others use the known keys, also while the issuer is unreachable.
func (k *issuerKeys) known(ctx context.Context, again bool) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch isDue := again || len(k.keys) == 0; {
	case isDue && k.fetching != nil:
		if err := k.await(ctx, k.fetching); err != nil {
			return nil, err
		}
	case isDue && time.Since(k.fetched) >= fetchPause:
		k.refresh(ctx)
	}
	if len(k.keys) == 0 {
		return nil, fmt.Errorf("%w: %w", errNoKeys, k.err)
	}
	return k.keys, nil
}

// await waits for another caller's fetch. It releases the lock meanwhile.
func (k *issuerKeys) await(ctx context.Context, fetched <-chan struct{}) error {
	k.mu.Unlock()
	defer k.mu.Lock()
	select {
	case <-fetched:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refresh fetches the keys. It releases the lock meanwhile, so a slow issuer delays only callers
// that need its answer.
func (k *issuerKeys) refresh(ctx context.Context) {
	done, jwksURL := make(chan struct{}), k.jwksURL
	k.fetching, k.fetched = done, time.Now()
	var keys []jose.JSONWebKey
	err := errors.New("the fetch did not end")
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		if k.err = err; err == nil {
			k.keys = keys
		}
		k.jwksURL, k.fetching = jwksURL, nil
		close(done)
	}()
	// A canceled client must not fail the fetch for the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
	defer cancel()
	ctx = oidc.ClientContext(ctx, k.client)
	if jwksURL == "" {
		if jwksURL, err = k.discover(ctx); err != nil {
			return
		}
	}
	keys, err = k.fetch(ctx, jwksURL)
}

// discover returns the address of the issuer's keys.
func (k *issuerKeys) discover(ctx context.Context) (string, error) {
	provider, err := oidc.NewProvider(ctx, k.issuer)
	if err != nil {
		return "", err
	}
	var found struct {
		JWKS string `json:"jwks_uri"`
	}
	err = provider.Claims(&found)
	return found.JWKS, err
}

func (k *issuerKeys) fetch(ctx context.Context, jwksURL string) ([]jose.JSONWebKey, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, jwksURL, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := k.client.Do(req)
	if err != nil {
		return nil, secret.WithoutURL(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the keys' address answers %s", res.Status)
	}
	var set jose.JSONWebKeySet
	if err := json.NewDecoder(io.LimitReader(res.Body, maxKeysBytes)).Decode(&set); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	if len(set.Keys) == 0 {
		return nil, errors.New("the issuer has no keys")
	}
	return set.Keys, nil
}
