package proxy_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"secateur/internal/llm/proxy"
	"secateur/internal/secret"
)

func TestRequestsReachTheProviderByteForByte(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, nil, one(p))
	deep := strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000)
	for name, body := range map[string]string{
		"numbers keep their precision":          `{"model":"m","seed":123456789012345678901234567890,"t":1.0e+05,"messages":[]}`,
		"keys keep their order":                 `{"z":1,"model":"m","a":2,"messages":[{"zz":1,"role":"user","content":"x","aa":2}]}`,
		"white space and escapes stay":          " {\n\t\"model\" : \"m\" , \"messages\" : [ {\"role\":\"user\",\"content\":\"\\u00e9\\/\\ud800\"} ] } \r\n",
		"not JSON":                              `hello`,
		"nothing":                               ``,
		"half JSON":                             `{"model":"m","messages":[`,
		"names that come twice":                 `{"model":"m","model":"n","messages":[]}`,
		"bytes that are not UTF-8":              "{\"model\":\"m\",\"x\":\"\xff\"}",
		"no messages":                           `{"model":"m"}`,
		"messages that are no list":             `{"model":"m","messages":{"role":"user"}}`,
		"messages of any kind":                  `{"model":"m","messages":[1,null,"x",[],{}]}`,
		"content null":                          `{"model":"m","messages":[{"role":"assistant","content":null,"tool_calls":[]}]}`,
		"orphan results":                        `{"model":"m","messages":[{"role":"tool","tool_call_id":"none","content":"x"}]}`,
		"deep nesting":                          `{"model":"m","x":` + deep + `}`,
		"an array":                              `[{"model":"m"}]`,
		"a model that is no string":             `{"model":7,"messages":[]}`,
		"no model":                              `{"messages":[]}`,
		"an unknown model goes to the only one": `{"model":"what/ever","messages":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			got := px.post(t, body)
			if got.status != 200 || got.body != smallAnswer || got.err != nil {
				t.Fatalf("answer = %+v", got)
			}
			if sent := p.last(t); string(sent.body) != body || sent.uri != "/v1/chat/completions" {
				t.Errorf("provider got %s %q, want %q", sent.uri, sent.body, body)
			}
			for _, h := range []string{"X-Secateur-Masked", "X-Secateur-Tokens-Saved"} {
				if got.header.Get(h) != "0" {
					t.Errorf("%s = %q, want 0", h, got.header.Get(h))
				}
			}
			if r := got.header.Get("X-Secateur-Bill-Ratio"); r != "1.0000" {
				t.Errorf("X-Secateur-Bill-Ratio = %q, want 1.0000", r)
			}
		})
	}
}

func TestModelsChooseTheirProvider(t *testing.T) {
	a, b := newProvider(t, jsonAnswer(smallAnswer)), newProvider(t, jsonAnswer(smallAnswer))
	both := map[string]*fakeProvider{"a": a, "b": b}
	aliases := map[string]proxy.Model{
		"quick":     {Provider: "a", Model: "model-1"},
		"b/special": {Provider: "a", Model: "model-2"},
		"same":      {Provider: "b"},
	}
	for _, tt := range []struct {
		rule, model, fallback string
		to                    *fakeProvider // nil: 404
		sent                  string
	}{
		{"an alias goes to its provider under its own name there", `"quick"`, "b", a, `"model-1"`},
		{"an escaped alias is the same alias", `"qu\u0069ck"`, "b", a, `"model-1"`},
		{"an alias goes before a prefix", `"b/special"`, "b", a, `"model-2"`},
		{"an alias without a model keeps its name", `"same"`, "a", b, `"same"`},
		{"a prefix names its provider", `"b/x/y"`, "a", b, `"x/y"`},
		{"an unknown prefix is part of the name", `"c/x"`, "a", a, `"c/x"`},
		{"a prefix alone is a name", `"b/"`, "a", a, `"b/"`},
		{"others go to the default", `"gpt"`, "b", b, `"gpt"`},
		{"without a default nobody takes others", `"gpt"`, "", nil, ""},
		{"a model that is no string goes to the default", `7`, "b", b, `7`},
		{"without a default nobody takes what is no string", `7`, "", nil, ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			px := newProxy(t, func(o *proxy.Options) { o.Models, o.DefaultProvider = aliases, tt.fallback }, both)
			before := []int{a.count(), b.count()}
			got := px.post(t, `{"x":[1.50],"model": `+tt.model+` ,"y":"z"}`)
			if tt.to == nil {
				if got.status != 404 || !strings.Contains(got.body, `"code":"model_not_found"`) || !strings.Contains(got.body, `"param":"model"`) {
					t.Errorf("answer = %+v, want 404 model_not_found", got)
				}
				if a.count() != before[0] || b.count() != before[1] {
					t.Error("a provider was asked all the same")
				}
				return
			}
			want := `{"x":[1.50],"model": ` + tt.sent + ` ,"y":"z"}`
			if sent := tt.to.last(t); got.status != 200 || string(sent.body) != want {
				t.Errorf("provider got %q, want %q (status %d)", sent.body, want, got.status)
			}
		})
	}
}

func TestHeadersPass(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	for _, tt := range []struct {
		rule     string
		key, own string
		send     []string
		want     map[string]string // "": absent
	}{
		{
			"the client's own headers pass", "", "",
			[]string{"Authorization", "Bearer client", "X-Custom", "1", "OpenAI-Organization", "org", "Accept", "a/b", "Cookie", "c=1"},
			map[string]string{"Authorization": "Bearer client", "X-Custom": "1", "Openai-Organization": "org", "Accept": "a/b", "Cookie": "c=1"},
		},
		{
			"nothing is added", "", "", nil,
			map[string]string{"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "", "X-Forwarded-For": "", "Via": "", "Authorization": ""},
		},
		{"Accept-Encoding passes as it is", "", "", []string{"Accept-Encoding", "br;q=1, zstd"}, map[string]string{"Accept-Encoding": "br;q=1, zstd"}},
		{
			"hop-by-hop headers stay here", "", "",
			[]string{"Connection", "keep-alive, X-Hop", "X-Hop", "1", "Keep-Alive", "3", "Te", "trailers", "Proxy-Authorization", "x", "X-Keep", "2"},
			map[string]string{"Connection": "", "X-Hop": "", "Keep-Alive": "", "Te": "", "Proxy-Authorization": "", "X-Keep": "2"},
		},
		{
			"the provider's key replaces the client's", "pk", "",
			[]string{"Authorization", "Bearer client", "X-Api-Key", "k"},
			map[string]string{"Authorization": "Bearer pk", "X-Api-Key": "k"},
		},
		{"our token never passes", "", "tok", []string{"Authorization", "Bearer tok"}, map[string]string{"Authorization": ""}},
		{"our token never passes in any case", "", "tok", []string{"Authorization", "bearer  tok"}, map[string]string{"Authorization": ""}},
		{
			"our own header never passes", "", "tok",
			[]string{"X-Secateur-Token", "tok", "Authorization", "Bearer client"},
			map[string]string{"X-Secateur-Token": "", "Authorization": "Bearer client"},
		},
		{"our own header never passes, whatever is in it", "", "", []string{"X-Secateur-Token", "x"}, map[string]string{"X-Secateur-Token": ""}},
		{"our token never passes elsewhere", "", "tok", []string{"X-Api-Key", "tok"}, map[string]string{"X-Api-Key": ""}},
		{"our token is replaced by the provider's key", "pk", "tok", []string{"Authorization", "Bearer tok"}, map[string]string{"Authorization": "Bearer pk"}},
		{"a key against repetition passes", "", "", []string{"Idempotency-Key", "i"}, map[string]string{"Idempotency-Key": "i"}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			px := newProxy(t, func(o *proxy.Options) {
				o.Providers["main"] = proxy.Provider{BaseURL: p.URL + "/v1", APIKey: secret.New(tt.key)}
				o.OwnToken = secret.New(tt.own)
			}, one(p))
			for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
				if got := px.do(t, "POST", path, "{}", tt.send...); got.status != 200 {
					t.Fatalf("answer = %+v", got)
				}
				sent := p.last(t)
				for name, want := range tt.want {
					if got := sent.header.Get(name); got != want {
						t.Errorf("%s: provider got %s = %q, want %q", path, name, got, want)
					}
				}
				if sent.host != strings.TrimPrefix(p.URL, "http://") {
					t.Errorf("provider got Host %q", sent.host)
				}
			}
		})
	}
}

func TestAnswersPassAsTheProviderWroteThem(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		status int
		header map[string]string
		body   string
	}{
		{"a JSON answer", 200, map[string]string{"Content-Type": "application/json; charset=utf-8", "X-Request-Id": "r"}, `{ "a" : 1.0 }`},
		{"an error", 429, map[string]string{"Retry-After": "7", "Content-Type": "application/json"}, `{"error":{"message":"slow down"}}`},
		{"an error without a name in HTTP", 529, map[string]string{"Retry-After": "12", "X-Should-Retry": "true", "Content-Type": "application/json"}, `{"type":"error", "error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`},
		{"an error that is no JSON", 503, map[string]string{"Content-Type": "text/plain"}, "upstream is down"},
		{"a redirect is the client's to follow", 307, map[string]string{"Location": "http://127.0.0.1:1/x"}, "there"},
		{"no content", 204, nil, ""},
		{"an answer without a type", 200, map[string]string{"Content-Type": ""}, "<html>"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range tt.header {
					if w.Header()[k] = []string{v}; v == "" {
						w.Header()[k] = nil
					}
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			})
			px := newProxy(t, nil, one(p))
			got := px.post(t, `{"model":"m"}`)
			if got.status != tt.status || got.body != tt.body || got.err != nil {
				t.Errorf("answer = %+v", got)
			}
			for k, v := range tt.header {
				if got.header.Get(k) != v {
					t.Errorf("%s = %q, want %q", k, got.header.Get(k), v)
				}
			}
			if got.header.Get("X-Secateur-Masked") != "0" {
				t.Error("X-Secateur-Masked is missing")
			}
		})
	}
}

