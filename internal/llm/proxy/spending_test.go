package proxy_test

import (
	"context"
	"fmt"
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

// budgeted gives all callers a budget of models that is never used up.
func budgeted(t *testing.T, rules ...access.Rule) *admission.Control {
	t.Helper()
	compiled, err := access.NewRules(rules, false)
	if err != nil {
		t.Fatal(err)
	}
	c, err := admission.New(admission.Options{Rules: compiled, Limits: []limit.Settings{{
		Name: "budget", Model: access.Globs{"*"}, By: []string{limit.ByPrincipal}, TokensPerDay: 1 << 40, USDPerDay: 1e9,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// spent returns what a proxy's only caller has spent.
func spent(px *proxied, c *admission.Control) (tokens int64, usd float64) {
	px.running.Wait()
	for _, d := range c.Days() {
		tokens, usd = tokens+d.Tokens, usd+d.USD
	}
	return tokens, usd
}

// streamed has the events of a response of n words without any usage, and its last event.
var streamed = map[string]struct {
	provider, body, event, last string
}{
	"/v1/chat/completions": {
		"main", `{"model":"gpt-4o","stream":true,"messages":[{"role":"user","content":"%s"}]}`,
		`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`, "data: [DONE]",
	},
	"/v1/messages": {
		"anthropic", `{"model":"claude-sonnet-4-5","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"%s"}]}`,
		`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word "}}`, `event: message_stop` + "\n" + `data: {"type":"message_stop"}`,
	},
	"/v1/responses": {
		"openai", `{"model":"gpt-5","stream":true,"input":[{"role":"user","content":"%s"}]}`,
		`data: {"type":"response.output_text.delta","item_id":"msg_1","delta":"word "}`, `data: {"type":"response.completed","response":{}}`,
	},
}

func TestAStreamWithoutUsageIsEstimated(t *testing.T) {
	for path, s := range streamed {
		t.Run(path, func(t *testing.T) {
			const words = 300
			control := budgeted(t)
			p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, strings.Repeat(s.event+"\n\n", words)+s.last+"\n\n")
			})
			px := newProxy(t, func(o *proxy.Options) { o.Admission = control }, map[string]*fakeProvider{s.provider: p})
			if got := px.do(t, http.MethodPost, path, fmt.Sprintf(s.body, strings.Repeat("hello world ", 100)), "Accept-Encoding", "br"); got.status != http.StatusOK || got.err != nil {
				t.Fatalf("%d %s %v", got.status, got.body, got.err)
			}
			tokens, usd := spent(px, control)
			// 200 to 300 tokens were sent, one to two per word came back.
			if tokens < words+150 || tokens > 3*words+600 || usd <= 0 {
				t.Errorf("%d tokens and %f dollars are counted", tokens, usd)
			}
			if got := p.last(t).header.Get("Accept-Encoding"); got != "identity" {
				t.Errorf("the provider may pack its answer: %q", got)
			}
		})
	}
}

func TestHangingUpIsNotFree(t *testing.T) {
	for path, s := range streamed {
		for name, events := range map[string]int{"before the answer": -1, "in the middle": 40} {
			t.Run(path+" "+name, func(t *testing.T) {
				control := budgeted(t)
				reached := make(chan struct{})
				p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
					if events > 0 {
						w.Header().Set("Content-Type", "text/event-stream")
						_, _ = io.WriteString(w, strings.Repeat(s.event+"\n\n", events))
						_ = http.NewResponseController(w).Flush()
					}
					close(reached)
					<-r.Context().Done()
				})
				px := newProxy(t, func(o *proxy.Options) { o.Admission = control }, map[string]*fakeProvider{s.provider: p})
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, px.URL+path, strings.NewReader(fmt.Sprintf(s.body, strings.Repeat("hello world ", 100))))
				if err != nil {
					t.Fatal(err)
				}
				hangUp(t, req, reached, max(0, events)*len(s.event))
				want := int64(150 + max(0, events))
				if tokens, usd := spent(px, control); tokens < want || usd <= 0 {
					t.Errorf("%d tokens and %f dollars are counted, want %d tokens at least", tokens, usd, want)
				}
			})
		}
	}
}

// hangUp sends a request, reads a number of bytes of its response, and closes the connection once
// the provider was reached.
func hangUp(t *testing.T, req *http.Request, reached <-chan struct{}, read int) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	if read == 0 {
		go func() {
			<-reached
			cancel()
		}()
	}
	res, err := transport.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return
	}
	defer res.Body.Close()
	if _, err := io.CopyN(io.Discard, res.Body, int64(read)); err != nil {
		t.Error(err)
	}
}

// A message_start reports the prompt and one token of output. Everything after it counts too.
func TestHangingUpBehindTheFirstUsageCountsWhatHasPassed(t *testing.T) {
	s := streamed["/v1/messages"]
	control := budgeted(t)
	reached := make(chan struct{})
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":1000,\"output_tokens\":1}}}\n\n"+strings.Repeat(s.event+"\n\n", 200))
		_ = http.NewResponseController(w).Flush()
		close(reached)
		<-r.Context().Done()
	})
	px := newProxy(t, func(o *proxy.Options) { o.Admission = control }, map[string]*fakeProvider{"anthropic": p})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, px.URL+"/v1/messages", strings.NewReader(fmt.Sprintf(s.body, "x")))
	if err != nil {
		t.Fatal(err)
	}
	hangUp(t, req, reached, 200*len(s.event))
	if tokens, _ := spent(px, control); tokens < 1200 || tokens > 1600 {
		t.Errorf("%d tokens are counted, want 1200 and a few", tokens)
	}
}

