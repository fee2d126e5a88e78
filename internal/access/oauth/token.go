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

// Client is who asks a token endpoint.
type Client struct {
	ID     string `json:"client_id"`
	Secret string `json:"client_secret,omitempty"`
	Method string `json:"token_endpoint_auth_method,omitempty"` // how it says so; "": as the server allows
}

// token is a token endpoint's answer.
type token struct {
	Access  string  `json:"access_token"`
	Type    string  `json:"token_type"`
	Expires float64 `json:"expires_in"`
	Refresh string  `json:"refresh_token"`
	Scope   string  `json:"scope"`
	ID      string  `json:"id_token"`
}

// errInvalidGrant means that a refresh token or a code is good no longer: only a person can help.
var errInvalidGrant = errors.New("invalid_grant")

// askToken asks a token endpoint.
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

// refusedBy is a token endpoint's refusal, in its own code; what else it says may repeat what it was sent.
func refusedBy(status int, body []byte) error {
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // else the status has to do
	switch {
	case said.Error == "invalid_grant":
		return fmt.Errorf("token endpoint: %w", errInvalidGrant)
	case said.Error != "" && len(said.Error) < 64:
		return fmt.Errorf("token endpoint: %s", said.Error)
	}
	return fmt.Errorf("token endpoint: HTTP %d", status)
}

// expiry is when a token ends; zero: it does not say.
func (t token) expiry(now time.Time) time.Time {
	if t.Expires <= 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(min(t.Expires, 10*365*24*3600) * float64(time.Second)))
}

// claims are what a JWT says of itself. Nobody has checked that: they are for showing, and for sending a token to fewer places, never to more.
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

// isFor reports whether a token may be sent to a resource: an access token that names places as its audience names this one among them.
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
