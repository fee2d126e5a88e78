package rerank

import (
	"errors"
	"fmt"
	"math"
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
	Backend         Backend `toml:"backend" json:"backend"`                           // heuristic, deepinfra (or cloud), rerank
	TimeoutMS       int     `toml:"deepinfra_timeout_ms" json:"deepinfra_timeout_ms"` // for one answer; a caller with less patience waits less
	MaxDocs         int     `toml:"deepinfra_max_docs" json:"deepinfra_max_docs"`     // texts in one question
	CacheTTLSeconds float64 `toml:"cache_ttl_s" json:"cache_ttl_s"`                   // how long an answer is remembered; 0: not
	CacheMaxEntries int     `toml:"cache_max_entries" json:"cache_max_entries"`       // how many are; 0: none
	RerankURL       string  `toml:"rerank_url" json:"rerank_url"`                     // of backend rerank; one without a path gets /rerank
	RerankModel     string  `toml:"rerank_model" json:"rerank_model"`                 // of backend rerank; empty: not sent

	// These come from the environment and never from a file.
	DeepInfraURL string      `toml:"-" json:"-"` // empty: DefaultDeepInfraURL
	APIKey       secret.Text `toml:"-" json:"-"` // of the backend; DeepInfra is not asked without
}

// Default stays on this machine.
func Default() Settings {
	return Settings{Backend: Heuristic, TimeoutMS: 20000, MaxDocs: 64, CacheTTLSeconds: 30, CacheMaxEntries: 256}
}

// maxSeconds keeps durations far from overflowing.
const maxSeconds = 365 * 24 * 3600

// Validate reports every mistake. A missing key or address is none: the pruner then runs without scores and says so.
func (s Settings) Validate() error {
	var errs []error
	if _, ok := ParseBackend(string(s.Backend)); !ok {
		errs = append(errs, fmt.Errorf("backend: %q is not heuristic, deepinfra (or cloud) or rerank", string(s.Backend)))
	}
	if s.TimeoutMS <= 0 || s.TimeoutMS > maxSeconds*1000 {
		errs = append(errs, fmt.Errorf("deepinfra_timeout_ms: %d is not between 1 and a year", s.TimeoutMS))
	}
	if s.MaxDocs <= 0 {
		errs = append(errs, fmt.Errorf("deepinfra_max_docs: %d is not positive", s.MaxDocs))
	}
	if math.IsNaN(s.CacheTTLSeconds) || s.CacheTTLSeconds < 0 || s.CacheTTLSeconds > maxSeconds {
		errs = append(errs, fmt.Errorf("cache_ttl_s: %v is not between 0 and a year", s.CacheTTLSeconds))
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

func (s Settings) timeout() time.Duration { return time.Duration(s.TimeoutMS) * time.Millisecond }

func (s Settings) cacheTTL() time.Duration {
	return time.Duration(s.CacheTTLSeconds * float64(time.Second))
}

// address is where the backend is asked.
func (s Settings) address() (*url.URL, error) {
	if s.Backend == Rerank {
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
		return nil, errors.New("not a URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("not an http:// or https:// URL")
	case u.Hostname() == "":
		return nil, errors.New("a URL without a host")
	case u.User != nil:
		return nil, errors.New("a URL with a password in it: the key belongs in the environment")
	}
	return u, nil
}
