package proxy_test

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/access/limit"
	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
)

// governed gives a proxy rules and limits.
func governed(t *testing.T, rules []access.Rule, limits ...limit.Settings) (*admission.Control, func(*proxy.Options)) {
	t.Helper()
	compiled, err := access.NewRules(rules, false)
	if err != nil {
		t.Fatal(err)
	}
	control, err := admission.New(admission.Options{Rules: compiled, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return control, func(o *proxy.Options) { o.Admission = control }
}

func TestPathsThatAProviderMayReadInAnotherWayAreNotNamed(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	_, with := governed(t, []access.Rule{{Route: access.Globs{"/v1/embeddings*"}, Action: access.ActionAllow}})
	px := newProxy(t, with, one(p))
	for path, want := range map[string]int{
		"/v1/embeddings":                    http.StatusOK,
		"/v1/embeddings/a%20b":              http.StatusOK,
		"/v1/files":                         http.StatusNotFound,
		"/v1/embeddings/..%2ffiles":         http.StatusNotFound,
		"/v1/embeddings/..%5Cfiles":         http.StatusNotFound,
		"/v1/embeddings/%252e%252e/files":   http.StatusNotFound,
		"/v1/embeddings/..;/files":          http.StatusNotFound,
		"/v1/embeddings%2f%2e%2e%2ffiles":   http.StatusNotFound,
		"/v1/models/org%2Fm":                http.StatusOK,
		"/v1/models/..;/files":              http.StatusNotFound,
		"/v1/models/%252e%252e%252ffiles":   http.StatusNotFound,
		"/v1/models/a%2F..%5c..%5cfiles":    http.StatusNotFound,
		"/v1/models/%EF%BC%8E%EF%BC%8E/%66": http.StatusNotFound,
	} {
		before := p.count()
		got := px.do(t, http.MethodGet, path, "")
		if got.status != want || (want == http.StatusOK) != (p.count() > before) {
			t.Errorf("%s: %d %s, provider asked %d times, want %d", path, got.status, got.body, p.count()-before, want)
		}
	}
}

func TestALimitOfAPathThatPassesUnreadIsTold(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	_, with := governed(t, nil, limit.Settings{Name: "few", By: []string{limit.ByModel}, Rate: limit.Rate{Number: 1, Per: 3600e9}})
	px := newProxy(t, with, one(p))
	if got := px.do(t, http.MethodPost, "/v1/embeddings", "{}"); got.status != http.StatusOK || got.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("the first request: %d %v", got.status, got.header)
	}
	if got := px.do(t, http.MethodPost, "/v1/embeddings", "{}"); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "few") {
		t.Errorf("the second request: %d %s %v, want 429", got.status, got.body, got.header)
	}
}

// An unreadable body does not bypass a limit for some models.
func TestLimitsOfModelsNeedBodiesThatCanBeRead(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	_, with := governed(t, nil, limit.Settings{Name: "few", Model: access.Globs{"gpt*"}, Rate: limit.Rate{Number: 1, Per: 3600e9}})
	px := newProxy(t, with, one(p))
	for _, body := range []string{`{"model":"gpt-5","messages":[],"model":"gpt-5"}`, "\xef\xbb\xbf" + `{"model":"gpt-5","messages":[]}`, "--x\r\n"} {
		if got := px.post(t, body); got.status != http.StatusBadRequest {
			t.Errorf("%q: %d %s, want 400", body, got.status, got.body)
		}
	}
	if p.count() > 0 {
		t.Error("the provider was asked")
	}
}

// Budgets count the provider's charge: cache writes and cache reads at their own prices.
func TestBudgetsCountWhatTheCacheCosts(t *testing.T) {
	p := newProvider(t, jsonAnswer(`{"content":[],"usage":{"input_tokens":100,"cache_read_input_tokens":1000,"cache_creation_input_tokens":2000,"cache_creation":{"ephemeral_1h_input_tokens":500},"output_tokens":10}}`))
	control, with := governed(t, nil, limit.Settings{Name: "budget", Model: access.Globs{"*"}, USDPerDay: 100})
	read, write := 0.3, 3.75
	px := newProxy(t, func(o *proxy.Options) {
		with(o)
		o.Providers["main"] = proxy.Provider{BaseURL: p.URL + "/v1", Format: "messages", Prices: &bill.Prices{Input: 3, CachedInput: &read, CacheWrite: &write, Output: 15}}
	}, one(p))
	if got := px.do(t, http.MethodPost, "/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]}`); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	px.running.Wait()
	want := (100*3 + 1000*0.3 + 1500*3.75 + 500*6 + 10*15) / 1e6
	if used := control.Usage(); len(used) != 1 || math.Abs(used[0].USD-want) > 1e-12 || used[0].Tokens != 3110 {
		t.Errorf("spent %+v, want %v dollars and 3110 tokens", used, want)
	}
}

// A denied model and one that its provider lacks get the same response, for callers with hidden
// models.
func TestDeniedAndAbsentModelsAnswerAlike(t *testing.T) {
	for words, status := range map[string]int{
		`{"error":{"message":"The model does not exist","code":"model_not_found"}}`: http.StatusNotFound, `{"detail":"?"}`: http.StatusNotFound,
		`{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`: http.StatusBadRequest, `{"error":{"type":"invalid_model"}}`: http.StatusUnprocessableEntity,
	} {
		provider := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, words)
		})
		_, with := governed(t, []access.Rule{{Model: access.Globs{"*secret*"}, Action: access.ActionDeny}}, limit.Settings{Name: "few", Model: access.Globs{"*"}, Rate: limit.Rate{Number: 100, Per: 3600e9}})
		px := newProxy(t, with, one(provider))
		plain := newProxy(t, nil, one(provider))
		for _, ask := range []func(*proxied, string) reply{
			func(px *proxied, model string) reply { return px.post(t, `{"model":"`+model+`","messages":[]}`) },
			func(px *proxied, model string) reply {
				return px.post(t, `{"model":"`+model+`","stream":true,"messages":[]}`)
			},
			func(px *proxied, model string) reply { return px.do(t, http.MethodGet, "/v1/models/"+model, "") },
		} {
			denied, absent := ask(px, "secret"), ask(px, "absent")
			if denied.status != http.StatusNotFound || absent.status != denied.status || strings.ReplaceAll(absent.body, "absent", "secret") != denied.body ||
				absent.header.Get("X-Ratelimit-Limit") != denied.header.Get("X-Ratelimit-Limit") || absent.header.Get("Content-Type") != denied.header.Get("Content-Type") {
				t.Errorf("%d %s:\ndenied: %d %v %s\nabsent: %d %v %s", status, words, denied.status, denied.header, denied.body, absent.status, absent.header, absent.body)
			}
			if got := ask(plain, "absent"); got.status != status || got.body != words {
				t.Errorf("without rules: %d %s", got.status, got.body)
			}
		}
	}
}