func TestErrorsOfOurOwnHaveTheFormClientsKnow(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	dead := newProvider(t, nil)
	dead.Close()
	silent := rawProvider(t, func() []byte { return nil })
	for _, tt := range []struct {
		rule   string
		change func(*proxy.Options)
		method string
		path   string
		body   string
		status int
		code   string
	}{
		{"too large a body", func(o *proxy.Options) { o.MaxBodyBytes = 1000 }, "POST", "/chat/completions", strings.Repeat("x", 1001), 413, "request_too_large"},
		{"a far too large body", func(o *proxy.Options) { o.MaxBodyBytes = 1000 }, "POST", "/chat/completions", strings.Repeat("x", 5<<20), 413, "request_too_large"},
		{"no provider at all", func(o *proxy.Options) { o.Providers = nil }, "POST", "/chat/completions", `{"model":"m"}`, 404, "model_not_found"},
		{"no provider for another path", func(o *proxy.Options) { o.Providers = nil }, "GET", "/v1/files", "", 404, "no_default_provider"},
		{"a dead provider", func(o *proxy.Options) {
			o.Providers["main"] = proxy.Provider{BaseURL: dead.URL}
		}, "POST", "/chat/completions", `{"model":"m"}`, 502, "upstream_unavailable"},
		{"a provider that hangs up", func(o *proxy.Options) {
			o.Providers["main"] = proxy.Provider{BaseURL: silent}
		}, "POST", "/chat/completions", `{"model":"m"}`, 502, "upstream_unavailable"},
		{"a dead provider for another path", func(o *proxy.Options) {
			o.Providers["main"] = proxy.Provider{BaseURL: dead.URL}
		}, "GET", "/v1/files", "", 502, "upstream_unavailable"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			px := newProxy(t, tt.change, one(p))
			got := px.do(t, tt.method, tt.path, tt.body)
			if got.status != tt.status || !strings.HasPrefix(got.body, `{"error":{"message":"`) || !strings.Contains(got.body, `"code":"`+tt.code+`"`) {
				t.Errorf("answer = %+v", got)
			}
			if ct := got.header.Get("Content-Type"); ct != "application/json" {
				t.Errorf("Content-Type = %q", ct)
			}
		})
	}
}

