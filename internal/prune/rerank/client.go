package rerank

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// maxQuery limits the query. It is sent once per document, and no reranker reads more of it.
const maxQuery = 16 << 10

// Options are the settings and the live parts of a Client.
type Options struct {
	Settings

	Transport http.RoundTripper // nil: its own, with the proxies of the environment
	Log       *slog.Logger      // nil discards
}

// Client asks one backend for scores. Its methods may be called concurrently.
type Client struct {
	settings Settings
	backend  Backend
	http     *http.Client
	url      *url.URL
	key      string
	broken   error // why the backend cannot be asked; nil: it can
	log      *slog.Logger
	slots    chan struct{} // one for each request in flight
	asTexts  atomic.Bool   // the server calls documents "texts"
	asking   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	cache   *cache
	breaker breaker
	flights map[key]*flight
}

// Result is a backend's response.
type Result struct {
	// One for each document, in order; higher is better, the scale is the backend's.
	Scores  []float64
	Status  int           // of the HTTP response
	Latency time.Duration // of the HTTP response; 0: from the cache
	Cached  bool          // from the cache
}

// New makes a client. A missing or invalid key or address is not an error here but in each Score. A
// pruner can thus start and report it. Heuristic needs no client and is an error.
func New(o Options) (*Client, error) {
	backend, ok := ParseBackend(o.Backend)
	if !ok || backend == Heuristic {
		return nil, fmt.Errorf("make reranker: backend %q asks nobody", o.Backend)
	}
	check := o.Settings
	check.RerankURL = "" // checked below
	if err := check.Validate(); err != nil {
		return nil, fmt.Errorf("make reranker: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = ownTransport()
	}
	c := &Client{
		settings: o.Settings,
		backend:  backend,
		http: &http.Client{
			Transport: o.Transport,
			// A redirect would send the texts, and on the same host the key, to another place.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		key:     o.apiKey(backend),
		log:     o.Log,
		slots:   make(chan struct{}, maxUnderWay),
		cache:   newCache(o.CacheTTL, o.CacheMaxEntries),
		flights: map[key]*flight{},
	}
	c.url, c.broken = o.address(backend)
	if c.broken == nil {
		c.broken = c.checkKey()
	}
	return c, nil
}

// Backend returns the backend that this client asks.
func (c *Client) Backend() Backend { return c.backend }

// MaxDocs returns how many documents one Score may have.
func (c *Client) MaxDocs() int { return c.settings.DeepInfraMaxDocs }

// Score returns how well each document answers the query. It waits as long as ctx and the
// configured timeout allow. Its errors are *Error.
func (c *Client) Score(ctx context.Context, tenant, query string, docs []string) (Result, error) {
	if c.broken != nil {
		return Result{}, c.fail(KindConfig, 0, c.broken)
	}
	if len(docs) == 0 {
		return Result{}, nil
	}
	if len(docs) > c.settings.DeepInfraMaxDocs {
		return Result{}, c.fail(KindConfig, 0, fmt.Errorf("%d documents are more than %d", len(docs), c.settings.DeepInfraMaxDocs))
	}
	if err := ctx.Err(); err != nil {
		return Result{}, c.fail(KindHTTP, 0, err)
	}
	query = shorten(query)
	k := keyOf(tenant, query, docs)

	c.mu.Lock()
	if scores, ok := c.cache.get(k, time.Now()); ok {
		c.mu.Unlock()
		return Result{Scores: slices.Clone(scores), Status: http.StatusOK, Cached: true}, nil
	}
	f, err := c.board(ctx, k, query, docs)
	c.mu.Unlock()
	if err != nil {
		return Result{}, err
	}
	return c.join(ctx, f)
}

// Close cancels the requests in flight, waits for them, and closes connections. Afterwards Score
// fails.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	for _, f := range c.flights {
		f.cancel()
	}
	c.mu.Unlock()
	c.asking.Wait()
	c.http.CloseIdleConnections()
	return nil
}

// board joins the flight with this question, or starts it. The caller holds the lock.
func (c *Client) board(ctx context.Context, k key, query string, docs []string) (*flight, error) {
	if c.closed {
		return nil, c.fail(KindHTTP, 0, errors.New("closed"))
	}
	if f := c.flights[k]; f != nil && f.waiters > 0 { // one without waiters was cancelled
		f.waiters++
		return f, nil
	}
	if !c.breaker.allow(time.Now()) {
		return nil, c.fail(KindHTTP, 0, errors.New("not asked: it has not answered for some time"))
	}
	// Others may join, so the request outlives its first caller.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.settings.DeepInfraTimeout)
	f := &flight{done: make(chan struct{}), cancel: cancel, waiters: 1}
	c.flights[k] = f
	docs = slices.Clone(docs) // the caller may return and reuse its slice
	c.asking.Go(func() { c.fly(ctx, k, f, query, docs) })
	return f, nil
}

func (c *Client) checkKey() error {
	switch {
	case c.key == "" && c.backend == DeepInfra:
		return errors.New("no key is set")
	case strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return errors.New("the key has characters that no key has")
	default:
		return nil
	}
}

func (c *Client) fail(kind Kind, status int, cause error) *Error {
	if c.key != "" && strings.Contains(cause.Error(), c.key) {
		cause = errors.New("an answer that repeats the key") // net/http quotes malformed responses
	}
	return &Error{Backend: c.backend, Kind: kind, Status: status, cause: cause}
}

// key identifies a question. The backend is always the same.
type key [sha256.Size]byte

func keyOf(tenant, query string, docs []string) (k key) {
	h := sha256.New()
	var length [8]byte
	add := func(s string) {
		binary.BigEndian.PutUint64(length[:], uint64(len(s)))
		h.Write(length[:])
		h.Write([]byte(s))
	}
	add(tenant)
	add(query)
	for _, d := range docs {
		add(d)
	}
	h.Sum(k[:0])
	return k
}

// shorten cuts a query to the part that is sent, between two characters.
func shorten(query string) string {
	if len(query) <= maxQuery {
		return query
	}
	end := maxQuery
	for end > maxQuery-utf8.UTFMax && !utf8.RuneStart(query[end]) {
		end--
	}
	return query[:end]
}

func ownTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	return t.Clone()
}
