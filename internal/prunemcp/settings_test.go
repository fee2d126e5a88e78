package prunemcp_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"secateur/internal/originals"
	"secateur/internal/prunemcp"
)

func TestSettings(t *testing.T) {
	if err := prunemcp.Default().Validate(); err != nil {
		t.Errorf("the default is wrong: %v", err)
	}
	for want, change := range map[string]func(*prunemcp.Settings){
		"":                               func(s *prunemcp.Settings) { s.Port, s.CacheTTL, s.CacheMaxEntries = 0, 0, 0 },
		"port: 65536":                    func(s *prunemcp.Settings) { s.Port = 65536 },
		`backend: "gpu"`:                 func(s *prunemcp.Settings) { s.Backend = "gpu" },
		`structure: "some"`:              func(s *prunemcp.Settings) { s.Structure = "some" },
		"prune_id_ttl_s: 0":              func(s *prunemcp.Settings) { s.PruneIDTTL = 0 },
		"max_input_chars: 0":             func(s *prunemcp.Settings) { s.MaxInputChars = 0 },
		"cache_ttl_s: -1":                func(s *prunemcp.Settings) { s.CacheTTL = -time.Second },
		"cache_max_entries: -1":          func(s *prunemcp.Settings) { s.CacheMaxEntries = -1 },
		"deepinfra_timeout_ms: 0":        func(s *prunemcp.Settings) { s.DeepInfraTimeout = 0 },
		"deepinfra_max_docs: 0":          func(s *prunemcp.Settings) { s.DeepInfraMaxDocs = 0 },
		"rerank_url: expected":           func(s *prunemcp.Settings) { s.RerankURL = "127.0.0.1:80" },
		"usd_per_million_tokens: NaN":    func(s *prunemcp.Settings) { s.USDPerMillionToken = math.NaN() },
		"port: -1 | cache_max_entries: ": func(s *prunemcp.Settings) { s.Port, s.CacheMaxEntries = -1, -1 },
	} {
		s := prunemcp.Default()
		change(&s)
		err := s.Validate()
		text := ""
		if err != nil {
			text = err.Error()
		}
		for part := range strings.SplitSeq(want, " | ") {
			if !strings.Contains(text, part) || (want == "") != (err == nil) {
				t.Errorf("Validate() = %v, want %q", err, want)
			}
		}
	}
}

func TestNewNeedsItsParts(t *testing.T) {
	ok := prunemcp.Options{Settings: prunemcp.Default(), Originals: &originals.Memory{}, Now: time.Now}
	for name, change := range map[string]func(*prunemcp.Options){
		"a store":        func(o *prunemcp.Options) { o.Originals = nil },
		"a clock":        func(o *prunemcp.Options) { o.Now = nil },
		"right settings": func(o *prunemcp.Options) { o.Backend = "gpu" },
	} {
		opt := ok
		change(&opt)
		if _, err := prunemcp.New(opt); err == nil {
			t.Errorf("New without %s is no error", name)
		}
	}
}
