package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"secateur/internal/llm/proxy"
	"secateur/internal/secret"
)

// sinks are four providers without keys, as in examples/agents.toml, and one with its own key.
func sinks(t *testing.T) (*proxied, map[string]*fakeProvider) {
	t.Helper()
	all := map[string]*fakeProvider{}
	for _, name := range []string{"anthropic", "openai", "chatgpt", "deepseek", "corp"} {
		all[name] = newProvider(t, jsonAnswer(`{"object":"list","data":[{"id":"m","object":"model"}]}`))
	}
	px := newProxy(t, func(o *proxy.Options) {
		o.DefaultProvider = "openai"
		corp := o.Providers["corp"]
		corp.APIKey = secret.New("key-of-corp")
		o.Providers["corp"] = corp
	}, all)
	return px, all
}

// saw lists the providers that were shown a credential, in order.
func saw(all map[string]*fakeProvider, canary string) (names []string) {
	for name, p := range all {
		p.mu.Lock()
		for _, a := range p.asked {
			for _, values := range a.header {
				if strings.Contains(strings.Join(values, "\n"), canary) && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		p.mu.Unlock()
	}
	slices.Sort(names)
	return names
}

func TestCredentialsReachTheirOwnProviderOnly(t *testing.T) {
	clients := []struct {
		name   string
		header []string
		own    string
	}{
		{"an API key of Anthropic", []string{"X-Api-Key", "canary", "Anthropic-Version", "2023-06-01"}, "anthropic"},
		{"a key without a version", []string{"X-Api-Key", "canary"}, "anthropic"},
		{"a subscription of Claude", []string{"Authorization", "Bearer canary", "Anthropic-Version", "2023-06-01", "Anthropic-Beta", "oauth-2025-04-20"}, "anthropic"},
		{"an API key of OpenAI", []string{"Authorization", "Bearer sk-canary"}, "openai"},
		{"a ChatGPT account", []string{"Authorization", "Bearer canary", "ChatGPT-Account-ID", "canary-of-account"}, "chatgpt"},
	}
	for _, c := range clients {
		for _, way := range []string{
			"GET /v1/models", "GET /models", "GET /v1/models?client_version=0.99.0", "GET /v1/models/m", "GET /v1/models/deepseek/m", "GET /v1/models/deepseek/other",
			"GET /v1/models/corp/m", "GET /v1/models/anthropic/m", "POST /v1/embeddings", "GET /v1/files", "GET /v1/responses/x", "POST /v1/chat/completions",
			"POST /v1/responses", "POST /v1/messages", "POST /v1/messages/count_tokens",
		} {
			method, path, _ := strings.Cut(way, " ")
			format := map[string]string{"/v1/chat/completions": "openai", "/v1/responses": "openai chatgpt", "/v1/responses/x": "openai chatgpt"}[path]
			if strings.HasPrefix(path, "/v1/messages") {
				format = "anthropic"
			}
			if strings.Contains(path, "client_version") {
				format = "openai chatgpt"
			}
			if format != "" && !strings.Contains(format, c.own) {
				continue // the path determines the credential's provider
			}
			t.Run(c.name+" "+way, func(t *testing.T) {
				px, all := sinks(t)
				px.do(t, method, path, `{"model":"m","messages":[]}`, c.header...)
				if got := saw(all, "canary"); slices.ContainsFunc(got, func(name string) bool { return name != c.own }) {
					t.Errorf("shown to %v, want none but %s", got, c.own)
				}
			})
		}
		t.Run(c.name+" lists models", func(t *testing.T) {
			px, all := sinks(t)
			px.do(t, http.MethodGet, "/v1/models", "", c.header...)
			if got := saw(all, "canary"); !slices.Equal(got, []string{c.own}) {
				t.Errorf("shown to %v, want %s", got, c.own)
			}
		})
	}
}

// A provider with its own key is asked with that key. One without any still lists its public
// models.
func TestOtherProvidersListTheirModelsWithoutTheCaller(t *testing.T) {
	px, all := sinks(t)
	got := px.do(t, http.MethodGet, "/v1/models", "", "X-Api-Key", "canary")
	ids := idsOf(t, got.body)
	for _, want := range []string{"corp/m", "deepseek/m", "anthropic/m"} {
		if !slices.Contains(ids, want) {
			t.Errorf("%v lacks %s", ids, want)
		}
	}
	if h := all["corp"].last(t).header; h.Get("Authorization") != "Bearer key-of-corp" || h.Get("X-Api-Key") != "" {
		t.Errorf("the provider with a key was asked with %v", h)
	}
}

func TestCodexGetsTheListOfItsBackend(t *testing.T) {
	for name, header := range map[string][]string{
		"by its account": {"/v1/models", "ChatGPT-Account-ID", "acc", "Authorization", "Bearer eyJ"},
		"by its version": {"/v1/models?client_version=0.99.0", "Authorization", "Bearer eyJ"},
		"by both":        {"/models?client_version=0.99.0", "ChatGPT-Account-ID", "acc", "Authorization", "Bearer eyJ"},
	} {
		t.Run(name, func(t *testing.T) {
			px, all := sinks(t)
			all["chatgpt"].answer = jsonAnswer(`{"models":[{"slug":"gpt"}]}`)
			got := px.do(t, http.MethodGet, header[0], "", header[1:]...)
			if got.status != http.StatusOK || got.body != `{"models":[{"slug":"gpt"}]}` {
				t.Errorf("%d %s", got.status, got.body)
			}
			if sent := all["chatgpt"].last(t); sent.uri != "/v1"+strings.TrimPrefix(header[0], "/v1") || sent.header.Get("Authorization") != "Bearer eyJ" {
				t.Errorf("asked for %s with %v", sent.uri, sent.header)
			}
			for other, p := range all {
				if other != "chatgpt" && p.count() > 0 {
					t.Errorf("%s was asked too", other)
				}
			}
		})
	}
}

func TestAChatGPTAccountIsRefusedWhereOnlyAnotherProviderIs(t *testing.T) {
	p := openAIProvider(t)
	px := newProxy(t, nil, map[string]*fakeProvider{"openai": p})
	for _, way := range []string{"GET /v1/models", "POST /v1/responses", "GET /v1/responses/x", "POST /v1/chat/completions"} {
		method, path, _ := strings.Cut(way, " ")
		got := px.do(t, method, path, `{"model":"m"}`, "ChatGPT-Account-ID", "acc", "Authorization", "Bearer eyJ")
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "[providers.chatgpt]") || p.count() != 0 {
			t.Errorf("%s: %d %s, the provider was asked %d times", way, got.status, got.body, p.count())
		}
	}
}
