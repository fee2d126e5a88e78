package rpchttp_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"secateur/internal/access"
	"secateur/internal/front/datarate"
	"secateur/internal/mcp/rpchttp"
	"secateur/internal/mcp/wire"
)

func TestRead(t *testing.T) {
	request := func(body io.Reader, length int64, encoding string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.ContentLength = length
		if encoding != "" {
			r.Header.Set("Content-Encoding", encoding)
		}
		return r
	}
	long := strings.Repeat("x", 5000)
	for _, c := range []struct {
		rule   string
		in     *http.Request
		limit  int64
		want   string
		status int
	}{
		{"a length that is told", request(strings.NewReader("abc"), 3, ""), 10, "abc", 0},
		{"a length that is not", request(iotest.OneByteReader(strings.NewReader(long)), -1, ""), 5000, long, 0},
		{"exactly the limit", request(strings.NewReader("abc"), 3, ""), 3, "abc", 0},
		{"over the limit, as told", request(strings.NewReader("abcd"), 4, ""), 3, "", 413},
		{"over the limit, as it turns out", request(strings.NewReader("abcd"), -1, ""), 3, "", 413},
		{"broken off", request(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abcd"))), 4, ""), 10, "", 400},
		{"over the limit, as told, and none of it has come", request(iotest.ErrReader(errors.New("read")), 4, ""), 3, "", 413},
		{"too slow", request(io.MultiReader(strings.NewReader("a"), iotest.ErrReader(datarate.ErrTooSlow)), 4, ""), 10, "", 408},
		{"compressed", request(strings.NewReader("abc"), 3, "gzip"), 10, "", 415},
	} {
		got, bad := rpchttp.Read(httptest.NewRecorder(), c.in, c.limit)
		if bad != nil && bad.Status != c.status || bad == nil && c.status != 0 {
			t.Errorf("%s: failure %+v, want status %d", c.rule, bad, c.status)
		}
		if string(got.Bytes) != c.want {
			t.Errorf("%s: read %d bytes, want %d", c.rule, len(got.Bytes), len(c.want))
		}
		got.Release()
	}
}

func TestRefuseAnswersUnderTheCallersID(t *testing.T) {
	for _, c := range []struct {
		rule, body string
		verdict    access.Kind
		status     int
		want       string
	}{
		{"no token", `{"jsonrpc":"2.0","id":7.50,"method":"x"}`, access.Unauthorized, 401, `"id":7.50,"error":{"code":-32015,`},
		{"a stranger's page", `{"jsonrpc":"2.0","id":"a","method":"x"}`, access.Forbidden, 403, `"id":"a","error":{"code":-32016,`},
		{"no JSON", `hello`, access.Forbidden, 403, `"id":null`},
		{"more than anyone reads", `{"id":1,"x":"` + strings.Repeat("x", 70_000) + `"}`, access.Forbidden, 403, `"id":null`},
	} {
		rec := httptest.NewRecorder()
		rpchttp.Refuse(rec, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body)), access.Verdict{Kind: c.verdict, Reason: "no"})
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.want) {
			t.Errorf("%s: %d %s, want %d with %s", c.rule, rec.Code, rec.Body, c.status, c.want)
		}
		if challenge := rec.Header().Get("WWW-Authenticate"); (challenge != "") != (c.status == 401) {
			t.Errorf("%s: WWW-Authenticate: %q", c.rule, challenge)
		}
	}
}

func TestRateLimitedSaysWhen(t *testing.T) {
	rec := httptest.NewRecorder()
	rpchttp.RateLimited(1500*time.Millisecond).Write(rec, wire.NumberID(1))
	if rec.Code != 429 || rec.Header().Get("Retry-After") != "2" || !strings.Contains(rec.Body.String(), "Rate limit exceeded") {
		t.Errorf("%d, Retry-After %q: %s", rec.Code, rec.Header().Get("Retry-After"), rec.Body)
	}
}
