package proxy_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"secateur/internal/access"
	"secateur/internal/access/admission"
	"secateur/internal/front/datarate"
	"secateur/internal/llm/proxy"
)

func TestEveryWayToAProviderIsLimited(t *testing.T) {
	for _, way := range []string{
		"POST /v1/chat/completions", "POST /chat/completions", "GET /v1/chat/completions", "POST /v1/chat/completions/",
		"POST /v1/chat%2Fcompletions", "POST /v1/completions", "POST /v1/embeddings", "DELETE /v1/files/x", "PUT /v1/x",
		"GET /v1/models", "GET /models", "GET /v1/models/x", "HEAD /v1/x", "OPTIONS /v1/x",
	} {
		t.Run(way, func(t *testing.T) {
			p := newProvider(t, jsonAnswer(smallAnswer))
			px := newProxy(t, func(o *proxy.Options) { o.Admission = perMinute(t, 1) }, one(p))
			method, path, _ := strings.Cut(way, " ")
			if got := px.do(t, method, path, ""); got.status != http.StatusOK {
				t.Fatalf("the first request: %+v", got)
			}
			asked := p.count()
			got := px.do(t, method, path, "")
			if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" || p.count() != asked {
				t.Errorf("the second request: status %d, Retry-After %q, provider asked %d times more",
					got.status, got.header.Get("Retry-After"), p.count()-asked)
			}
		})
	}
}

func TestTheLimitIsAskedBeforeTheBodyIsRead(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, func(o *proxy.Options) { o.Admission = perMinute(t, 1) }, one(p))
	px.post(t, streamRequest)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", px.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 60000000\r\n\r\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, " 429 ") {
		t.Errorf("before its body is sent the request is answered %q, %v, want 429", line, err)
	}
}

func TestAPathThatOnlyLooksDifferentIsTheSameDoor(t *testing.T) {
	for _, path := range []string{"/v1/chat/completions/", "/v1/chat%2Fcompletions", "/v1/chat/completions"} {
		p := newProvider(t, jsonAnswer(smallAnswer))
		px := newProxy(t, nil, one(p))
		got := px.do(t, http.MethodPost, path, `{"model":"main/gpt"}`)
		sent := p.last(t)
		if got.header.Get("X-Secateur-Masked") != "0" || sent.uri != "/v1/chat/completions" || string(sent.body) != `{"model":"gpt"}` {
			t.Errorf("%s: the provider got %s %s, the client %v", path, sent.uri, sent.body, got.header)
		}
	}
}

func TestOnlyWebSocketIsTunnelled(t *testing.T) {
	const agreed = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "
	for _, c := range []struct {
		rule, request, answer string
		want                  string // status
		asked                 string // the Upgrade header that the provider gets
	}{
		{"websocket that is agreed to", "GET /v1/x HTTP/1.1\r\nConnection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n", agreed + "websocket\r\n\r\n", "101", "websocket"},
		{"h2c, which the provider is not even asked for", "GET /v1/x HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n", agreed + "h2c\r\n\r\n", "502", ""},
		{"any other protocol", "GET /v1/x HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n", agreed + "tcp\r\n\r\n", "502", ""},
		{"websocket among others", "GET /v1/x HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket, h2c\r\n", agreed + "h2c\r\n\r\n", "502", ""},
		{"websocket asked, another agreed to", "GET /v1/x HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", agreed + "h2c\r\n\r\n", "502", "websocket"},
		{"nothing asked, yet agreed to", "GET /v1/x HTTP/1.1\r\n", agreed + "websocket\r\n\r\n", "502", ""},
		{"a POST cannot", "POST /v1/x HTTP/1.1\r\nContent-Length: 0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", agreed + "websocket\r\n\r\n", "502", ""},
		{"chat completions cannot", "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n", agreed + "websocket\r\n\r\n", "", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var upgrade string
			p := newProvider(t, func(w http.ResponseWriter, r *http.Request) {
				upgrade = r.Header.Get("Upgrade")
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					return
				}
				_, _ = io.WriteString(conn, c.answer)
				_ = conn.Close()
			})
			px := newProxy(t, nil, one(p))
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", px.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, c.request+"Host: x\r\n\r\n{}")
			line, _ := bufio.NewReader(conn).ReadString('\n')
			if c.want != "" && !strings.HasPrefix(line, "HTTP/1.1 "+c.want+" ") || c.want == "" && strings.Contains(line, " 101 ") {
				t.Errorf("answered %q, want %s", line, c.want)
			}
			if upgrade != c.asked {
				t.Errorf("the provider was asked for %q, want %q", upgrade, c.asked)
			}
		})
	}
}

