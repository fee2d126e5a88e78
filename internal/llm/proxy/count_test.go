package proxy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"secateur/internal/llm/proxy"
)

// countingAll counts every request with cuts.
func countingAll(o *proxy.Options) {
	pruningOn(o)
	o.Proof = proxy.Proof{Count: true, Sample: 1}
}

// countedProvider is anthropicProvider with a counter.
func countedProvider(t *testing.T, count http.HandlerFunc) *fakeProvider {
	t.Helper()
	return newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/count_tokens") {
			count(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, answerTo(string(body)))
	})
}

// counts returns the requests that the counter has got.
func (p *fakeProvider) counts() (got []asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked {
		if strings.Contains(a.uri, "/count_tokens") || strings.Contains(a.uri, "/input_tokens") {
			got = append(got, a)
		}
	}
	return got
}

func TestTheProviderCountsTheRequestWithoutCuts(t *testing.T) {
	p := countedProvider(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, `{"input_tokens":%d}`, len(body)/4)
	})
	var log lines
	px := newProxy(t, func(o *proxy.Options) {
		countingAll(o)
		o.Log = slog.New(slog.NewJSONHandler(&log, nil))
	}, anthropicOnly(p))
	body := claudeTalk(1, false, func(int) string { return bigText(200) })
	px.do(t, http.MethodPost, "/v1/messages?beta=true", body, "X-Api-Key", "sk-1", "Anthropic-Version", "2023-06-01")
	px.running.Wait()

	got := p.counts()
	if len(got) != 1 || got[0].uri != "/v1/messages/count_tokens?beta=true" || got[0].header.Get("X-Api-Key") != "sk-1" {
		t.Fatalf("the counter got %v", got)
	}
	// Anthropic's counter refuses members that say nothing about the prompt.
	if want := strings.Replace(body, `"max_tokens":100,`, "", 1); string(got[0].body) != want {
		t.Errorf("the counter got %.200s, want %.200s", got[0].body, want)
	}
	px.told.mu.Lock()
	defer px.told.mu.Unlock()
	if len(px.told.counted) != 1 {
		t.Fatalf("%d counts were reported, want 1", len(px.told.counted))
	}
	c := px.told.counted[0]
	if c.Counted != float64(len(got[0].body)/4) || c.Sent >= c.Counted/2 || math.Abs(c.Told/c.Counted-1) > 0.3 || c.Provider != "anthropic" {
		t.Errorf("reported %+v for a request of %d tokens", c, len(body)/4)
	}
	var said struct {
		Told       float64 `json:"told"`
		Counted    float64 `json:"counted"`
		Difference float64 `json:"difference"`
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "prompt counted") {
			_ = json.Unmarshal([]byte(line), &said)
		}
	}
	if said.Counted != c.Counted || said.Told != c.Told || said.Difference != c.Told-c.Counted {
		t.Errorf("the log says %+v, reported was %+v", said, c)
	}
}

func TestTheCounterOfResponsesIsAsked(t *testing.T) {
	p := openAIProvider(t)
	px := newProxy(t, countingAll, map[string]*fakeProvider{"openai": p})
	px.do(t, http.MethodPost, "/v1/responses", codexTalk(1, shell))
	px.running.Wait()
	got := p.counts()
	if len(got) != 1 || got[0].uri != "/v1/responses/input_tokens" || strings.Contains(string(got[0].body), `"store"`) || !strings.Contains(string(got[0].body), quoted(shell(0))) {
		t.Errorf("the counter got %v", got)
	}
}

func TestOnlySampledRequestsWithCutsAreCounted(t *testing.T) {
	p := countedProvider(t, jsonAnswer(`{"input_tokens":9}`))
	play := func(proof proxy.Proof, text string) int {
		px := newProxy(t, func(o *proxy.Options) { pruningOn(o); o.Proof = proof }, anthropicOnly(p))
		before := len(p.counts())
		for i := range 40 {
			px.do(t, http.MethodPost, "/v1/messages", claudeTalk(1, false, func(int) string { return fmt.Sprint(i) + text }))
			px.running.Wait()
		}
		return len(p.counts()) - before
	}
	if n := play(proxy.Proof{Count: true, Sample: 1}, "short"); n > 0 {
		t.Errorf("%d requests without cuts were counted", n)
	}
	if n := play(proxy.Proof{Sample: 1}, bigText(200)); n > 0 {
		t.Errorf("%d requests were counted without count", n)
	}
	if n := play(proxy.Proof{Count: true, Sample: 0.5}, bigText(200)); n < 8 || n > 32 {
		t.Errorf("%d of 40 requests were counted, want about half", n)
	}
}

func TestARefusedCountLeavesTheRequestAlone(t *testing.T) {
	var now atomic.Int64
	now.Store(1e9)
	p := countedProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	px := newProxy(t, func(o *proxy.Options) {
		countingAll(o)
		o.Now = func() time.Time { return time.Unix(now.Load(), 0) }
	}, anthropicOnly(p))
	ask := func(i int) {
		t.Helper()
		got := px.do(t, http.MethodPost, "/v1/messages", claudeTalk(1, false, func(int) string { return fmt.Sprint(i) + bigText(200) }))
		if got.status != http.StatusOK || got.header.Get("Retry-After") != "" {
			t.Errorf("the request got %d %v", got.status, got.header)
		}
		px.running.Wait()
	}
	ask(0)
	now.Add(119)
	ask(1) // too early
	if n := len(p.counts()); n != 1 {
		t.Errorf("the counter was asked %d times before its time, want once", n)
	}
	now.Add(2)
	ask(2)
	if n := len(p.counts()); n != 2 {
		t.Errorf("the counter was asked %d times, want again after its time", n)
	}
	if len(px.told.counted) > 0 {
		t.Errorf("refusals were reported as counts: %v", px.told.counted)
	}
}

func TestACounterDelaysNoRequestAndIsAskedByFew(t *testing.T) {
	release := make(chan struct{})
	p := countedProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = io.WriteString(w, `{"input_tokens":9}`)
	})
	px := newProxy(t, countingAll, anthropicOnly(p))
	for i := range 12 { // each is answered while the counter is silent
		got := px.do(t, http.MethodPost, "/v1/messages", claudeTalk(1, false, func(int) string { return fmt.Sprint(i) + bigText(200) }))
		if got.status != http.StatusOK {
			t.Fatalf("request %d got %d", i, got.status)
		}
	}
	close(release)
	px.running.Wait()
	if n := len(p.counts()); n == 0 || n > 4 {
		t.Errorf("the counter had %d requests at once, want at most 4", n)
	}
}
