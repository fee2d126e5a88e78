package llmproxy_test

import (
	"math"
	"strings"
	"testing"

	"secateur/internal/bill"
	"secateur/internal/chat"
	"secateur/internal/llmproxy"
)

func TestSettingsReportTheirMistakes(t *testing.T) {
	for _, tt := range []struct {
		rule string
		err  error
		want string // "": none
	}{
		{"a provider", llmproxy.Provider{BaseURL: "https://x/v1"}.Validate(), ""},
		{"no address", llmproxy.Provider{}.Validate(), "base_url: missing"},
		{"no web address", llmproxy.Provider{BaseURL: "ftp://x"}.Validate(), "base_url: not an http"},
		{"no host", llmproxy.Provider{BaseURL: "http:///v1"}.Validate(), "base_url: not an http"},
		{"a password is not repeated", llmproxy.Provider{BaseURL: "https://u:hidden@x"}.Validate(), "base_url: a user"},
		{"prices", llmproxy.Provider{BaseURL: "https://x", Prices: &bill.Prices{Input: math.NaN()}}.Validate(), "prices: input: "},
		{"a word for websocket", llmproxy.Provider{BaseURL: "https://x", WebSocket: "pass"}.Validate(), ""},
		{"another word for websocket", llmproxy.Provider{BaseURL: "https://x", WebSocket: "yes"}.Validate(), `websocket: "yes" is neither`},
		{"a model", llmproxy.Model{Provider: "x"}.Validate(), ""},
		{"a model of nobody", llmproxy.Model{}.Validate(), "provider: missing"},
		{"a model's prices", llmproxy.Model{Provider: "x", Prices: &bill.Prices{Output: -1}}.Validate(), "prices: output: "},
		{"options without size", newErr(llmproxy.Options{}), "a body size"},
		{"masking without store", newErr(llmproxy.Options{MaxBodyBytes: 1, Masking: chat.Default()}), "originals and records"},
		{"an unknown default", newErr(llmproxy.Options{MaxBodyBytes: 1, DefaultProvider: "x"}), "default_provider: "},
		{"an alias of nobody", newErr(llmproxy.Options{MaxBodyBytes: 1, Models: map[string]llmproxy.Model{"a": {Provider: "x"}}}), `models."a".provider: "x"`},
		{"a provider without address", newErr(llmproxy.Options{MaxBodyBytes: 1, Providers: map[string]llmproxy.Provider{"p": {}}}), "providers.p.base_url: missing"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			switch {
			case tt.want == "" && tt.err != nil, tt.want != "" && (tt.err == nil || !strings.Contains(tt.err.Error(), tt.want)):
				t.Errorf("error = %v, want %q", tt.err, tt.want)
			case tt.err != nil && strings.Contains(tt.err.Error(), "hidden"):
				t.Errorf("error = %v", tt.err)
			}
		})
	}
}

func newErr(o llmproxy.Options) error {
	_, err := llmproxy.New(o)
	return err
}
