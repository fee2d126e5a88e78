package pruner_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"secateur/internal/prune/pruner"
	"secateur/internal/store/originals"
)

func TestSettings(t *testing.T) {
	if err := pruner.Default().Validate(); err != nil {
		t.Errorf("the default is wrong: %v", err)
	}
	for want, change := range map[string]func(*pruner.Settings){
		"":                               func(s *pruner.Settings) { s.Port, s.CacheTTL, s.CacheMaxEntries = 0, 0, 0 },
		"port: 65536":                    func(s *pruner.Settings) { s.Port = 65536 },
		`backend: "gpu"`:                 func(s *pruner.Settings) { s.Backend = "gpu" },
		`structure: "some"`:              func(s *pruner.Settings) { s.Structure = "some" },
		"prune_id_ttl_s: 0":              func(s *pruner.Settings) { s.PruneIDTTL = 0 },
		"max_input_chars: 0":             func(s *pruner.Settings) { s.MaxInputChars = 0 },
		"cache_ttl_s: -1":                func(s *pruner.Settings) { s.CacheTTL = -time.Second },
		"cache_max_entries: -1":          func(s *pruner.Settings) { s.CacheMaxEntries = -1 },
		"deepinfra_timeout_ms: 0":        func(s *pruner.Settings) { s.DeepInfraTimeout = 0 },
		"deepinfra_max_docs: 0":          func(s *pruner.Settings) { s.DeepInfraMaxDocs = 0 },
		"rerank_url: expected":           func(s *pruner.Settings) { s.RerankURL = "127.0.0.1:80" },
		"usd_per_million_tokens: NaN":    func(s *pruner.Settings) { s.USDPerMillionToken = math.NaN() },
		"port: -1 | cache_max_entries: ": func(s *pruner.Settings) { s.Port, s.CacheMaxEntries = -1, -1 },
	} {
		s := pruner.Default()
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
	ok := pruner.Options{Settings: pruner.Default(), Originals: &originals.Memory{}, Now: time.Now}
	for name, change := range map[string]func(*pruner.Options){
		"a store":        func(o *pruner.Options) { o.Originals = nil },
		"a clock":        func(o *pruner.Options) { o.Now = nil },
		"right settings": func(o *pruner.Options) { o.Backend = "gpu" },
	} {
		opt := ok
		change(&opt)
		if _, err := pruner.New(opt); err == nil {
			t.Errorf("New without %s is no error", name)
		}
	}
}
