package config

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"secateur/internal/secret"
)

// override is an environment variable that takes precedence over the file.
type override struct {
	variable string
	path     string // the key it overrides
	set      func(*Settings, string) error
}

// overrides are applied in this order: of two variables for one key the later wins. An empty
// variable counts as unset. KIMI_PRUNING_BACKEND has its own rules, see overrideBackend.
var overrides = []override{
	{"SECATEUR_LISTEN", "listen", text(func(s *Settings) *string { return &s.Listen })},
	{"SECATEUR_LOG_LEVEL", "log_level", text(func(s *Settings) *string { return &s.LogLevel })},
	{"MCP_PRUNER_HOST", "mcp_pruner.host", text(func(s *Settings) *string { return &s.Pruner.Host })},
	{"MCP_PRUNER_PORT", "mcp_pruner.port", whole(func(s *Settings) *int { return &s.Pruner.Port })},
	{"MCP_PRUNER_MAX_INPUT_CHARS", "mcp_pruner.max_input_chars", whole(func(s *Settings) *int { return &s.Pruner.MaxInputChars })},
	{"MCP_PRUNER_PRUNE_ID_TTL_S", "mcp_pruner.prune_id_ttl_s", span(time.Second, func(s *Settings) *time.Duration { return &s.Pruner.PruneIDTTL })},
	{"MCP_PRUNER_CACHE_TTL_S", "mcp_pruner.cache_ttl_s", span(time.Second, func(s *Settings) *time.Duration { return &s.Pruner.CacheTTL })},
	{"MCP_PRUNER_CACHE_MAX_ENTRIES", "mcp_pruner.cache_max_entries", whole(func(s *Settings) *int { return &s.Pruner.CacheMaxEntries })},
	{"MCP_PRUNER_CACHE_MAX_ITEMS", "mcp_pruner.cache_max_entries", whole(func(s *Settings) *int { return &s.Pruner.CacheMaxEntries })},
	{"DEEPINFRA_TIMEOUT_MS", "mcp_pruner.deepinfra_timeout_ms", span(time.Millisecond, func(s *Settings) *time.Duration { return &s.Pruner.DeepInfraTimeout })},
	{"DEEPINFRA_MAX_DOCS", "mcp_pruner.deepinfra_max_docs", whole(func(s *Settings) *int { return &s.Pruner.DeepInfraMaxDocs })},
	{"DEEPINFRA_ENDPOINT_URL", "mcp_pruner.deepinfra_url", text(func(s *Settings) *string { return &s.Pruner.DeepInfraURL })},
	{"DEEPINFRA_API_KEY", "mcp_pruner.deepinfra_api_key", hidden(func(s *Settings) *secret.Text { return &s.Pruner.DeepInfraAPIKey })},
	{"SECATEUR_RERANK_URL", "mcp_pruner.rerank_url", text(func(s *Settings) *string { return &s.Pruner.RerankURL })},
	{"SECATEUR_RERANK_API_KEY", "mcp_pruner.rerank_api_key", hidden(func(s *Settings) *secret.Text { return &s.Pruner.RerankAPIKey })},
}

const backendVariable = "KIMI_PRUNING_BACKEND"

// override applies the environment and then the command line over the file.
func (d *decoder) override(s *Settings, opt Options) {
	for _, o := range overrides {
		value, ok := d.lookup(o.variable)
		if !ok || strings.TrimSpace(value) == "" {
			continue
		}
		at := spot{path: o.path, place: place{file: "environment", label: o.variable, off: noOffset}}
		delete(d.bad, o.path) // the file's mistake has been reported and no longer counts
		d.places[o.path] = at.place
		if err := o.set(s, strings.TrimSpace(value)); err != nil {
			d.complain(at, "%v", err)
		}
	}
	d.overrideBackend(s)
	if opt.Listen != "" {
		s.Listen = opt.Listen
		delete(d.bad, "listen")
		d.places["listen"] = place{file: "command line", label: "--listen", off: noOffset}
	}
}

// overrideBackend lets the environment choose the pruner's backend. An unknown word selects the
// local engine, so that a typo sends nothing off the machine.
func (d *decoder) overrideBackend(s *Settings) {
	value, ok := d.lookup(backendVariable)
	value = oneBackendName(value)
	if !ok || value == "" {
		return
	}
	at := spot{path: "mcp_pruner.backend", place: place{file: "environment", label: backendVariable, off: noOffset}}
	d.places[at.path] = at.place
	switch value {
	case backendHeuristic, backendDeepInfra, backendRerank:
		s.Pruner.Backend = value
	default:
		s.Pruner.Backend = backendHeuristic
		d.warn(at, "unknown backend; the heuristic is used. There is %s", among([]string{backendHeuristic, backendDeepInfra, backendRerank}))
	}
}

func text(field func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		*field(s) = value
		return nil
	}
}

func hidden(field func(*Settings) *secret.Text) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		*field(s) = secret.New(value)
		return nil
	}
}

func whole(field func(*Settings) *int) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return errors.New("expected a whole number")
		}
		*field(s) = n
		return nil
	}
}

func span(unit time.Duration, field func(*Settings) *time.Duration) func(*Settings, string) error {
	return func(s *Settings, value string) error {
		f, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return errors.New("expected a number")
		}
		t, err := duration(f, unit)
		if err != nil {
			return err
		}
		*field(s) = t
		return nil
	}
}