func TestAProviderCannotSpeakForUs(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Secateur-Masked", "999")
		w.Header().Set("X-Secateur-Originals", "prn_FORGED")
		w.Header().Set("Trailer", "X-Secateur-Bill-Ratio, X-Theirs")
		_, _ = io.WriteString(w, smallAnswer)
		w.Header().Set("X-Secateur-Bill-Ratio", "0.01")
		w.Header().Set("X-Theirs", "passes")
	})
	px := newProxy(t, nil, one(p))
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, px.URL+path, strings.NewReader(`{"model":"m"}`))
		req.Header.Set("X-Secateur-Key", "robot")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if m := res.Header.Get("X-Secateur-Masked"); m == "999" || res.Header.Get("X-Secateur-Originals") != "" {
			t.Errorf("%s: the provider's own headers of ours came through: %v", path, res.Header)
		}
		if res.Trailer.Get("X-Secateur-Bill-Ratio") != "" || res.Trailer.Get("X-Theirs") != "passes" {
			t.Errorf("%s: trailers = %v, want those that are not ours", path, res.Trailer)
		}
		if got := p.last(t).header.Get("X-Secateur-Key"); got != "" {
			t.Errorf("%s: the provider was sent X-Secateur-Key: %s", path, got)
		}
	}
}

func TestAProvidersHeaderBlockIsBounded(t *testing.T) {
	p := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Large", strings.Repeat("x", 300<<10))
	})
	px := newProxy(t, nil, one(p))
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		if got := px.do(t, http.MethodPost, path, `{"model":"m"}`); got.status != http.StatusBadGateway {
			t.Errorf("%s: status %d, want 502", path, got.status)
		}
	}
}

func TestABodyThatComesTooSlowlyIsATimeout(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, nil, one(p))
	for path, serve := range map[string]func(http.ResponseWriter, *http.Request, *access.Principal){
		"/v1/chat/completions": px.proxy.Serve, "/v1/files": px.proxy.ServeOther,
	} {
		w := httptest.NewRecorder()
		body := io.MultiReader(strings.NewReader(`{"model":`), iotest.ErrReader(datarate.ErrTooSlow))
		serve(w, httptest.NewRequest(http.MethodPost, path, body), access.Anonymous())
		if w.Code != http.StatusRequestTimeout || !strings.Contains(w.Body.String(), `"code":"request_timeout"`) || w.Header().Get("Connection") != "close" {
			t.Errorf("%s: answer %d %s %v, want a 408 that ends the connection", path, w.Code, w.Body, w.Header())
		}
	}
}

func TestWhatIsNotJSONNeedsSomebodyToTakeIt(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, nil, map[string]*fakeProvider{"one": p, "two": p})
	for _, body := range []string{"", "not json", `{"model":"one/m","model":"two/m"}`} {
		if got := px.post(t, body); got.status != http.StatusBadRequest || !strings.Contains(got.body, "not strict JSON") {
			t.Errorf("%q: answer %d %s, want a 400 that says why", body, got.status, got.body)
		}
	}
}

func perMinute(t *testing.T, n int) *admission.Control {
	t.Helper()
	c, err := admission.New(admission.Options{PerMinute: n})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A body without a declared length is bounded as it comes.
func TestABodyOfUnknownLengthIsBounded(t *testing.T) {
	p := newProvider(t, jsonAnswer(smallAnswer))
	px := newProxy(t, func(o *proxy.Options) { o.MaxBodyBytes = 1000 }, one(p))
	body := io.MultiReader(strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"`), strings.NewReader(strings.Repeat("x", 100_000)), strings.NewReader(`"}]}`))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, px.URL+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge || p.count() > 0 {
		t.Errorf("100 kB of at most 1000 bytes: %d, the provider was asked %d times, want 413 and never", res.StatusCode, p.count())
	}
}
