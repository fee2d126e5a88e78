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

// maxQuery bounds the query: it is sent once per document, and no reranker reads more of it.
const maxQuery = 16 << 10

// Options are the settings and the live parts of a Client.
type Options struct {
	Settings

	Transport http.RoundTripper // nil: one of its own, with proxies as the environment says
	Log       *slog.Logger      // nil discards
}

// Client asks one backend for scores. Its methods may be called concurrently.
type Client struct {
	settings Settings
	backend  Backend
	http     *http.Client
	url      *url.URL
	key      string
	broken   error // why the backend cannot be asked at all; nil: it can
	log      *slog.Logger
	slots    chan struct{} // one for each question being asked
	asTexts  atomic.Bool   // the server calls documents "texts"
	asking   sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	cache   *cache
	breaker breaker
	flights map[key]*flight
}

// Result is what a backend answered.
type Result struct {
	Scores  []float64     // one for each document, in their order; higher is better, the scale is the backend's
	Status  int           // of the HTTP answer
	Latency time.Duration // of the HTTP answer; 0 when remembered
	Cached  bool          // remembered from an earlier call
}

// New makes a client. A key or an address that is missing or wrong is no error here but one of each Score, so that a
// pruner can start and say so. Heuristic is nobody to ask: that is an error.
func New(o Options) (*Client, error) {
	backend, ok := ParseBackend(o.Backend)
	if !ok || backend == Heuristic {
		return nil, fmt.Errorf("make reranker: backend %q asks nobody", o.Backend)
	}
	check := o.Settings
	check.RerankURL = "" // judged below
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
			// A redirect would carry the texts, and on the same host the key, to where nobody sent them.
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

// Backend is whom this client asks.
func (c *Client) Backend() Backend { return c.backend }

// MaxDocs is how many documents one Score may have.
func (c *Client) MaxDocs() int { return c.settings.DeepInfraMaxDocs }

// Score asks how well each document answers the query. It waits as long as ctx and the settings' timeout allow. Its
// errors are *Error.
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

// Close takes back what is under way, waits for it, and closes connections. Afterwards Score fails.
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

// board finds the flight with this question, or starts it. The caller holds the lock.
func (c *Client) board(ctx context.Context, k key, query string, docs []string) (*flight, error) {
	if c.closed {
		return nil, c.fail(KindHTTP, 0, errors.New("closed"))
	}
	if f := c.flights[k]; f != nil && f.waiters > 0 { // one without waiters has been taken back
		f.waiters++
		return f, nil
	}
	if !c.breaker.allow(time.Now()) {
		return nil, c.fail(KindHTTP, 0, errors.New("not asked: it has not answered for some time"))
	}
	// Others may join, so the question outlives the caller that asks it first.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.settings.DeepInfraTimeout)
	f := &flight{done: make(chan struct{}), cancel: cancel, waiters: 1}
	c.flights[k] = f
	docs = slices.Clone(docs) // the caller may be gone, and using its slice for something else
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
		cause = errors.New("an answer that repeats the key") // net/http quotes answers it does not understand
	}
	return &Error{Backend: c.backend, Kind: kind, Status: status, cause: cause}
}

// key stands for a question. Whom it is put to is always the same.
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

// shorten cuts a query to what is sent of it, between two characters.
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
