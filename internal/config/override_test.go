package config_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestEnvironmentBeatsTheFile(t *testing.T) {
	const text = `
listen = "127.0.0.1:1"
log_level = "ERROR"
[mcp_pruner]
host = "localhost"
port = 1
backend = "deepinfra"
prune_id_ttl_s = 1
max_input_chars = 1
cache_ttl_s = 1
cache_max_entries = 1
deepinfra_timeout_ms = 1
deepinfra_max_docs = 1
rerank_url = "http://file"
`
	cfg := load(t, "c.toml", text,
		"SECATEUR_LISTEN=127.0.0.1:2", "SECATEUR_LOG_LEVEL=debug", "MCP_PRUNER_HOST=::1", "MCP_PRUNER_PORT=0",
		"MCP_PRUNER_MAX_INPUT_CHARS= 2 ", "MCP_PRUNER_PRUNE_ID_TTL_S=2.5", "MCP_PRUNER_CACHE_TTL_S=0",
		"MCP_PRUNER_CACHE_MAX_ENTRIES=2", "MCP_PRUNER_CACHE_MAX_ITEMS=3", "DEEPINFRA_TIMEOUT_MS=2", "DEEPINFRA_MAX_DOCS=2",
		"DEEPINFRA_ENDPOINT_URL=http://d", "DEEPINFRA_API_KEY=dk", "SECATEUR_RERANK_URL=http://r", "SECATEUR_RERANK_API_KEY=rk",
		"KIMI_PRUNING_BACKEND=Rerank")
	p := cfg.Pruner
	for _, c := range []struct {
		what      string
		got, want any
	}{
		{"SECATEUR_LISTEN", cfg.Listen, "127.0.0.1:2"},
		{"SECATEUR_LOG_LEVEL", cfg.Level().String(), "DEBUG"},
		{"MCP_PRUNER_HOST", p.Host, "::1"},
		{"MCP_PRUNER_PORT", p.Port, 0},
		{"MCP_PRUNER_MAX_INPUT_CHARS", p.MaxInputChars, 2},
		{"MCP_PRUNER_PRUNE_ID_TTL_S", p.PruneIDTTL, 2500 * time.Millisecond},
		{"MCP_PRUNER_CACHE_TTL_S", p.CacheTTL, time.Duration(0)},
		{"MCP_PRUNER_CACHE_MAX_ITEMS", p.CacheMaxEntries, 3},
		{"DEEPINFRA_TIMEOUT_MS", p.DeepInfraTimeout, 2 * time.Millisecond},
		{"DEEPINFRA_MAX_DOCS", p.DeepInfraMaxDocs, 2},
		{"DEEPINFRA_ENDPOINT_URL", p.DeepInfraURL, "http://d"},
		{"DEEPINFRA_API_KEY", p.DeepInfraAPIKey.Reveal(), "dk"},
		{"SECATEUR_RERANK_URL", p.RerankURL, "http://r"},
		{"SECATEUR_RERANK_API_KEY", p.RerankAPIKey.Reveal(), "rk"},
		{"KIMI_PRUNING_BACKEND", p.Backend, "rerank"},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestBackendChoice(t *testing.T) {
	for _, c := range []struct{ rule, file, env, want string }{
		{"neither says: heuristic", "", "", "heuristic"},
		{"the file's word counts alone", "deepinfra", "", "deepinfra"},
		{"cloud is another word for it", "cloud", "", "deepinfra"},
		{"in the environment too", "", "cloud", "deepinfra"},
		{"heuristic in the environment beats the file", "deepinfra", "heuristic", "heuristic"},
		{"an unknown word in the environment is the heuristic, whatever the file says", "deepinfra", "depinfra", "heuristic"},
	} {
		text, env := "", "X=x"
		if c.file != "" {
			text = "[mcp_pruner]\nbackend = \"" + c.file + "\"\n"
		}
		if c.env != "" {
			env = "KIMI_PRUNING_BACKEND=" + c.env
		}
		cfg := load(t, "c.toml", text, env, "DEEPINFRA_API_KEY=k")
		if cfg.Pruner.Backend != c.want {
			t.Errorf("%s: backend = %q, want %q", c.rule, cfg.Pruner.Backend, c.want)
		}
		if warned := len(cfg.Warnings) > 0; warned != strings.HasPrefix(c.rule, "an unknown") {
			t.Errorf("%s: warnings = %v", c.rule, cfg.Warnings)
		}
	}
}

// TestAuthTokenFromTheEnvironment shows the two ways to use AUTH_TOKEN: named by the file, or
// without a file.
func TestAuthTokenFromTheEnvironment(t *testing.T) {
	if got := load(t, "c.toml", `auth_token = "${AUTH_TOKEN:-}"`, "AUTH_TOKEN=t").AuthToken.Reveal(); got != "t" {
		t.Errorf("auth_token = %q, want t", got)
	}
	if got := load(t, "c.toml", "", "AUTH_TOKEN=t").AuthToken.Reveal(); got != "" {
		t.Errorf("a file that names no token has %q, want none", got)
	}
}