func TestLargeBodiesPass(t *testing.T) {
	var got [sha256.Size]byte
	p := newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, func(o *proxy.Options) { o.Masking = masking("sliding") }, one(p))
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("0123456789abcdef", 50<<16) + `"}]}`
	if r := px.post(t, body); r.status != 200 {
		t.Fatalf("status = %d, %v", r.status, r.err)
	}
	if got = sha256.Sum256(p.last(t).body); got != sha256.Sum256([]byte(body)) {
		t.Error("50 MB did not arrive as they were sent")
	}
}

func TestOtherPathsPassUntouched(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Echo", r.Method)
		_, _ = w.Write(b)
	})
	px := newProxy(t, nil, one(p))
	for _, tt := range []struct{ method, path, uri, body string }{
		{"POST", "/v1/embeddings?a=1&b=%20", "/v1/embeddings?a=1&b=%20", `not json`},
		{"DELETE", "/v1/files/a%2Fb", "/v1/files/a%2Fb", ""},
		{"GET", "/v1/models/x", "/v1/models/x", ""},
		{"PUT", "/v1/x", "/v1/x", strings.Repeat("large", 1<<18)},
		{"GET", "/v1/chat/completions", "/v1/chat/completions", ""},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			got := px.do(t, tt.method, tt.path, tt.body)
			sent := p.last(t)
			if got.status != 200 || got.body != tt.body || got.header.Get("X-Echo") != tt.method {
				t.Errorf("answer = %d %q", got.status, got.body)
			}
			if sent.method != tt.method || sent.uri != tt.uri || string(sent.body) != tt.body {
				t.Errorf("provider got %s %s with %d bytes", sent.method, sent.uri, len(sent.body))
			}
		})
	}
}

