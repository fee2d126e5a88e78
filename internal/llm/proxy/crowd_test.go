package proxy_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"secateur/internal/access"
	"secateur/internal/front/budget"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// crowd is a conversation of n short messages.
func crowd(list string, n int) string {
	return `{"model":"m","` + list + `":[` + strings.TrimSuffix(strings.Repeat(`{"role":"user","content":"a"},`, n), ",") + `]}`
}

// askWithin sends a request to a proxy with a memory budget. It also returns how much is held while
// the provider answers.
func askWithin(t *testing.T, limit int64, path, list, name string, n int) (got *httptest.ResponseRecorder, asked int, held int64) {
	t.Helper()
	b := budget.New(limit, nil)
	p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
		held = b.InFlight()
		jsonAnswer(smallAnswer)(w, r)
	})
	px := newProxy(t, pruningOn, map[string]*fakeProvider{name: p})
	hold, err := b.Open(access.Holder{Principal: "somebody"})
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	r := httptest.NewRequestWithContext(budget.With(t.Context(), hold), http.MethodPost, path, strings.NewReader(gzipped(t, crowd(list, n))))
	r.Header.Set("Content-Encoding", "gzip")
	r.Body = hold.Body(r.Body)
	got = httptest.NewRecorder()
	px.proxy.Serve(got, r, &access.Principal{Subject: "somebody"})
	return got, p.count(), held
}

var crowdedDoors = []struct{ path, list, provider, tooLarge, overloaded string }{
	{"/v1/chat/completions", "messages", "main", `"code":"request_too_large"`, `"code":"overloaded"`},
	{"/v1/messages", "messages", "anthropic", `"type":"request_too_large"`, `"type":"overloaded_error"`},
	{"/v1/responses", "input", "openai", `"code":"request_too_large"`, `"code":"overloaded"`},
}

func TestTooManyMessagesAreRefused(t *testing.T) {
	for _, d := range crowdedDoors {
		got, asked, _ := askWithin(t, 1<<30, d.path, d.list, d.provider, 70_000)
		if got.Code != http.StatusRequestEntityTooLarge || !strings.Contains(got.Body.String(), d.tooLarge) || asked != 0 {
			t.Errorf("%s: %d %s, the provider was asked %d times", d.path, got.Code, got.Body, asked)
		}
	}
}

func TestManyShortMessagesAreChargedForWhatTheyTake(t *testing.T) {
	for _, d := range crowdedDoors {
		const n = 20_000 // 600 kB of messages, some 20 MB of memory
		got, asked, held := askWithin(t, 1<<30, d.path, d.list, d.provider, n)
		if got.Code != http.StatusOK || asked != 1 || held < n*512 {
			t.Errorf("%s: %d %s, asked %d times, %d bytes were held", d.path, got.Code, got.Body, asked, held)
		}
		got, asked, _ = askWithin(t, 8<<20, d.path, d.list, d.provider, n)
		if got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), d.overloaded) || asked != 0 {
			t.Errorf("%s within 8 MiB: %d %s, the provider was asked %d times", d.path, got.Code, got.Body, asked)
		}
	}
}
