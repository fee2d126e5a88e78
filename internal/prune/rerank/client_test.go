package rerank_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/prune/rerank"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Request: r, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// backend is a slow in-memory server that counts requests.
type backend struct {
	takes time.Duration
	body  string
	down  bool

	asked, cancelled atomic.Int32
	inside, most     atomic.Int32
}

func (b *backend) RoundTrip(r *http.Request) (*http.Response, error) {
	b.asked.Add(1)
	n := b.inside.Add(1)
	defer b.inside.Add(-1)
	for m := b.most.Load(); n > m && !b.most.CompareAndSwap(m, n); m = b.most.Load() {
	}
	if b.down {
		return nil, errors.New("connection refused")
	}
	select {
	case <-time.After(b.takes):
		return respond(r, 200, b.body), nil
	case <-r.Context().Done():
		b.cancelled.Add(1)
		return nil, r.Context().Err()
	}
}

func (b *backend) client(t *testing.T, set func(*rerank.Options)) *rerank.Client {
	t.Helper()
	return newClient(t, rerank.DeepInfra, "", func(o *rerank.Options) {
		o.Transport = b
		if set != nil {
			set(o)
		}
	})
}

func TestAnswerIsRememberedForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{takes: time.Second, body: `{"scores":[1,2]}`}
		c := b.client(t, nil)
		ask := func(query string, docs ...string) rerank.Result {
			t.Helper()
			r, err := c.Score(t.Context(), "", query, docs)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		first := ask("q", "a", "b")
		if first.Cached || first.Latency != time.Second {
			t.Errorf("first answer: %+v", first)
		}
		first.Scores[0] = 100 // the caller's own copy
		time.Sleep(30*time.Second - 1)
		ask("q", "a", "b").Scores[0] = 100
		if r := ask("q", "a", "b"); !r.Cached || r.Latency != 0 || r.Status != 200 || !slices.Equal(r.Scores, []float64{1, 2}) {
			t.Errorf("within the time: %+v, want the answer remembered", r)
		}
		time.Sleep(time.Nanosecond)
		if r := ask("q", "a", "b"); r.Cached {
			t.Errorf("after the time: %+v, want it asked again", r)
		}
		for _, other := range [][]string{{"q", "b", "a"}, {"q2", "a", "b"}, {"q", "ab", ""}, {"qa", "", "b"}} {
			if r := ask(other[0], other[1:]...); r.Cached {
				t.Errorf("another question %q is answered from memory", other)
			}
		}
		if r, err := c.Score(t.Context(), "another tenant", "q", []string{"a", "b"}); err != nil || r.Cached {
			t.Errorf("another tenant's question: %+v, %v; want it asked", r, err)
		}
	})
}

func TestMemoryOfAnswersIsBounded(t *testing.T) {
	for _, c := range []struct {
		rule  string
		set   func(*rerank.Options)
		asked int32 // for 1 2 3, then 3 2 1 again
	}{
		{"the oldest are forgotten", func(o *rerank.Options) { o.CacheMaxEntries = 2 }, 4},
		{"no entries, no memory", func(o *rerank.Options) { o.CacheMaxEntries = 0 }, 6},
		{"no time, no memory", func(o *rerank.Options) { o.CacheTTL = 0 }, 6},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := &backend{body: `{"scores":[1]}`}
			client := b.client(t, c.set)
			for _, q := range []string{"1", "2", "3", "3", "2", "1"} {
				if _, err := client.Score(t.Context(), "", q, []string{"a"}); err != nil {
					t.Fatal(err)
				}
			}
			if got := b.asked.Load(); got != c.asked {
				t.Errorf("%s: asked %d times, want %d", c.rule, got, c.asked)
			}
		})
	}
}

func TestFailureIsNotRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{body: `oops`}
		c := b.client(t, nil)
		wantFailure(t, c, "deepinfra_parse_error", 200)
		b.body = `{"scores":[1,2]}`
		if _, err := c.Score(t.Context(), "", "q", []string{"first document", "second document"}); err != nil {
			t.Error(err)
		}
	})
}

func TestEqualQuestionsAreAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{takes: time.Second, body: `{"scores":[1,2]}`}
		c := b.client(t, nil)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				// Every other caller gives up early, including the first.
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i%2)*700*time.Millisecond)
				defer cancel()
				time.Sleep(time.Duration(i) * time.Millisecond)
				r, err := c.Score(ctx, "", "q", []string{"a", "b"})
				if early := i%2 == 0; early != (err != nil) {
					t.Errorf("caller %d: %+v, %v", i, r, err)
				}
			})
		}
		wg.Wait()
		if got := b.asked.Load(); got != 1 {
			t.Errorf("asked %d times, want once", got)
		}
	})
}

func TestQuestionIsTakenBackWhenNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{takes: time.Hour}
		c := b.client(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Score(ctx, "", "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Score = %v, want the deadline", err)
		}
		synctest.Wait()
		if got := b.cancelled.Load(); got != 1 {
			t.Errorf("%d questions were taken back, want 1", got)
		}
		if _, err := c.Score(ctx, "", "q", []string{"a"}); err == nil || b.asked.Load() != 1 {
			t.Errorf("Score after the deadline = %v, asked %d times", err, b.asked.Load())
		}
	})
}

// A cancelled question has no result for later callers.
func TestQuestionThatWasTakenBackIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c := newClient(t, rerank.DeepInfra, "", func(o *rerank.Options) {
			o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				asked.Add(1)
				time.Sleep(time.Second) // ignores the cancellation
				if err := r.Context().Err(); err != nil {
					return nil, err
				}
				return respond(r, 200, `{"scores":[1]}`), nil
			})
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := c.Score(ctx, "", "q", []string{"a"}); err == nil {
			t.Error("an answer after the deadline")
		}
		if _, err := c.Score(t.Context(), "", "q", []string{"a"}); err != nil || asked.Load() != 2 {
			t.Errorf("Score = %v, asked %d times, want an answer to the second", err, asked.Load())
		}
	})
}

// endless is a body that never ends and counts the bytes read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func (e *endless) Close() error { return nil }

func TestAnswerWithoutEnd(t *testing.T) {
	for _, status := range []int{200, 500} {
		body := &endless{}
		c := newClient(t, rerank.DeepInfra, "", func(o *rerank.Options) {
			o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Request: r, Header: http.Header{}, Body: body}, nil
			})
		})
		if _, err := c.Score(t.Context(), "", "q", []string{"a"}); err == nil || body.read > 9<<20 {
			t.Errorf("status %d: Score = %v after reading %d bytes", status, err, body.read)
		}
	}
}

func TestOwnTimeoutEndsAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := (&backend{takes: time.Hour}).client(t, nil)
		start := time.Now()
		wantFailure(t, c, "deepinfra_http_error", 0)
		if waited := time.Since(start); waited != 20*time.Second {
			t.Errorf("waited %v, want 20s", waited)
		}
	})
}

func TestQuestionsAtTheSameTimeAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{takes: time.Second, body: `{"scores":[1]}`}
		c := b.client(t, nil)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				if _, err := c.Score(t.Context(), "", fmt.Sprint(i), []string{"a"}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if most := b.most.Load(); most > 16 {
			t.Errorf("%d questions at the same time, want 16 at most", most)
		}
	})
}

func TestSilentBackendIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		rule string
		b    *backend
	}{
		{"one that does not answer in time", &backend{takes: time.Hour}},
		{"one that is not there", &backend{down: true}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var logged bytes.Buffer
				client := c.b.client(t, func(o *rerank.Options) { o.Log = slog.New(slog.NewTextHandler(&logged, nil)) })
				for range 5 {
					wantFailure(t, client, "deepinfra_http_error", 0)
				}
				start := time.Now()
				for range 20 {
					wantFailure(t, client, "deepinfra_http_error", 0)
				}
				if time.Since(start) != 0 || c.b.asked.Load() != 5 {
					t.Errorf("after five silences: waited %v, asked %d times", time.Since(start), c.b.asked.Load())
				}

				time.Sleep(10 * time.Second) // another try, and another pause
				wantFailure(t, client, "deepinfra_http_error", 0)
				wantFailure(t, client, "deepinfra_http_error", 0)
				if got := c.b.asked.Load(); got != 6 {
					t.Errorf("after the while: asked %d times, want 6", got)
				}

				time.Sleep(10 * time.Second)
				c.b.takes, c.b.down, c.b.body = 0, false, `{"scores":[1]}`
				for i := range 3 {
					if _, err := client.Score(t.Context(), "", fmt.Sprint(i), []string{"a"}); err != nil {
						t.Errorf("when it is back: %v", err)
					}
				}
				for _, want := range []string{"left alone for a while", "answers again"} {
					if n := strings.Count(logged.String(), want); n != 1 {
						t.Errorf("%q logged %d times:\n%s", want, n, logged.String())
					}
				}
			})
		})
	}
}

func TestOneCallTriesWhetherTheBackendIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{down: true}
		c := b.client(t, nil)
		for range 5 {
			wantFailure(t, c, "deepinfra_http_error", 0)
		}
		time.Sleep(10 * time.Second)
		b.down, b.takes, b.body = false, time.Second, `{"scores":[1]}`
		var wg sync.WaitGroup
		var ok atomic.Int32
		for i := range 10 {
			wg.Go(func() {
				if _, err := c.Score(t.Context(), "", fmt.Sprint(i), []string{"a"}); err == nil {
					ok.Add(1)
				}
			})
		}
		wg.Wait()
		if ok.Load() != 1 || b.asked.Load() != 6 {
			t.Errorf("%d of 10 were answered, asked %d times, want 1 and 6", ok.Load(), b.asked.Load())
		}
	})
}

func TestRefusalsAndHastyCallersDoNotCountAsSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := 429
		var asked int
		c := newClient(t, rerank.DeepInfra, "", func(o *rerank.Options) {
			o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				asked++
				if status == 0 {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}
				return respond(r, status, `{"scores":[1,2]}`), nil
			})
		})
		for range 20 {
			wantFailure(t, c, "deepinfra_http_error", 429)
		}
		status = 0
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			if _, err := c.Score(ctx, "", "q", []string{"a"}); err == nil {
				t.Error("an answer in no time")
			}
			cancel()
			synctest.Wait()
		}
		status = 200
		if _, err := c.Score(t.Context(), "", "q", []string{"a", "b"}); err != nil || asked != 41 {
			t.Errorf("Score = %v, asked %d times, want 41", err, asked)
		}
	})
}

func TestCloseTakesBackWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{takes: time.Hour}
		c := b.client(t, nil)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if _, err := c.Score(t.Context(), "", fmt.Sprint(i), []string{"a"}); err == nil {
					t.Error("an answer from a backend that gives none")
				}
			})
		}
		synctest.Wait()
		start := time.Now()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if time.Since(start) != 0 || b.inside.Load() != 0 {
			t.Errorf("Close took %v and left %d", time.Since(start), b.inside.Load())
		}
		wg.Wait()
		wantFailure(t, c, "deepinfra_http_error", 0)
	})
}

func TestNoDocumentsNeedNoAnswer(t *testing.T) {
	b := &backend{}
	r, err := b.client(t, nil).Score(t.Context(), "", "q", nil)
	if err != nil || len(r.Scores) != 0 || b.asked.Load() != 0 {
		t.Errorf("Score of nothing = %+v, %v, asked %d times", r, err, b.asked.Load())
	}
}

func TestNewRefusesWhatAsksNobody(t *testing.T) {
	for _, name := range []string{"heuristic", "", "openai"} {
		o := rerank.Options{Settings: rerank.Default()}
		o.Backend = name
		if _, err := rerank.New(o); err == nil {
			t.Errorf("New with backend %q: no error", name)
		}
	}
}
