package rerank_test

import (
	"math"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"secateur/internal/rerank"
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

func TestSettingsAreReadByTheirNames(t *testing.T) {
	const file = `
backend = "cloud"
cache_ttl_s = 1.5
cache_max_entries = 2
deepinfra_timeout_ms = 3
deepinfra_max_docs = 4
rerank_url = "http://127.0.0.1"
rerank_model = "m"
`
	var got rerank.Settings
	if err := toml.NewDecoder(strings.NewReader(file)).DisallowUnknownFields().Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := rerank.Settings{
		Backend: "cloud", CacheTTLSeconds: 1.5, CacheMaxEntries: 2, TimeoutMS: 3, MaxDocs: 4,
		RerankURL: "http://127.0.0.1", RerankModel: "m",
	}
	if got != want {
		t.Errorf("read %+v, want %+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Errorf("Validate: %v", err)
	}
	for _, key := range []string{"deepinfra_api_key", "api_key", "APIKey", "apikey"} {
		err := toml.NewDecoder(strings.NewReader(key + " = 'sk'")).DisallowUnknownFields().Decode(&got)
		if err == nil || !got.APIKey.IsZero() {
			t.Errorf("a key is taken from the file as %s", key)
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
		{"no time", func(s *rerank.Settings) { s.TimeoutMS = 0 }, []string{"deepinfra_timeout_ms: 0"}},
		{"no documents", func(s *rerank.Settings) { s.MaxDocs = 0 }, []string{"deepinfra_max_docs: 0"}},
		{"no memory", func(s *rerank.Settings) { s.CacheMaxEntries, s.CacheTTLSeconds = 0, 0 }, nil},
		{"a memory that is none", func(s *rerank.Settings) { s.CacheTTLSeconds = math.NaN() }, []string{"cache_ttl_s: NaN"}},
		{"rerank without an address starts", func(s *rerank.Settings) { s.Backend = rerank.Rerank }, nil},
		{"an address without a scheme", func(s *rerank.Settings) { s.RerankURL = "127.0.0.1:80" }, []string{"rerank_url:"}},
		{"another scheme", func(s *rerank.Settings) { s.RerankURL = "ftp://host" }, []string{"rerank_url: not an http"}},
		{"no host", func(s *rerank.Settings) { s.RerankURL = "http:///rerank" }, []string{"rerank_url: a URL without a host"}},
		{"a password", func(s *rerank.Settings) { s.RerankURL = "http://u:" + canary + "@host" }, []string{"rerank_url: a URL with a password"}},
		{"all of them", func(s *rerank.Settings) {
			*s = rerank.Settings{CacheTTLSeconds: -1, CacheMaxEntries: -1, RerankURL: "%" + canary}
		}, []string{"backend:", "deepinfra_timeout_ms:", "deepinfra_max_docs:", "cache_ttl_s:", "cache_max_entries:", "rerank_url:"}},
	} {
		s := rerank.Default()
		s.APIKey = secret.New(canary)
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
