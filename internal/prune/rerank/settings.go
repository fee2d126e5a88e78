package rerank

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"secateur/internal/secret"
)

// Backend names what scores lines.
type Backend string

// The backends. Heuristic is the pruner's own engine and needs no Client.
const (
	Heuristic Backend = "heuristic"
	DeepInfra Backend = "deepinfra"
	Rerank    Backend = "rerank"
)

// DefaultDeepInfraURL is the DeepInfra model used if the settings name none.
const DefaultDeepInfraURL = "https://api.deepinfra.com/v1/inference/Qwen/Qwen3-Reranker-0.6B"

// ParseBackend parses a backend's name; "cloud" is an alias of DeepInfra. Case and surrounding
// space are ignored.
func ParseBackend(name string) (Backend, bool) {
	switch b := Backend(strings.ToLower(strings.TrimSpace(name))); b {
	case Heuristic, DeepInfra, Rerank:
		return b, true
	case "cloud":
		return DeepInfra, true
	default:
		return "", false
	}
}

// Settings choose the backend that scores lines and how to reach it. They are part of the pruner's
// section. The limits named after DeepInfra apply to either backend.
type Settings struct {
	// Heuristic | deepinfra (alias cloud) | rerank.
	Backend         string        `toml:"backend"`
	CacheTTL        time.Duration `toml:"cache_ttl_s"`       // of a response; 0: no cache
	CacheMaxEntries int           `toml:"cache_max_entries"` // 0: no cache
	// For one response; a caller's shorter deadline takes precedence.
	DeepInfraTimeout time.Duration `toml:"deepinfra_timeout_ms"`
	DeepInfraMaxDocs int           `toml:"deepinfra_max_docs"` // documents in one request
	// URL of backend rerank; /rerank is added if it has no path.
	RerankURL   string `toml:"rerank_url"`
	RerankModel string `toml:"rerank_model"` // of backend rerank; empty: not sent

	// These come from the environment, never from a file.
	DeepInfraURL    string      `toml:"-"` // empty: DefaultDeepInfraURL
	DeepInfraAPIKey secret.Text `toml:"-"` // DeepInfra needs it
	RerankAPIKey    secret.Text `toml:"-"` // of backend rerank; empty: none is sent
}

// Default stays on this machine.
func Default() Settings {
	return Settings{
		Backend: string(Heuristic), CacheTTL: 30 * time.Second, CacheMaxEntries: 256,
		DeepInfraTimeout: 20 * time.Second, DeepInfraMaxDocs: 64,
	}
}

// longest is the maximum of all durations.
const longest = 365 * 24 * time.Hour

// Validate reports every mistake as "key: text". A missing key or address is no mistake: the pruner
// then runs without scores and says so.
func (s Settings) Validate() error {
	var errs []error
	if _, ok := ParseBackend(s.Backend); !ok {
		errs = append(errs, fmt.Errorf("backend: %q is none of heuristic, deepinfra, cloud, rerank", s.Backend))
	}
	if s.DeepInfraTimeout <= 0 || s.DeepInfraTimeout > longest {
		errs = append(errs, fmt.Errorf("deepinfra_timeout_ms: %d is not between 1 and a year", s.DeepInfraTimeout.Milliseconds()))
	}
	if s.DeepInfraMaxDocs <= 0 {
		errs = append(errs, fmt.Errorf("deepinfra_max_docs: %d is not positive", s.DeepInfraMaxDocs))
	}
	if s.CacheTTL < 0 || s.CacheTTL > longest {
		errs = append(errs, fmt.Errorf("cache_ttl_s: %v is not between 0 and a year", s.CacheTTL.Seconds()))
	}
	if s.CacheMaxEntries < 0 {
		errs = append(errs, fmt.Errorf("cache_max_entries: %d is negative", s.CacheMaxEntries))
	}
	if s.RerankURL != "" {
		if _, err := parseURL(s.RerankURL); err != nil {
			errs = append(errs, fmt.Errorf("rerank_url: %w", err))
		}
	}
	return errors.Join(errs...)
}

// apiKey returns the backend's key.
func (s Settings) apiKey(b Backend) string {
	key := s.RerankAPIKey
	if b == DeepInfra {
		key = s.DeepInfraAPIKey
	}
	return strings.TrimSpace(key.Reveal())
}

// address returns the backend's URL.
func (s Settings) address(b Backend) (*url.URL, error) {
	if b == Rerank {
		if s.RerankURL == "" {
			return nil, errors.New("no address is set")
		}
		u, err := parseURL(s.RerankURL)
		if err != nil {
			return nil, err
		}
		if u.Path == "" || u.Path == "/" {
			u.Path = "/rerank"
		}
		return u, nil
	}
	if s.DeepInfraURL == "" {
		return parseURL(DefaultDeepInfraURL)
	}
	return parseURL(s.DeepInfraURL)
}

// parseURL never repeats the URL in its errors, because it may hold a password.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, errors.New("expected http://… or https://…")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("not an http:// or https:// URL")
	case u.Hostname() == "":
		return nil, errors.New("a URL without a host")
	case u.User != nil:
		return nil, errors.New("a URL with a password in it: the key belongs in the environment")
	}
	return u, nil
}
