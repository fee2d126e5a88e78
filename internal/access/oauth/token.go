package oauth

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"secateur/internal/secret"
)

// Client identifies us to a token endpoint.
type Client struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret,omitempty"`
	// authentication method; "": as the server allows
	Method string `json:"token_endpoint_auth_method,omitempty"`
}

// token is a token endpoint's response.
type token struct {
	Access  string  `json:"access_token"`
	Type    string  `json:"token_type"`
	Expires float64 `json:"expires_in"`
	Refresh string  `json:"refresh_token"`
	Scope   string  `json:"scope"`
	ID      string  `json:"id_token"`
}

// errInvalidGrant means that a refresh token or a code is no longer valid. Only a new sign-in
// helps.
var errInvalidGrant = errors.New("invalid_grant")

// askToken calls a token endpoint.
func askToken(ctx context.Context, client *http.Client, endpoint string, methods []string, who Client, form url.Values) (token, error) {
	var t token
	basic := who.Secret != "" && (who.Method == "client_secret_basic" || who.Method == "" && (len(methods) == 0 || slices.Contains(methods, "client_secret_basic")))
	if !basic {
		form.Set("client_id", who.ID)
		if who.Secret != "" {
			form.Set("client_secret", who.Secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return t, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if basic {
		req.SetBasicAuth(url.QueryEscape(who.ID), url.QueryEscape(who.Secret))
	}
	res, err := client.Do(req)
	if err != nil {
		return t, fmt.Errorf("token endpoint: %w", secret.WithoutURL(err))
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMetadata))
	if err != nil {
		return t, fmt.Errorf("token endpoint: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return t, refusedBy(res.StatusCode, body)
	}
	if err := json.Unmarshal(body, &t); err != nil || t.Access == "" || t.Type != "" && !strings.EqualFold(t.Type, "Bearer") {
		return token{}, errors.New("token endpoint: it gave no bearer token")
	}
	return t, nil
}

// refusedBy returns a token endpoint's error with its own code. The rest of the body is dropped,
// since it may repeat the request.
func refusedBy(status int, body []byte) error {
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // else report the status
	switch {
	case said.Error == "invalid_grant":
		return fmt.Errorf("token endpoint: %w", errInvalidGrant)
	case said.Error != "" && len(said.Error) < 64:
		return fmt.Errorf("token endpoint: %s", said.Error)
	}
	return fmt.Errorf("token endpoint: HTTP %d", status)
}

// expiry returns when a token expires; zero: unknown.
func (t token) expiry(now time.Time) time.Time {
	if t.Expires <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(t.Expires, 10*365*24*3600) * float64(time.Second)))
}

// claims are the unverified claims of a JWT. They may be shown, and may only restrict where a token
// is sent.
type claims struct {
	Subject  string          `json:"sub"`
	Audience json.RawMessage `json:"aud"`
}

func claimsOf(jwt string) (c claims) {
	parts := strings.Split(jwt, ".")
	if len(parts) != 3 {
		return c
	}
	if body, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
		_ = json.Unmarshal(body, &c) // opaque to us
	}
	return c
}

// isFor reports whether a token may be sent to a resource. If its audience names addresses, the
// resource must be among them.
func isFor(access, resource string) bool {
	raw := claimsOf(access).Audience
	var list []string
	if one := ""; json.Unmarshal(raw, &one) == nil {
		list = []string{one}
	} else if len(raw) == 0 || bytes.Equal(raw, []byte("null")) || json.Unmarshal(raw, &list) != nil {
		return true
	}
	places := slices.DeleteFunc(list, func(a string) bool { return !strings.HasPrefix(a, "https://") && !strings.HasPrefix(a, "http://") })
	return len(places) == 0 || slices.ContainsFunc(places, func(a string) bool { return sameResource(a, resource) })
}
