package rerank

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"secateur/internal/secret"
)

// Backend is who scores lines.
type Backend string

// The backends. Heuristic is the pruner's own engine and needs no Client.
const (
	Heuristic Backend = "heuristic"
	DeepInfra Backend = "deepinfra"
	Rerank    Backend = "rerank"
)

// DefaultDeepInfraURL is the model DeepInfra is asked for unless the settings name another.
const DefaultDeepInfraURL = "https://api.deepinfra.com/v1/inference/Qwen/Qwen3-Reranker-0.6B"

// ParseBackend reads a backend's name; "cloud" is another name for DeepInfra. Case and surrounding space do not matter.
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

// Settings say which backend scores lines and how it is reached. They are part of the pruner's section; the times and
// bounds named after DeepInfra hold for either backend.
type Settings struct {
	Backend          string        `toml:"backend"`              // heuristic | deepinfra (alias cloud) | rerank
	CacheTTL         time.Duration `toml:"cache_ttl_s"`          // of an answer; 0: no cache
	CacheMaxEntries  int           `toml:"cache_max_entries"`    // 0: no cache
	DeepInfraTimeout time.Duration `toml:"deepinfra_timeout_ms"` // for one answer; a caller with less patience waits less
	DeepInfraMaxDocs int           `toml:"deepinfra_max_docs"`   // texts in one question
	RerankURL        string        `toml:"rerank_url"`           // of backend rerank; one without a path gets /rerank
	RerankModel      string        `toml:"rerank_model"`         // of backend rerank; empty: not sent

	// These come from the environment and never from a file.
	DeepInfraURL    string      `toml:"-"` // empty: DefaultDeepInfraURL
	DeepInfraAPIKey secret.Text `toml:"-"` // DeepInfra is not asked without
	RerankAPIKey    secret.Text `toml:"-"` // of backend rerank; empty: none is sent
}

// Default stays on this machine.
func Default() Settings {
	return Settings{
		Backend: string(Heuristic), CacheTTL: 30 * time.Second, CacheMaxEntries: 256,
		DeepInfraTimeout: 20 * time.Second, DeepInfraMaxDocs: 64,
	}
}

// longest is what no duration may exceed.
const longest = 365 * 24 * time.Hour

// Validate reports every mistake as "key: text". A missing key or address is none: the pruner then runs without scores
// and says so.
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

// apiKey is the backend's.
func (s Settings) apiKey(b Backend) string {
	key := s.RerankAPIKey
	if b == DeepInfra {
		key = s.DeepInfraAPIKey
	}
	return strings.TrimSpace(key.Reveal())
}

// address is where the backend is asked.
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

// parseURL does not repeat the URL in its errors, which may hold a password.
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
