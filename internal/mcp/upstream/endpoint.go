package upstream

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"secateur/internal/access/oauth"
	"secateur/internal/front/budget"
	"secateur/internal/mcp/buffer"
	"secateur/internal/mcp/wire"
	"secateur/internal/ops/telemetry"
)

// endpoint is a server's HTTP address and the connections to it.
type endpoint struct {
	u      *Upstream
	url    *url.URL
	host   string      // for messages, because the address may contain a token
	header http.Header // sent with every request; immutable once in use
	rt     *http.Transport
	conns  sockets
	sizes  buffer.Sizes // of the server's answers

	request http.Request // template for a POST
}

func newEndpoint(u *Upstream, address *url.URL) *endpoint {
	e := &endpoint{u: u, url: address, host: address.Host, header: http.Header{}}
	for name, value := range u.opt.Settings.Headers {
		e.header.Set(name, value.Reveal())
	}
	if e.header.Get("User-Agent") == "" {
		e.header.Set("User-Agent", u.opt.ClientName+"/"+u.opt.ClientVersion)
	}
	if user := address.User; user != nil && e.header.Get("Authorization") == "" {
		password, _ := user.Password()
		e.header.Set("Authorization", basicAuth(user.Username(), password))
		bare := *address
		bare.User = nil
		e.url = &bare
	}
	e.request = http.Request{
		Method: http.MethodPost, URL: e.url, Host: e.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	idle := 50 * time.Second
	if address.Scheme == "http" {
		// many small servers close idle connections after 5 s, which must not hit a request
		idle = 4 * time.Second
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	e.rt = &http.Transport{
		Proxy: u.opt.Proxy,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return e.conns.track(dialer.DialContext(ctx, network, addr))
		},
		MaxIdleConns:           1024,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        idle,
		TLSHandshakeTimeout:    10 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		// if a server compresses anyway, we decompress with our own limit
		DisableCompression: true,
	}
	return e
}

func basicAuth(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// with returns the headers of every request plus some more. The caller owns the result.
func (e *endpoint) with(more ...headerField) http.Header {
	h := make(http.Header, len(e.header)+len(more))
	maps.Copy(h, e.header)
	for _, f := range more {
		if f.value != "" {
			h[f.name] = []string{f.value}
		}
	}
	return h
}

// headerField has a canonical name. Without a value it is omitted.
type headerField struct{ name, value string }

// post sends a request. It does not follow redirects.
func (e *endpoint) post(ctx context.Context, header http.Header, body *sentBody) (*http.Response, error) {
	return e.postTo(ctx, e.url, header, body)
}

// postTo is post to another address of the same origin.
func (e *endpoint) postTo(ctx context.Context, to *url.URL, header http.Header, body *sentBody) (*http.Response, error) {
	header, err := e.authorized(ctx, header)
	if err != nil {
		return nil, err
	}
	header = telemetry.TraceHeader(ctx, header)
	req := e.request.WithContext(ctx)
	req.URL, req.Header, req.Close = to, header, e.conns.once.Load()
	req.GetBody, req.ContentLength = body.source(), int64(len(body.data))
	req.Body, _ = req.GetBody()
	resp, err := e.rt.RoundTrip(req)
	if err != nil && strings.Contains(err.Error(), closedIdle) {
		var gone error
		if req.Body, gone = req.GetBody(); gone == nil {
			return e.rt.RoundTrip(req)
		}
	}
	return resp, err
}

// authorized adds the access token of the server's sign-in to a request's header. An Authorization
// header from the configuration takes precedence.
func (e *endpoint) authorized(ctx context.Context, header http.Header) (http.Header, error) {
	if e.u.opt.Tokens == nil || header.Get("Authorization") != "" {
		return header, nil
	}
	token, err := e.u.opt.Tokens.Token(ctx)
	switch {
	case errors.Is(err, e.u.opt.LoginRequired) && e.u.opt.LoginRequired != nil:
		return nil, e.u.loginRequired("%v", err)
	case err != nil:
		return nil, e.u.errorf(Unavailable, "no token for it: %v", innermost(err))
	case token == "":
		return header, nil
	}
	with := maps.Clone(header)
	if with == nil {
		with = http.Header{}
	}
	with["Authorization"] = []string{"Bearer " + token}
	return with, nil
}

// mayLogIn reports whether a sign-in could fix a refusal. It also records that the server refused
// the token sent.
func (e *endpoint) mayLogIn(resp *http.Response) bool {
	if e.u.opt.Tokens == nil || e.header.Get("Authorization") != "" {
		return false
	}
	shown := ""
	if resp.Request != nil {
		shown = strings.TrimPrefix(resp.Request.Header.Get("Authorization"), "Bearer ")
		e.u.opt.Tokens.Refused(shown)
	}
	asks := strings.Contains(strings.ToLower(resp.Header.Get("Www-Authenticate")), "bearer")
	return !e.u.opt.OwnToken && (asks || shown != "" || e.u.opt.LoginWanted)
}

// closedIdle is net/http's error text if the server closed an idle connection before the request
// began. The server has not seen the request.
const closedIdle = "server closed idle connection"

// do sends a request without a body.
func (e *endpoint) do(ctx context.Context, method string, header http.Header) (*http.Response, error) {
	header, err := e.authorized(ctx, header)
	if err != nil {
		return nil, err
	}
	req := e.request.WithContext(ctx)
	req.Method, req.Header = method, header
	return e.rt.RoundTrip(req)
}

// close ends all connections, including those in use.
func (e *endpoint) close() {
	e.conns.close()
	e.rt.CloseIdleConnections()
}

// reader returns a response's body, decompressed.
func (e *endpoint) reader(resp *http.Response) (io.Reader, error) {
	switch encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		return resp.Body, nil
	case "gzip", "x-gzip":
		resp.ContentLength = -1 // it counted the compressed bytes
		return &lazyGzip{in: resp.Body}, nil
	default:
		return nil, &CallError{
			Kind: Invalid, HTTPStatus: resp.StatusCode,
			Message: e.u.errorf(Invalid, "its answer is compressed in a way that was not asked for").Message,
		}
	}
}

// lazyGzip starts decompressing at the first read, so that opening a stream does not block.
type lazyGzip struct {
	in io.Reader
	z  *gzip.Reader
}

func (l *lazyGzip) Read(p []byte) (int, error) {
	if l.z == nil {
		z, err := gzip.NewReader(l.in)
		if err != nil {
			return 0, err
		}
		l.z = z
	}
	return l.z.Read(p)
}

// bodyError explains why a response's body could not be read.
func (e *endpoint) bodyError(err error, resp *http.Response) *CallError {
	var failed *CallError
	switch {
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, budget.ErrFull):
		return e.u.overloadedError()
	case errors.Is(err, buffer.ErrTooLong):
		failed = e.u.tooLongError()
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), strings.HasPrefix(err.Error(), "flate: "):
		failed = e.u.errorf(Invalid, "its answer says that it is compressed with gzip, but is not")
	default:
		return e.u.transportError(err, e.host)
	}
	failed.HTTPStatus = resp.StatusCode
	return failed
}

