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

// Tap passes requests on and remembers what the client sent and what it got. Every request is also billed as if it had
// been passed through.
type Tap struct {
	To       func() string // where the program listens now
	Provider *Provider     // whose second book is kept; nil: none
	Before   func(n int)   // called before the n-th request is passed on; nil: nothing is done

	log log
}

// tapHeader carries the number of a request to the provider: of two that are under way at once either may be there first.
const tapHeader = "X-Tap"

// Requests are those that were sent to a path so far, each with its whole answer; "": all.
func (t *Tap) Requests(path string) []Seen { return t.log.requests(path) }

// Arrived are the requests to a path that reached the provider, in the order in which they came by here.
func (t *Tap) Arrived(path string) []Seen {
	got := t.Provider.Requests(path)
	number := func(s Seen) int { n, _ := strconv.Atoi(s.Header.Get(tapHeader)); return n }
	slices.SortStableFunc(got, func(a, b Seen) int { return number(a) - number(b) })
	return got
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
		Transport:     &http.Transport{DisableKeepAlives: true}, // the program may be another one by the next request
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	proxy.ServeHTTP(got, r)
}

// copying remembers what is written.
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
