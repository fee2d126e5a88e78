package rerank_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"secateur/internal/prune/rerank"
	"secateur/internal/secret"
)

func TestParseBackend(t *testing.T) {
	for name, want := range map[string]rerank.Backend{
		"heuristic": rerank.Heuristic, "deepinfra": rerank.DeepInfra, "cloud": rerank.DeepInfra, "rerank": rerank.Rerank,
		"DeepInfra\n": rerank.DeepInfra, "CLOUD": rerank.DeepInfra, "": "", "deep": "", "onnx": "",
	} {
		if got, ok := rerank.ParseBackend(name); got != want || ok != (want != "") {
			t.Errorf("ParseBackend(%q) = %q, %v, want %q", name, got, ok, want)
		}
	}
}

// Keys are not read from a file.
func TestKeysHaveNoNameInAFile(t *testing.T) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[rerank.Settings]()) {
		if f.Type == reflect.TypeFor[secret.Text]() && f.Tag.Get("toml") != "-" {
			t.Errorf("%s can be given in a file", f.Name)
		}
	}
}

func TestValidateReportsEveryMistake(t *testing.T) {
	if err := rerank.Default().Validate(); err != nil {
		t.Errorf("Default: %v", err)
	}
	for _, c := range []struct {
		rule string
		set  func(*rerank.Settings)
		want []string // empty: valid
	}{
		{"an unknown backend", func(s *rerank.Settings) { s.Backend = "onnx" }, []string{`backend: "onnx"`}},
		{"no backend", func(s *rerank.Settings) { s.Backend = "" }, []string{"backend:"}},
		{"no time", func(s *rerank.Settings) { s.DeepInfraTimeout = 0 }, []string{"deepinfra_timeout_ms: 0"}},
		{"no documents", func(s *rerank.Settings) { s.DeepInfraMaxDocs = 0 }, []string{"deepinfra_max_docs: 0"}},
		{"no memory", func(s *rerank.Settings) { s.CacheMaxEntries, s.CacheTTL = 0, 0 }, nil},
		{"a memory of centuries", func(s *rerank.Settings) { s.CacheTTL = 1 << 62 }, []string{"cache_ttl_s: 4"}},
		{"rerank without an address starts", func(s *rerank.Settings) { s.Backend = string(rerank.Rerank) }, nil},
		{"an address without a scheme", func(s *rerank.Settings) { s.RerankURL = "127.0.0.1:80" }, []string{"rerank_url:"}},
		{"another scheme", func(s *rerank.Settings) { s.RerankURL = "ftp://host" }, []string{"rerank_url: not an http"}},
		{"no host", func(s *rerank.Settings) { s.RerankURL = "http:///rerank" }, []string{"rerank_url: a URL without a host"}},
		{"a password", func(s *rerank.Settings) { s.RerankURL = "http://u:" + canary + "@host" }, []string{"rerank_url: a URL with a password"}},
		{"all of them", func(s *rerank.Settings) {
			*s = rerank.Settings{CacheTTL: -time.Second, CacheMaxEntries: -1, RerankURL: "%" + canary}
		}, []string{"backend:", "deepinfra_timeout_ms:", "deepinfra_max_docs:", "cache_ttl_s:", "cache_max_entries:", "rerank_url:"}},
	} {
		s := rerank.Default()
		s.DeepInfraAPIKey, s.RerankAPIKey = secret.New(canary), secret.New(canary)
		c.set(&s)
		err := s.Validate()
		if (err == nil) != (len(c.want) == 0) {
			t.Errorf("%s: Validate = %v", c.rule, err)
		}
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: Validate = %v, want %q in it", c.rule, err, want)
			}
		}
	}
}
