package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"secateur/internal/llm/bill"
	"secateur/internal/llm/proxy"
	"secateur/internal/store/records"
)

// ledger sums up the proxy's reports.
type ledger struct {
	mu      sync.Mutex
	settled []proxy.Settled
	cuts    []proxy.ResultCut
	counted []proxy.Counted
}

func (l *ledger) Settled(_ context.Context, s proxy.Settled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = append(l.settled, s)
}

func (l *ledger) Cut(_ context.Context, c proxy.ResultCut) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cuts = append(l.cuts, c)
}

func (l *ledger) Counted(_ context.Context, c proxy.Counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counted = append(l.counted, c)
}

// dollars returns the cost of all prompts, and their pass-through cost.
func (l *ledger) dollars() (spent, through float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.settled {
		spent += s.Spent
		through += s.Passthrough
	}
	return spent, through
}

func TestEveryRequestIsSettledOnce(t *testing.T) {
	cached := 0.5
	px, _ := pricedProxy(t, &records.Memory{}, bill.Prices{Input: 1, CachedInput: &cached})
	k := newTalk()
	for i := range 40 {
		k.turn("read_file", `{"path":"f"}`, result(i, 40))
		px.post(t, k.request("m"))
	}
	px.running.Wait()
	px.told.mu.Lock()
	defer px.told.mu.Unlock()
	if len(px.told.settled) != 40 {
		t.Fatalf("%d requests settled, want 40", len(px.told.settled))
	}
	last := px.told.settled[39]
	if last.Provider != "main" || last.Model != "other" || !last.Priced || last.PromptTokens == 0 || last.CachedTokens == 0 || last.Conversation == "" ||
		last.Masked == 0 || last.MaskedTokens == 0 || last.Conversation != px.told.settled[0].Conversation {
		t.Errorf("the last of them: %+v", last)
	}
	ids := map[string]bool{}
	for _, c := range px.told.cuts {
		if ids[c.ID] || !c.Masked || c.Chars <= c.Kept || c.Kept == 0 || c.Tokens <= 0 || c.Model != "other" {
			t.Errorf("cut %+v: want each told once, with what it took", c)
		}
		ids[c.ID] = true
	}
	if len(ids) != last.Masked {
		t.Errorf("%d cuts told, %d results stand masked", len(ids), last.Masked)
	}
}

// The goal of pruning and the sent text are reported with the cut.
func TestAPrunedResultIsToldWithItsGoal(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	px := newProxy(t, func(o *proxy.Options) { o.Pruning = pruning() }, map[string]*fakeProvider{"main": p})
	k := newTalk()
	k.turn("grep", `{"pattern":"the needle"}`, result(1, 2000))
	px.post(t, k.request("m"))
	px.running.Wait()
	px.told.mu.Lock()
	defer px.told.mu.Unlock()
	if len(px.told.cuts) != 1 || px.told.cuts[0].Masked || px.told.cuts[0].Goal != "the needle\nstep 2\nfix it" {
		t.Fatalf("%+v, want one cut for the needle", px.told.cuts)
	}
	sent, _ := json.Marshal(px.told.cuts[0].Sent)
	if body := p.last(t).body; px.told.cuts[0].Sent == "" || !strings.Contains(string(body), string(sent)) {
		t.Errorf("%.300s was told to have gone out, %.300s did", sent, body)
	}
}

// A request without cuts has equal spent and passthrough, even if nothing is ever masked.
func TestWhatIsNotCutSavesNothing(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"choices":[],"usage":{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":400}}}`))
	})
	cached := 0.5
	px := newProxy(t, func(o *proxy.Options) {
		o.Providers["main"] = proxy.Provider{BaseURL: p.URL, Prices: &bill.Prices{Input: 1, CachedInput: &cached}}
	}, nil)
	px.post(t, newTalk().request("m"))
	px.running.Wait()
	if spent, through := px.told.dollars(); spent != through || math.Abs(spent-0.0008) > 1e-9 {
		t.Errorf("spent %v, passthrough %v, want 0.0008 both", spent, through)
	}
}

func TestModelsAreNamesFromAClosedSet(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	px := newProxy(t, func(o *proxy.Options) {
		o.Providers["main"] = proxy.Provider{BaseURL: p.URL}
		o.Models = map[string]proxy.Model{"fast": {Provider: "main", Model: "real-model"}}
	}, nil)
	label := func(asked string) string {
		quoted, _ := json.Marshal(asked)
		px.post(t, fmt.Sprintf(`{"model":%s,"messages":[{"role":"user","content":"a"}]}`, quoted))
		px.running.Wait()
		px.told.mu.Lock()
		defer px.told.mu.Unlock()
		return px.told.settled[len(px.told.settled)-1].Model
	}
	for _, c := range []struct{ asked, want string }{
		{"fast", "real-model"},
		{"Claude-Sonnet-4-5-20250929", "claude-sonnet-4-5-20250929"},
		{"main/kimi-k2.6", "kimi-k2.6"},
		{"made-up", "other"},
		{"", "other"},
		{"kimi-k2 and a secret", "kimi-k2"},
	} {
		if got := label(c.asked); !strings.HasPrefix(c.want, got) || got == "" || c.asked != "kimi-k2 and a secret" && got != c.want {
			t.Errorf("a request for %q is counted under %q, want %q", c.asked, got, c.want)
		}
	}
	seen := map[string]bool{}
	for n := range 100 { // an attacker who knows the families
		seen[label(fmt.Sprintf("claude-%d", n))] = true
	}
	if len(seen) > 64 {
		t.Errorf("%d names of models, want them bounded", len(seen))
	}
}

func TestTheProvidersRequestIDPasses(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "theirs")
		w.Header().Set("X-Secateur-Request-Id", "made up")
		_, _ = w.Write([]byte(`{}`))
	})
	px := newProxy(t, nil, map[string]*fakeProvider{"main": p})
	h := px.post(t, `{"model":"m","messages":[]}`).header
	if h.Get("X-Request-Id") != "theirs" || h.Get("X-Secateur-Request-Id") != "" {
		t.Errorf("X-Request-Id = %q, X-Secateur-Request-Id = %q", h.Get("X-Request-Id"), h.Get("X-Secateur-Request-Id"))
	}
}
