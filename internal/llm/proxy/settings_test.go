package proxy_test

import (
	"math"
	"strings"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
)

func TestSettingsReportTheirMistakes(t *testing.T) {
	for _, tt := range []struct {
		rule string
		err  error
		want string // "": none
	}{
		{"a provider", proxy.Provider{BaseURL: "https://x/v1"}.Validate(), ""},
		{"no address", proxy.Provider{}.Validate(), "base_url: missing"},
		{"no web address", proxy.Provider{BaseURL: "ftp://x"}.Validate(), "base_url: not an http"},
		{"no host", proxy.Provider{BaseURL: "http:///v1"}.Validate(), "base_url: not an http"},
		{"a password is not repeated", proxy.Provider{BaseURL: "https://u:hidden@x"}.Validate(), "base_url: a user"},
		{"prices", proxy.Provider{BaseURL: "https://x", Prices: &bill.Prices{Input: math.NaN()}}.Validate(), "prices: input: "},
		{"a word for websocket", proxy.Provider{BaseURL: "https://x", WebSocket: "pass"}.Validate(), ""},
		{"another word for websocket", proxy.Provider{BaseURL: "https://x", WebSocket: "yes"}.Validate(), `websocket: "yes" is neither`},
		{"a model", proxy.Model{Provider: "x"}.Validate(), ""},
		{"a model of nobody", proxy.Model{}.Validate(), "provider: missing"},
		{"a model's prices", proxy.Model{Provider: "x", Prices: &bill.Prices{Output: -1}}.Validate(), "prices: output: "},
		{"options without size", newErr(proxy.Options{}), "a body size"},
		{"masking without store", newErr(proxy.Options{MaxBodyBytes: 1, Masking: chat.Default()}), "originals and records"},
		{"an unknown default", newErr(proxy.Options{MaxBodyBytes: 1, DefaultProvider: "x"}), "default_provider: "},
		{"an alias of nobody", newErr(proxy.Options{MaxBodyBytes: 1, Models: map[string]proxy.Model{"a": {Provider: "x"}}}), `models."a".provider: "x"`},
		{"a provider without address", newErr(proxy.Options{MaxBodyBytes: 1, Providers: map[string]proxy.Provider{"p": {}}}), "providers.p.base_url: missing"},
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

func newErr(o proxy.Options) error {
	_, err := proxy.New(o)
	return err
}
