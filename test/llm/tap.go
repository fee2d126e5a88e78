package llm

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// Tap passes requests on and remembers what the client sent and what it got. Every request is also billed as if it had
// been passed through.
type Tap struct {
	To       func() string // where the program listens now
	Provider *Provider     // whose second book is kept; nil: none
	Before   func(n int)   // called before the n-th request is passed on; nil: nothing is done

	mu   sync.Mutex
	seen []Seen // guarded by mu
}

// Requests are those that were sent to a path so far; "": all.
func (t *Tap) Requests(path string) (found []Seen) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.seen {
		if path == "" || s.Path == path {
			found = append(found, s)
		}
	}
	return found
}

// ServeHTTP passes a request on.
func (t *Tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	body, err := decoded(r)
	if err != nil {
		body = nil
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	if t.Provider != nil {
		t.Provider.Through(r.URL.Path, r.Header, body)
	}
	t.mu.Lock()
	n := len(t.seen)
	t.seen = append(t.seen, Seen{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body})
	t.mu.Unlock()
	if t.Before != nil {
		t.Before(n)
	}
	to, err := url.Parse(t.To())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	var got bytes.Buffer
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(to) },
		FlushInterval: -1,
		Transport:     &http.Transport{DisableKeepAlives: true}, // the program may be another one by the next request
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	defer func() {
		t.mu.Lock()
		t.seen[n].Answer = got.Bytes()
		t.mu.Unlock()
	}()
	proxy.ServeHTTP(&copying{ResponseWriter: w, to: &got, status: func(code int) {
		t.mu.Lock()
		t.seen[n].Status = code
		t.mu.Unlock()
	}}, r)
}

// copying remembers what is written.
type copying struct {
	http.ResponseWriter
	to     *bytes.Buffer
	status func(int)
}

func (c *copying) WriteHeader(code int) {
	c.status(code)
	c.ResponseWriter.WriteHeader(code)
}

func (c *copying) Write(b []byte) (int, error) {
	c.to.Write(b)
	return c.ResponseWriter.Write(b)
}

func (c *copying) Unwrap() http.ResponseWriter { return c.ResponseWriter }