func TestToldUsageIsWhatCounts(t *testing.T) {
	control := budgeted(t)
	px := newProxy(t, func(o *proxy.Options) { o.Admission = control }, one(newProvider(t, jsonAnswer(smallAnswer))))
	px.post(t, `{"model":"gpt-4o","messages":[{"role":"user","content":"`+strings.Repeat("hello ", 500)+`"}]}`)
	if tokens, usd := spent(px, control); tokens != 10 || math.Abs(usd-(9*2.5+10)/1e6) > 1e-12 {
		t.Errorf("%d tokens and %g dollars are counted, want 10 and the list price", tokens, usd)
	}
}

func TestCountingTokensIsFree(t *testing.T) {
	control := budgeted(t)
	px := newProxy(t, func(o *proxy.Options) { o.Admission = control }, map[string]*fakeProvider{"anthropic": newProvider(t, jsonAnswer(`{"input_tokens":12}`))})
	px.do(t, http.MethodPost, "/v1/messages/count_tokens", `{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":"hello"}]}`)
	if tokens, usd := spent(px, control); tokens != 0 || usd != 0 {
		t.Errorf("%d tokens and %g dollars are counted", tokens, usd)
	}
}

func TestAnUnknownPriceIsTheDearest(t *testing.T) {
	dear := bill.Dearest()
	for _, c := range []struct {
		rule, model   string
		prices        *bill.Prices
		input, output float64 // dollars per million
	}{
		{"a model of the table", "gpt-4o", nil, 2.5, 10},
		{"a model that nobody knows", "llama-99", nil, dear.Input, dear.Output},
		{"no model", "", nil, dear.Input, dear.Output},
		{"the newest models of the table", "gpt-6", nil, 2, 10},
		{"no price of output in the settings", "x", &bill.Prices{Input: 3}, 3, dear.Output},
		{"the settings are dearer than the table", "x", &bill.Prices{Input: 100, Output: 500}, 100, 500},
		{"free by the settings", "x", &bill.Prices{}, 0, 0},
	} {
		t.Run(c.rule, func(t *testing.T) {
			control := budgeted(t)
			p := newProvider(t, jsonAnswer(smallAnswer))
			px := newProxy(t, func(o *proxy.Options) {
				o.Admission = control
				o.Providers["main"] = proxy.Provider{BaseURL: p.URL + "/v1", Prices: c.prices}
			}, nil)
			px.post(t, `{"model":"`+c.model+`","messages":[]}`)
			if _, usd := spent(px, control); math.Abs(usd-(9*c.input+c.output)/1e6) > 1e-12 {
				t.Errorf("%g dollars are counted, want %g", usd, (9*c.input+c.output)/1e6)
			}
		})
	}
}

var unreadPaths = []string{
	"POST /v1/completions", "POST /v1/embeddings", "POST /v1/images/generations", "POST /v1/batches", "GET /v1/realtime", "POST /v1/audio/speech", "GET /v1/responses/r",
}

func TestWhereABudgetMatchesUnreadPathsNeedARule(t *testing.T) {
	named := access.Rule{Route: access.Globs{"/v1/embeddings"}, Action: access.ActionAllow}
	for _, way := range unreadPaths {
		method, path, _ := strings.Cut(way, " ")
		p := newProvider(t, jsonAnswer(smallAnswer))
		px := newProxy(t, func(o *proxy.Options) { o.Admission = budgeted(t) }, one(p))
		if got := px.do(t, method, path, `{"model":"m"}`); got.status != http.StatusForbidden || !strings.Contains(got.body, "budget") || p.count() != 0 {
			t.Errorf("%s: %d %s", way, got.status, got.body)
		}
		ruled := newProxy(t, func(o *proxy.Options) { o.Admission = budgeted(t, named) }, one(p))
		want := http.StatusNotFound
		if path == "/v1/embeddings" {
			want = http.StatusOK
		}
		if got := ruled.do(t, method, path, `{"model":"m"}`); got.status != want {
			t.Errorf("%s with a rule for embeddings: %d %s, want %d", way, got.status, got.body, want)
		}
		other := newProxy(t, func(o *proxy.Options) { o.Admission = budgetOf(t, "somebody-else") }, one(p))
		if got := other.do(t, method, path, `{"model":"m"}`); got.status != http.StatusOK {
			t.Errorf("%s of a caller without a budget: %d %s", way, got.status, got.body)
		}
	}
	p := newProvider(t, jsonAnswer(`{"object":"list","data":[]}`))
	px := newProxy(t, func(o *proxy.Options) { o.Admission = budgeted(t) }, map[string]*fakeProvider{"chatgpt": p})
	for _, path := range []string{"/v1/models", "/v1/models?client_version=1"} {
		if got := px.do(t, http.MethodGet, path, "", "Authorization", "Bearer eyJ"); got.status != http.StatusOK {
			t.Errorf("%s costs nothing: %d %s", path, got.status, got.body)
		}
	}
}

// budgetOf is a control with a budget for one subject.
func budgetOf(t *testing.T, subject string) *admission.Control {
	t.Helper()
	c, err := admission.New(admission.Options{Limits: []limit.Settings{{Subject: access.Globs{subject}, Model: access.Globs{"claude-*"}, USDPerDay: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
