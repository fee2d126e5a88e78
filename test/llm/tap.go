package llm

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
)

// Tap forwards requests and records what the client sent and got. It also bills every request as if
// it had been passed through.
type Tap struct {
	To       func() string // the program's current address
	Provider *Provider     // whose second book is kept; nil: none
	Before   func(n int)   // called before the n-th request is forwarded; nil: none

	log log
}

// tapHeader carries the number of a request to the provider: concurrent requests may arrive in
// either order.
const tapHeader = "X-Tap"

// Requests returns those sent to a path so far, each with its whole answer; "": all.
func (t *Tap) Requests(path string) []Seen { return t.log.requests(path) }

// Arrived returns the requests to a path that reached the provider, in the order of the tap.
func (t *Tap) Arrived(path string) []Seen {
	got := t.Provider.Requests(path)
	number := func(s Seen) int { n, _ := strconv.Atoi(s.Header.Get(tapHeader)); return n }
	slices.SortStableFunc(got, func(a, b Seen) int { return number(a) - number(b) })
	return got
}

// ServeHTTP forwards a request.
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
	n := t.log.begin(r, body)
	r.Header.Set(tapHeader, strconv.Itoa(n))
	got := &copying{ResponseWriter: w}
	defer func() { t.log.end(n, got.status, got.body.Bytes(), Counts{}) }()
	if t.Before != nil {
		t.Before(n)
	}
	to, err := url.Parse(t.To())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(to) },
		FlushInterval: -1,
		// The program may have been replaced by the next request.
		Transport:    &http.Transport{DisableKeepAlives: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	proxy.ServeHTTP(got, r)
}

// copying records what is written.
type copying struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

func (c *copying) WriteHeader(code int) {
	c.status = code
	c.ResponseWriter.WriteHeader(code)
}

func (c *copying) Write(b []byte) (int, error) {
	c.body.Write(b)
	return c.ResponseWriter.Write(b)
}

func (c *copying) Unwrap() http.ResponseWriter { return c.ResponseWriter }
