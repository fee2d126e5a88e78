package pruner

import (
	"errors"
	"fmt"
	"math"
	"time"

	"secateur/internal/prune"
	"secateur/internal/prune/rerank"
)

// Settings configure the pruner.
type Settings struct {
	rerank.Settings // which backend scores lines

	Enabled bool   `toml:"enabled"` // as upstream `pruner` and at /rpc
	Tools   string `toml:"tools"`   // ToolsRecover | ToolsAll: what clients of the aggregate list
	Host    string `toml:"host"`    // standalone pruner only
	// Standalone pruner only; 0: any free port.
	Port int `toml:"port"`
	// All | enclosing: which structural lines must stay.
	Structure string `toml:"structure"`
	// Standalone pruner only, without a configured store.
	PruneIDTTL time.Duration `toml:"prune_id_ttl_s"`
	// Longer texts are returned unchanged.
	MaxInputChars      int     `toml:"max_input_chars"`
	USDPerMillionToken float64 `toml:"usd_per_million_tokens"` // value of saved tokens
}

// What clients of the aggregate list.
const (
	ToolsRecover = "recover" // the tools that give back what was cut
	ToolsAll     = "all"     // prune_text and health, too
)

// Default prunes locally, on the loopback address, texts of up to two million characters.
func Default() Settings {
	return Settings{
		Settings:           rerank.Default(),
		Enabled:            true,
		Tools:              ToolsRecover,
		Host:               "127.0.0.1",
		Port:               8006,
		Structure:          prune.Enclosing.String(),
		PruneIDTTL:         600 * time.Second,
		MaxInputChars:      2_000_000,
		USDPerMillionToken: 3,
	}
}

// Validate reports every mistake as "key: text". A backend without its key or URL is no mistake:
// the pruner starts and falls back with each call.
func (s Settings) Validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(s.Tools != ToolsRecover && s.Tools != ToolsAll, "tools: %q is none of %s, %s", s.Tools, ToolsRecover, ToolsAll)
	bad(s.Port < 0 || s.Port > 65535, "port: %d is not between 0 and 65535", s.Port)
	if _, err := prune.ParseStructure(s.Structure); err != nil {
		bad(true, "structure: %q is none of all, enclosing", s.Structure)
	}
	bad(s.PruneIDTTL <= 0, "prune_id_ttl_s: %v is not positive", s.PruneIDTTL.Seconds())
	bad(s.MaxInputChars <= 0, "max_input_chars: %d is not positive", s.MaxInputChars)
	price := s.USDPerMillionToken
	bad(price < 0 || math.IsNaN(price) || math.IsInf(price, 0), "usd_per_million_tokens: %v is no price", price)
	return errors.Join(append(errs, s.Settings.Validate())...)
}
