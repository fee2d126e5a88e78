package proxy_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/front/datarate"
	"secateur/internal/llm/chat"
	"secateur/internal/llm/proxy"
	"secateur/internal/ops/telemetry/telemetrytest"
	"secateur/internal/store/originals"
	"secateur/internal/store/records"
)

// fakeProvider gives fixed responses and records its requests.
type fakeProvider struct {
	*httptest.Server

	mu     sync.Mutex
	asked  []asked
	answer http.HandlerFunc
}

// asked is a request as the provider got it.
type asked struct {
	method, uri, host string
	header            http.Header
	body              []byte
}

func newProvider(t *testing.T, answer http.HandlerFunc) *fakeProvider {
	t.Helper()
	p := &fakeProvider{answer: answer}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.asked = append(p.asked, asked{r.Method, r.RequestURI, r.Host, r.Header, body})
		p.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		p.answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *fakeProvider) last(t *testing.T) asked {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) == 0 {
		t.Fatal("the provider was not asked")
	}
	return p.asked[len(p.asked)-1]
}

func (p *fakeProvider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

const smallAnswer = `{"id":"x","choices":[{"message":{"role":"assistant","content":"hi"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`

func jsonAnswer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

// proxied is a proxy behind a listener.
type proxied struct {
	// Requests whose handlers have not returned; a client may have its response before.
	running running
	*httptest.Server

	proxy    *proxy.Proxy
	registry *prometheus.Registry
	store    *originals.Memory
	records  proxy.Records
	told     ledger
	tenant   string // of the next caller; "": the default one
}

// running are requests that are not completely done.
type running struct {
	sync.WaitGroup

	books *proxy.Proxy
}

// Wait also waits for their bookkeeping.
func (r *running) Wait() {
	r.WaitGroup.Wait()
	r.books.WaitForBooks()
}

// newProxy serves a proxy in front of providers; change may be nil.
func newProxy(t *testing.T, change func(*proxy.Options), providers map[string]*fakeProvider) *proxied {
	t.Helper()
	px := &proxied{registry: prometheus.NewRegistry(), store: &originals.Memory{}, records: &records.Memory{}}
	opt := proxy.Options{
		Providers: map[string]proxy.Provider{}, Originals: px.store, Records: px.records,
		MaxBodyBytes: 64 << 20, Metrics: px.registry, Log: slog.New(slog.DiscardHandler),
		Observer: &px.told,
	}
	for name, p := range providers {
		opt.Providers[name] = proxy.Provider{BaseURL: p.URL + "/v1"}
	}
	if change != nil {
		change(&opt)
	}
	px.records = opt.Records
	var err error
	if px.proxy, err = proxy.New(opt); err != nil {
		t.Fatal(err)
	}
	px.running.books = px.proxy
	mux := http.NewServeMux()
	serve := func(w http.ResponseWriter, r *http.Request) {
		px.proxy.Serve(w, r, &access.Principal{Subject: "somebody", Tenant: px.tenant})
	}
	mux.HandleFunc("/v1/chat/completions", serve)
	mux.HandleFunc("/chat/completions", serve)
	models := func(w http.ResponseWriter, r *http.Request) {
		px.proxy.ServeModels(w, r, &access.Principal{Subject: "somebody"})
	}
	mux.HandleFunc("GET /v1/models", models)
	mux.HandleFunc("GET /models", models)
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		px.proxy.ServeOther(w, r, &access.Principal{Subject: "somebody"})
	})
	guarded := datarate.New(datarate.Limits{}).Handler(mux)
	px.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		px.running.Add(1)
		defer px.running.Done()
		guarded.ServeHTTP(w, r)
	}))
	px.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	px.Start()
	t.Cleanup(func() {
		px.Close()
		_ = px.proxy.Close()
	})
	return px
}

func one(p *fakeProvider) map[string]*fakeProvider { return map[string]*fakeProvider{"main": p} }

// reply is a response as the client got it.
type reply struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func (px *proxied) post(t *testing.T, body string, header ...string) reply {
	t.Helper()
	return px.do(t, http.MethodPost, "/v1/chat/completions", body, header...)
}

func (px *proxied) do(t *testing.T, method, path, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, px.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	res, err := transport.RoundTrip(req)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(b), err}
}

// counted returns the value of a counter with these labels.
func (px *proxied) counted(t *testing.T, metric string, labels ...string) float64 {
	t.Helper()
	px.running.Wait()
	return telemetrytest.Sum(t, px.registry, metric, labels...)
}

// rawProvider answers every connection with these bytes once a request has come, and then closes
// it.
func rawProvider(t *testing.T, answer func() []byte) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				if readRequest(conn) {
					_, _ = conn.Write(answer())
				}
			})
		}
	})
	return "http://" + ln.Addr().String() + "/v1"
}

// readRequest reads up to the blank line and the declared body.
func readRequest(conn net.Conn) bool {
	var got []byte
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		got = append(got, buf[:n]...)
		head, body, ok := bytes.Cut(got, []byte("\r\n\r\n"))
		if ok {
			want := 0
			for line := range strings.Lines(strings.ToLower(string(head))) {
				if rest, ok := strings.CutPrefix(line, "content-length:"); ok {
					for _, c := range strings.TrimSpace(rest) {
						want = want*10 + int(c-'0')
					}
				}
			}
			if len(body) >= want {
				return true
			}
		}
		if err != nil {
			return false
		}
	}
}

func masking(strategy string) chat.Settings {
	s := chat.Default()
	s.Strategy = strategy
	return s
}
