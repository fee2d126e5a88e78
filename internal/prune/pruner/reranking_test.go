package pruner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/prune/pruner"
	"secateur/internal/prune/rerank"
	"secateur/internal/secret"
)

// withScores returns a pruner with this reranker.
func withScores(tb testing.TB, backend rerank.Backend, score pruner.Rerank) *pruner.Server {
	tb.Helper()
	return newServer(tb, func(o *pruner.Options) { o.Backend, o.Rerank = string(backend), score })
}

// likes is a reranker that prefers documents with a word.
func likes(word string) pruner.Rerank {
	return func(_ context.Context, _, _ string, docs []string) (rerank.Result, error) {
		res := rerank.Result{Status: 200, Latency: 7 * time.Millisecond}
		for _, d := range docs {
			score := 0.0
			if strings.Contains(d, word) {
				score = 10
			}
			res.Scores = append(res.Scores, score)
		}
		return res, nil
	}
}

// paragraphs are blocks of prose that a reranker gets as documents.
func paragraphs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "# Chapter %d\n\n", i)
		for j := range 8 {
			fmt.Fprintf(&b, "Sentence %d of chapter%dword, like all the others.\n", j, i)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRerankerChoosesWhatStays(t *testing.T) {
	a := asked{text: paragraphs(10), goal: "something else entirely", ratio: 0.6}
	for _, chapter := range []string{"chapter2word", "chapter7word"} {
		p := pruneText(t, withScores(t, rerank.DeepInfra, likes(chapter)), a)
		if got := strings.Count(p.PrunedText, chapter); got != 8 {
			t.Errorf("of the 8 lines of %s that the reranker likes, %d stay", chapter, got)
		}
		if got := p.Stats["pruned_ratio"].(float64); got > 0.6 {
			t.Errorf("pruned_ratio %v", got)
		}
	}
}

func TestRerankStats(t *testing.T) {
	for _, backend := range []rerank.Backend{rerank.DeepInfra, rerank.Rerank} {
		t.Run(string(backend), func(t *testing.T) {
			p := pruneText(t, withScores(t, backend, likes("x")), asked{text: paragraphs(5), goal: "x", ratio: 0.5})
			want := map[string]any{"_latency_ms": 7.0, "_docs_scored": 55.0, "_docs_total": 55.0, "_http_status": 200.0, "_cached": false}
			for name, value := range want {
				if got := p.Stats[string(backend)+name]; got != value {
					t.Errorf("stats.%s%s = %v, want %v", backend, name, got, value)
				}
			}
			if p.Stats["backend"] != string(backend) || p.Stats["used_fallback"] != false || len(p.Warnings) != 0 {
				t.Errorf("stats %v, warnings %v", p.Stats, p.Warnings)
			}
		})
	}
}

func TestRerankerIsToldOfTheBestOnly(t *testing.T) {
	var sent int
	s := newServer(t, func(o *pruner.Options) {
		o.Backend, o.DeepInfraMaxDocs = "cloud", 4
		o.Rerank = func(ctx context.Context, _, q string, docs []string) (rerank.Result, error) {
			sent = len(docs)
			return likes("chapter9word")(ctx, "", q, docs)
		}
	})
	p := pruneText(t, s, asked{text: paragraphs(40), goal: "chapter9word", ratio: 0.5})
	if sent != 4 {
		t.Errorf("%d documents sent, want 4", sent)
	}
	scored, total := p.stat("deepinfra_docs_scored"), p.stat("deepinfra_docs_total")
	if !slices.Equal(p.Warnings, []string{"deepinfra_docs_truncated"}) || scored >= total || scored < 4 || total != p.stat("original_lines") {
		t.Errorf("warnings %v, %d of %d lines scored", p.Warnings, scored, total)
	}
	if strings.Count(p.PrunedText, "chapter9word") != 8 {
		t.Error("the chapter that the goal names was not among the best")
	}
}

func TestRememberedScores(t *testing.T) {
	s := withScores(t, rerank.DeepInfra, func(ctx context.Context, _, q string, docs []string) (rerank.Result, error) {
		res, err := likes("x")(ctx, "", q, docs)
		res.Cached = true
		return res, err
	})
	p := pruneText(t, s, asked{text: paragraphs(5), goal: "x", ratio: 0.5})
	if !slices.Equal(p.Warnings, []string{"cache_hit"}) || p.Stats["deepinfra_cached"] != true || p.Stats["deepinfra_latency_ms"] != 0.0 || p.Stats["used_fallback"] != false {
		t.Errorf("warnings %v, stats %v", p.Warnings, p.Stats)
	}
}

// backendFallback fails unless the response is the local engine's, marked as a fallback with these
// words.
func backendFallback(t *testing.T, p pruned, a asked, backend, kind string, status any) {
	t.Helper()
	local := pruneText(t, newServer(t, nil), a)
	if p.PrunedText != local.PrunedText || len(p.Annotations) == 0 {
		t.Error("the text is not what the local engine makes of it")
	}
	if !slices.Equal(p.Warnings, []string{backend + "_error", backend + "_" + kind}) {
		t.Errorf("warnings %v", p.Warnings)
	}
	if p.Stats["used_fallback"] != true || p.Stats["backend"] != backend || p.Stats[backend+"_http_status"] != status {
		t.Errorf("stats %v, want status %v", p.Stats, status)
	}
}

func TestRerankerThatFails(t *testing.T) {
	a := asked{text: paragraphs(5), goal: "chapter3word", ratio: 0.5, markers: true}
	fail := func(err error) pruner.Rerank {
		return func(context.Context, string, string, []string) (rerank.Result, error) {
			return rerank.Result{Status: 200}, err
		}
	}
	for _, c := range []struct {
		name  string
		score pruner.Rerank
		kind  string
	}{
		{"an error of no kind", fail(errors.New("no route")), "http_error"},
		{"a short list", func(context.Context, string, string, []string) (rerank.Result, error) {
			return rerank.Result{Scores: []float64{1}, Status: 200}, nil
		}, "parse_error"},
		{"nobody to ask", nil, "config_error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			backendFallback(t, pruneText(t, withScores(t, rerank.DeepInfra, c.score), a), a, "deepinfra", c.kind, nil)
		})
	}
}

