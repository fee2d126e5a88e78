package proxy_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/access"
	"secateur/internal/llm/proxy"
)

// pieces is a provider without a network: it answers with pieces of a stream, each after a delay.
type pieces struct {
	contentType string
	all         []piece
}

type piece struct {
	after time.Duration
	text  string
}

func (p pieces) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	return &http.Response{
		StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, TransferEncoding: []string{"chunked"},
		Header: http.Header{"Content-Type": {p.contentType}}, Body: &slowBody{r, p.all},
	}, nil
}

// slowBody ends like a transport's body when its request is cancelled.
type slowBody struct {
	r    *http.Request
	left []piece
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.left) == 0 {
		return 0, io.EOF
	}
	next := b.left[0]
	b.left = b.left[1:]
	select {
	case <-time.After(next.after):
		return copy(p, next.text), nil
	case <-b.r.Context().Done():
		return 0, b.r.Context().Err()
	}
}

func (b *slowBody) Close() error { return nil }

func TestAProviderThatGoesSilentIsGivenUp(t *testing.T) {
	const event = "data: 1\n\n"
	const patience = proxy.DefaultPatience
	for _, tt := range []struct {
		rule, contentType string
		all               []piece
		body              string // what the client gets, or its beginning
		breaks, ends      bool   // the connection breaks; an error event comes last
	}{
		{"in a stream", "text/event-stream", []piece{{0, event}, {patience + time.Second, event}}, event, false, true},
		{"before the first event", "text/event-stream", []piece{{patience + time.Second, event}}, "", false, true},
		{"in any other answer", "application/json", []piece{{0, "{"}, {patience + time.Second, "}"}}, "{", true, false},
		{"but not one that is slow", "text/event-stream", []piece{{patience - time.Second, event}, {patience - time.Second, event}}, event + event, false, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, err := proxy.New(proxy.Options{
					Providers: map[string]proxy.Provider{"main": {BaseURL: "http://provider"}}, MaxBodyBytes: 1 << 20,
					Transport: pieces{tt.contentType, tt.all},
				})
				if err != nil {
					t.Fatal(err)
				}
				for path, serve := range map[string]http.HandlerFunc{
					"/v1/chat/completions": func(w http.ResponseWriter, r *http.Request) { p.Serve(w, r, &access.Principal{Subject: "somebody"}) },
					"/v1/other": func(w http.ResponseWriter, r *http.Request) {
						p.ServeOther(w, r, &access.Principal{Subject: "somebody"})
					},
				} {
					w := httptest.NewRecorder()
					began := time.Now()
					broke := func() (broke bool) {
						defer func() { broke = recover() != nil }() // as http.ErrAbortHandler
						serve(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(streamRequest)))
						return false
					}()
					isChat := path != "/v1/other"
					got := w.Body.String()
					rest, ok := strings.CutPrefix(got, tt.body)
					if !ok || isChat && tt.ends != strings.Contains(rest, `"code":"upstream_timeout"`) || !isChat && rest != "" {
						t.Errorf("%s: the client got %q", path, got)
					}
					if wants := tt.breaks || tt.ends && !isChat; broke != wants {
						t.Errorf("%s: the connection breaks: %v, want %v", path, broke, wants)
					}
					if took := time.Since(began); (tt.breaks || tt.ends) && took != patience {
						t.Errorf("%s: given up after %s", path, took)
					}
				}
			})
		})
	}
}

// A stream that has not ended at shutdown ends with an event that says so.
func TestAStreamIsToldThatWeStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := proxy.New(proxy.Options{
			Providers: map[string]proxy.Provider{"main": {BaseURL: "http://provider"}}, MaxBodyBytes: 1 << 20,
			Transport: pieces{"text/event-stream", []piece{{0, "data: 1\n\n"}, {time.Hour, "data: 2\n\n"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { stop(http.ErrServerClosed) })
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(streamRequest)).WithContext(ctx)
		p.Serve(w, r, &access.Principal{Subject: "somebody"})
		if got := w.Body.String(); !strings.HasPrefix(got, "data: 1\n\ndata: {\"error\"") || !strings.Contains(got, `"code":"stopped"`) {
			t.Errorf("the client got %q, want the first event and one that tells why there are no more", got)
		}
	})
}

// flushed records when bytes are flushed.
type flushed struct {
	*httptest.ResponseRecorder
	began time.Time
	at    []time.Duration
}

func (f *flushed) Flush() { f.at = append(f.at, time.Since(f.began)) }

func TestHeadersOfAStreamDoNotWaitForItsFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := pieces{"text/event-stream", []piece{{time.Minute, "data: 1\n\n"}, {time.Second, "data: [DONE]\n\n"}}}
		p, err := proxy.New(proxy.Options{Providers: map[string]proxy.Provider{"main": {BaseURL: "http://provider.test"}}, MaxBodyBytes: 1 << 20, Transport: from})
		if err != nil {
			t.Fatal(err)
		}
		w := &flushed{ResponseRecorder: httptest.NewRecorder(), began: time.Now()}
		p.Serve(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(streamRequest)), &access.Principal{Subject: "x"})
		if want := []time.Duration{0, time.Minute, time.Minute + time.Second}; !slices.Equal(w.at, want) {
			t.Errorf("bytes were sent on after %v, want %v", w.at, want)
		}
	})
}