// statusError explains a response whose status or content is not an answer. It describes the
// content's type and never quotes its text.
func (e *endpoint) statusError(resp *http.Response, body []byte) *CallError {
	u, code := e.u, resp.StatusCode
	var failed *CallError
	switch {
	case code == http.StatusUnauthorized && e.mayLogIn(resp):
		failed = u.loginRequired("it answered HTTP 401: it wants somebody to sign in")
	case code == http.StatusForbidden && oauth.LacksScope(resp.Header.Get("Www-Authenticate")):
		failed = e.lacksScope(oauth.ChallengeScope(resp.Header.Get("Www-Authenticate")))
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		failed = u.errorf(Invalid, "it answered HTTP %d: it wants other credentials", code)
		failed.Hint = `set what it asks for in the server's headers, for example headers = { Authorization = "Bearer ${TOKEN}" }`
	case code >= 300 && code < 400:
		failed = u.errorf(Invalid, "it answered HTTP %d, a redirect; redirects are not followed", code)
		failed.Hint = "put the address that it redirects to into its url"
	case code >= 400:
		failed = u.errorf(Invalid, "it answered HTTP %d with %s", code, describe(resp, body))
	default:
		failed = u.errorf(Invalid, "it answered with %s instead of JSON-RPC", describe(resp, body))
	}
	failed.HTTPStatus = code
	return failed
}

// lacksScope explains a call for which the token's scope does not suffice; "": the server does not
// say which would.
func (e *endpoint) lacksScope(scope string) *CallError {
	u, which := e.u, "a scope"
	if scope != "" {
		which = "the scope " + scope
	}
	const text = "it answered HTTP 403: the token lacks %s"
	switch {
	case u.opt.Tokens == nil || e.header.Get("Authorization") != "":
		failed := u.errorf(Invalid, text, which)
		failed.Hint = "put a token with that scope into the server's headers"
		return failed
	case u.opt.OwnToken:
		failed := u.errorf(Invalid, text, which)
		failed.Hint = "add it to oauth.scope of the server"
		return failed
	}
	failed := u.loginRequired(text, which)
	if scope != "" {
		failed.Hint += " --scope '" + scope + "'"
	}
	return failed
}

// describe names the kind of content received.
func describe(resp *http.Response, body []byte) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	start := strings.ToLower(string(body[:min(len(body), 64)]))
	start = strings.TrimSpace(strings.TrimPrefix(start, "\xef\xbb\xbf"))
	switch {
	case len(body) == 0 || start == "" && len(body) <= 64:
		return "no content"
	case kind == "text/event-stream":
		return "an event stream"
	case strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html") || kind == "text/html":
		return "an HTML page"
	case strings.HasPrefix(start, "{") || strings.HasPrefix(start, "["):
		return "JSON that is not a JSON-RPC response"
	case kind == "":
		return "content of no type"
	default:
		return "content of type " + kind
	}
}

func (u *Upstream) tooLongError() *CallError {
	failed := u.errorf(Invalid, "its answer is longer than max_message_bytes (%d)", u.maxMessage())
	failed.Hint = "ask for less at once, or raise max_message_bytes"
	return failed
}

// parse reads a server's message and records its long strings.
func (u *Upstream) parse(b []byte) (wire.Message, error) {
	return wire.ParseServer(b, u.bounds.Load().LongString)
}