// A real client with a misbehaving server.
func TestRealRerankerThatFails(t *testing.T) {
	a := asked{text: paragraphs(5), goal: "chapter3word", ratio: 0.5, markers: true}
	for _, c := range []struct {
		name, key string
		answer    func(w http.ResponseWriter)
		kind      string
		status    any
	}{
		{"401", "k", func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, "http_error", 401.0},
		{"429", "k", func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, "http_error", 429.0},
		{"503", "k", func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, "http_error", 503.0},
		{"no JSON", "k", func(w http.ResponseWriter) { io.WriteString(w, "not-json") }, "parse_error", nil},
		{"too few scores", "k", func(w http.ResponseWriter) { io.WriteString(w, `{"scores":[1]}`) }, "parse_error", nil},
		{"no key", "", nil, "config_error", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { c.answer(w) }))
			defer web.Close()
			set := rerank.Default()
			set.Backend, set.DeepInfraURL, set.DeepInfraAPIKey = string(rerank.DeepInfra), web.URL, secret.New(c.key)
			client, err := rerank.New(rerank.Options{Settings: set})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			backendFallback(t, pruneText(t, withScores(t, rerank.DeepInfra, client.Score), a), a, "deepinfra", c.kind, c.status)
		})
	}
}

// A late reranker causes a backend fallback, never a timeout: the local engine has its own time.
func TestRerankerThatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := asked{text: paragraphs(5), goal: "chapter3word", ratio: 0.5, timeout: 1500}
		var waited time.Duration
		s := newServer(t, func(o *pruner.Options) {
			o.Backend, o.Now = string(rerank.DeepInfra), time.Now
			o.Rerank = func(ctx context.Context, _, _ string, _ []string) (rerank.Result, error) {
				began := time.Now()
				<-ctx.Done()
				waited = time.Since(began)
				return rerank.Result{}, ctx.Err()
			}
		})
		p := pruneText(t, s, a)
		backendFallback(t, p, a, "deepinfra", "http_error", nil)
		if waited != 1500*time.Millisecond || p.stat("elapsed_ms") != 1500 {
			t.Errorf("the reranker had %v, elapsed_ms %d", waited, p.stat("elapsed_ms"))
		}
		a.timeout = 3600_000
		if pruneText(t, s, a); waited != 20*time.Second {
			t.Errorf("with an hour to go the reranker had %v, want its own 20 s", waited)
		}
	})
}

// Nothing leaves the machine unnecessarily.
func TestRerankerIsAskedOnlyIfItCanMatter(t *testing.T) {
	for name, c := range map[string]struct {
		backend rerank.Backend
		a       asked
	}{
		"the heuristic was chosen": {rerank.Heuristic, asked{text: paragraphs(5), goal: "x", ratio: 0.5}},
		"nothing may be cut":       {rerank.DeepInfra, asked{text: paragraphs(5), goal: "x", ratio: 0}},
		"every line must stay":     {rerank.DeepInfra, asked{text: paragraphs(5), goal: "x", ratio: 0.5, minKeep: 55}},
		"there is no goal":         {rerank.DeepInfra, asked{text: paragraphs(5), goal: " \n", ratio: 0.5}},
		"there is no text":         {rerank.DeepInfra, asked{text: "", goal: "x", ratio: 0.5}},
		"the text is too large":    {rerank.DeepInfra, asked{text: paragraphs(50), goal: "x", ratio: 0.5}},
	} {
		t.Run(name, func(t *testing.T) {
			p := pruneText(t, newServer(t, func(o *pruner.Options) {
				o.Backend, o.MaxInputChars = string(c.backend), 10_000
				o.Rerank = func(context.Context, string, string, []string) (rerank.Result, error) {
					t.Error("it was asked")
					return rerank.Result{}, errors.New("unasked")
				}
			}), c.a)
			if p.Stats["backend"] != string(c.backend) {
				t.Errorf("backend %v", p.Stats["backend"])
			}
		})
	}
}
