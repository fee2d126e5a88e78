package proxy_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/llm/proxy"
	"secateur/internal/secret"
)

func idsOf(t *testing.T, body string) (ids []string) {
	t.Helper()
	var list struct {
		Object string `json:"object"`
		Data   []struct {
			ID     string `json:"id"`
			Object string `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || list.Object != "list" {
		t.Fatalf("not a list: %v %s", err, body)
	}
	for _, m := range list.Data {
		if m.Object != "model" {
			t.Errorf("%s is a %q", m.ID, m.Object)
		}
		ids = append(ids, m.ID)
	}
	return ids
}

// Claude Code and OpenAI's clients find their vendors' model names, and those names reach the
// provider that listed them.
func TestModelsHaveTheirMakersNamesInTheFormatOfTheClient(t *testing.T) {
	claude := newProvider(t, jsonAnswer(`{"data":[{"type":"model","id":"claude-x","object":"model"}]}`))
	gpt := newProvider(t, jsonAnswer(`{"object":"list","data":[{"id":"gpt-x","object":"model"}]}`))
	px := newProxy(t, func(o *proxy.Options) { o.DefaultProvider = "openai" }, map[string]*fakeProvider{"anthropic": claude, "openai": gpt})
	version := []string{"Anthropic-Version", "2023-06-01"}
	if ids := idsOf(t, px.do(t, "GET", "/v1/models?limit=1000", "", version...).body); !slices.Equal(ids, []string{"claude-x", "anthropic/claude-x", "openai/gpt-x"}) {
		t.Errorf("Claude Code sees %v", ids)
	}
	if ids := idsOf(t, px.do(t, "GET", "/v1/models", "").body); !slices.Equal(ids, []string{"anthropic/claude-x", "gpt-x", "openai/gpt-x"}) {
		t.Errorf("an OpenAI client sees %v", ids)
	}
	px.do(t, "GET", "/v1/models/claude-x", "", version...)
	if sent := claude.last(t); sent.uri != "/v1/models/claude-x" {
		t.Errorf("asked Anthropic for %s", sent.uri)
	}
}

func TestADeniedModelIsHiddenUnderItsMakersName(t *testing.T) {
	claude := newProvider(t, jsonAnswer(`{"data":[{"id":"claude-x","object":"model"}]}`))
	_, with := governed(t, []access.Rule{{Model: access.Globs{"anthropic/*"}, Action: access.ActionDeny}})
	px := newProxy(t, func(o *proxy.Options) { with(o); o.DefaultProvider = "openai" }, map[string]*fakeProvider{
		"anthropic": claude, "openai": newProvider(t, jsonAnswer(`{"data":[]}`)),
	})
	version := []string{"Anthropic-Version", "2023-06-01"}
	if ids := idsOf(t, px.do(t, "GET", "/v1/models", "", version...).body); len(ids) != 0 {
		t.Errorf("listed %v", ids)
	}
	if got := px.do(t, "GET", "/v1/models/claude-x", "", version...); got.status != http.StatusNotFound {
		t.Errorf("told %d %s", got.status, got.body)
	}
}

func TestModelsOfSilentProvidersAreTheConfiguredOnes(t *testing.T) {
	px := newProxy(t, func(o *proxy.Options) {
		o.Providers["dead"] = proxy.Provider{BaseURL: "http://127.0.0.1:1"}
		o.Models = map[string]proxy.Model{"quick": {Provider: "dead", Model: "m1"}}
	}, nil)
	if ids := idsOf(t, px.do(t, "GET", "/v1/models", "").body); !slices.Equal(ids, []string{"quick", "dead/m1"}) {
		t.Errorf("listed %v", ids)
	}
}

func TestModelsAreAliasesAndWhatProvidersList(t *testing.T) {
	a := newProvider(t, jsonAnswer(`{"object":"list","data":[{"object":"model","id":"m1","context_length":1234567890123456789},{"id":"m2","object":"model"},{"no":"id"},7]}`))
	broken := newProvider(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	px := newProxy(t, func(o *proxy.Options) {
		o.Models = map[string]proxy.Model{"quick": {Provider: "a", Model: "m1"}, "same": {Provider: "broken"}}
		o.DefaultProvider = "a"
		o.Providers["dead"] = proxy.Provider{BaseURL: "http://127.0.0.1:1"}
	}, map[string]*fakeProvider{"a": a, "broken": broken})
	want := []string{"quick", "same", "a/m1", "broken/same", "m1", "m2", "a/m2"}
	for _, path := range []string{"/v1/models", "/models"} {
		got := px.do(t, "GET", path, "")
		if ids := idsOf(t, got.body); got.status != 200 || !slices.Equal(ids, want) {
			t.Errorf("GET %s = %d %v, want %v", path, got.status, ids, want)
		}
		if !strings.Contains(got.body, `{"object":"model","id":"m1","context_length":1234567890123456789}`) {
			t.Errorf("what the provider says was changed: %s", got.body)
		}
	}
	if a.count() != 1 || broken.count() != 1 {
		t.Errorf("two lists asked the providers %d and %d times, want once each", a.count(), broken.count())
	}
	if sent := a.last(t); sent.uri != "/v1/models" {
		t.Errorf("asked for %s", sent.uri)
	}
}

func TestModelsAreListedForWhoAsks(t *testing.T) {
	a := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		jsonAnswer(`{"data":[{"object":"model","id":"for-`+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+`"}]}`)(w, r)
	})
	for _, tt := range []struct{ rule, key, own, auth, want string }{
		{"with the provider's key", "pk", "", "Bearer x", "for-pk"},
		{"else with the client's", "", "", "Bearer x", "for-x"},
		{"never with our token", "", "tok", "Bearer tok", "for-"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			px := newProxy(t, func(o *proxy.Options) {
				o.Providers["main"] = proxy.Provider{BaseURL: a.URL, APIKey: secret.New(tt.key)}
				o.OwnToken = secret.New(tt.own)
			}, nil)
			if ids := idsOf(t, px.do(t, "GET", "/v1/models", "", "Authorization", tt.auth).body); ids[0] != tt.want {
				t.Errorf("ids = %v, want %s", ids, tt.want)
			}
			other := idsOf(t, px.do(t, "GET", "/v1/models", "", "Authorization", "Bearer y").body)
			if wants := tt.key == "" && other[0] != "for-y"; wants {
				t.Errorf("another client sees %v", other)
			}
		})
	}
}

func TestModelsWithoutProvidersAreNone(t *testing.T) {
	px := newProxy(t, nil, nil)
	if got := px.do(t, "GET", "/v1/models", ""); got.body != `{"object":"list","data":[]}` {
		t.Errorf("list = %s", got.body)
	}
}

func TestOneModelIsAskedOfWhomItIs(t *testing.T) {
	list := jsonAnswer(`{"object":"list","data":[{"object":"model","id":"m1","context_length":1234567890123456789}]}`)
	answer := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/models" {
				list(w, r)
				return
			}
			jsonAnswer(`{"from":"`+name+`","uri":"`+r.RequestURI+`"}`)(w, r)
		}
	}
	a, b := newProvider(t, answer("a")), newProvider(t, answer("b"))
	change := func(o *proxy.Options) {
		o.Models = map[string]proxy.Model{"quick": {Provider: "b", Model: "m9"}, "deep/er": {Provider: "b"}}
		o.DefaultProvider = "a"
	}
	px := newProxy(t, change, map[string]*fakeProvider{"a": a, "b": b})
	for _, tt := range []struct{ rule, method, path, want string }{
		{"an alias is ours", "GET", "quick", `{"id":"quick","object":"model","created":0,"owned_by":"b"}`},
		{"an alias with a slash", "GET", "deep/er", `{"id":"deep/er","object":"model","created":0,"owned_by":"b"}`},
		{"an alias that is escaped", "GET", "deep%2Fer", `{"id":"deep/er","object":"model","created":0,"owned_by":"b"}`},
		{"what an alias stands for", "GET", "b/m9", `{"id":"b/m9","object":"model","created":0,"owned_by":"b"}`},
		{"what a provider lists", "GET", "b/m1", `{"object":"model","id":"b/m1","context_length":1234567890123456789}`},
		{"what it does not list it may know", "GET", "b/org/m2", `{"from":"b","uri":"/v1/models/org/m2"}`},
		{"any other is the default provider's", "GET", "m1", `{"from":"a","uri":"/v1/models/m1"}`},
		{"of no provider that we know", "GET", "c/m1", `{"from":"a","uri":"/v1/models/c/m1"}`},
		{"without a name", "GET", "", `{"from":"a","uri":"/v1/models/"}`},
		{"a name that leads elsewhere", "GET", "b/%2e%2e/m1", `"code":"unknown_url"}}`},
		{"what is no question", "DELETE", "quick", `{"from":"a","uri":"/v1/models/quick"}`},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			got := px.do(t, tt.method, "/v1/models/"+tt.path, "")
			if got.status == http.StatusNotFound {
				_, got.body, _ = strings.Cut(got.body, `"param":null,`)
			}
			if got.body != tt.want {
				t.Errorf("%s %s = %d %s, want %s", tt.method, tt.path, got.status, got.body, tt.want)
			}
		})
	}
}