func TestManyAnswersAtOnceArriveWhole(t *testing.T) {
	text := make([]byte, 100<<10)
	for i := range text {
		text[i] = byte('a' + rand.IntN(26))
	}
	// Separate words: counting the tokens of one long word would dominate the test.
	asked := strings.Repeat("one word and another ", 5<<10)
	plain := `{"x":"` + string(text) + `"}`
	var stream strings.Builder
	for i := range 200 {
		fmt.Fprintf(&stream, "data: {\"n\":%d,\"text\":\"%s\"}\n\n", i, text[:i])
	}
	stream.WriteString("data: [DONE]\n\n")
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(b), `"stream":true`) {
			_, _ = io.WriteString(w, plain)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for event := range strings.SplitAfterSeq(stream.String(), "\n\n") {
			_, _ = io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	})
	px := newProxy(t, func(o *proxy.Options) { o.Masking = masking("priced") }, one(p))
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			for range 6 {
				body, want := `{"model":"m","messages":[{"role":"user","content":"`+asked+`"}]}`, plain
				if i%2 == 0 {
					body, want = strings.Replace(body, "{", `{"stream":true,`, 1), stream.String()
				}
				if got := px.post(t, body); got.err != nil || got.body != want {
					t.Errorf("answer of %d bytes, want %d: %v", len(got.body), len(want), got.err)
				}
			}
		})
	}
	all.Wait()
}
