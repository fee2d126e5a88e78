package pruner

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"time"

	"secateur/internal/prune"
	"secateur/internal/rerank"
)

// Settings say how the pruner works. The keys of rerankers are not among them: they come from the environment.
type Settings struct {
	Enabled            bool          `toml:"enabled"`                // as upstream `pruner` and at /rpc
	Host               string        `toml:"host"`                   // of the pruner alone
	Port               int           `toml:"port"`                   // of the pruner alone; 0: any that is free
	Backend            string        `toml:"backend"`                // heuristic | deepinfra (alias cloud) | rerank
	Structure          string        `toml:"structure"`              // all | enclosing: which structural lines must stay
	PruneIDTTL         time.Duration `toml:"prune_id_ttl_s"`         // of the pruner alone, where no store is configured
	MaxInputChars      int           `toml:"max_input_chars"`        // a longer text is given back as it is
	CacheTTL           time.Duration `toml:"cache_ttl_s"`            // of a reranker's scores; 0: no cache
	CacheMaxEntries    int           `toml:"cache_max_entries"`      // 0: no cache
	DeepInfraTimeout   time.Duration `toml:"deepinfra_timeout_ms"`   // of every reranker
	DeepInfraMaxDocs   int           `toml:"deepinfra_max_docs"`     // documents sent to a reranker at most
	RerankURL          string        `toml:"rerank_url"`             // of backend rerank
	RerankModel        string        `toml:"rerank_model"`           // of backend rerank; may be empty
	USDPerMillionToken float64       `toml:"usd_per_million_tokens"` // what a saved token is worth
}

// Default prunes locally, on the loopback address, texts of up to two million characters.
func Default() Settings {
	return Settings{
		Enabled:            true,
		Host:               "127.0.0.1",
		Port:               8006,
		Backend:            string(rerank.Heuristic),
		Structure:          prune.Enclosing.String(),
		PruneIDTTL:         600 * time.Second,
		MaxInputChars:      2_000_000,
		CacheTTL:           30 * time.Second,
		CacheMaxEntries:    256,
		DeepInfraTimeout:   20 * time.Second,
		DeepInfraMaxDocs:   64,
		USDPerMillionToken: 3,
	}
}

// Validate reports every mistake as "key: text". A backend that lacks its key or its URL is none: the pruner starts,
// and falls back call by call.
func (s Settings) Validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(s.Port < 0 || s.Port > 65535, "port: %d is not between 0 and 65535", s.Port)
	if _, ok := rerank.ParseBackend(s.Backend); !ok {
		bad(true, "backend: %q is none of heuristic, deepinfra, cloud, rerank", s.Backend)
	}
	if _, err := prune.ParseStructure(s.Structure); err != nil {
		bad(true, "structure: %q is none of all, enclosing", s.Structure)
	}
	bad(s.PruneIDTTL <= 0, "prune_id_ttl_s: %v is not positive", s.PruneIDTTL.Seconds())
	bad(s.MaxInputChars <= 0, "max_input_chars: %d is not positive", s.MaxInputChars)
	bad(s.CacheTTL < 0, "cache_ttl_s: %v is negative", s.CacheTTL.Seconds())
	bad(s.CacheMaxEntries < 0, "cache_max_entries: %d is negative", s.CacheMaxEntries)
	bad(s.DeepInfraTimeout <= 0, "deepinfra_timeout_ms: %d is not positive", s.DeepInfraTimeout.Milliseconds())
	bad(s.DeepInfraMaxDocs <= 0, "deepinfra_max_docs: %d is not positive", s.DeepInfraMaxDocs)
	price := s.USDPerMillionToken
	bad(price < 0 || math.IsNaN(price) || math.IsInf(price, 0), "usd_per_million_tokens: %v is no price", price)
	if s.RerankURL != "" {
		u, err := url.Parse(s.RerankURL)
		// The address is not repeated: one with a password in it is easily put here.
		bad(err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"), "rerank_url: expected http://… or https://…")
	}
	return errors.Join(errs...)
}
