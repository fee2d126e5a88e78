package replica

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"secateur/internal/access"
	"secateur/internal/rawjson"
)

// Call is a client's request that another replica must answer.
type Call struct {
	Path      string      // of the door, with its query
	Header    http.Header // of the client's request; the door's headers are forwarded
	Body      []byte
	Principal *access.Principal // the caller
	MaxBytes  int64             // of one message in the response
	Notify    func([]byte)      // receives messages before the response, valid until it returns
}

// Answer is the other replica's response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte // one message
}

// Forward lets another replica answer. It returns ErrGone if that one is dead or unreachable.
func (g *Group) Forward(ctx context.Context, to ID, c Call) (Answer, error) {
	if g == nil {
		return Answer{}, ErrGone
	}
	at, err := g.find(ctx, to)
	if err != nil {
		return Answer{}, err
	}
	req, err := newRequest(ctx, at, c)
	if err != nil {
		return Answer{}, err
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrGone, err)
	}
	defer func() { _ = resp.Body.Close() }()
	a := Answer{Status: resp.StatusCode, Header: http.Header{}}
	for name, values := range resp.Header {
		if strings.HasPrefix(name, "X-Secateur-") {
			a.Header[name] = values
		}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		a.Body, err = readStream(resp.Body, c)
	} else {
		a.Body, err = io.ReadAll(io.LimitReader(resp.Body, c.MaxBytes+1))
		if int64(len(a.Body)) > c.MaxBytes {
			err = errTooLong
		}
	}
	if err != nil {
		return Answer{}, fmt.Errorf("%w: %w", ErrGone, err)
	}
	return a, nil
}

var errTooLong = errors.New("its answer is too long")

func newRequest(ctx context.Context, at announcement, c Call) (*http.Request, error) {
	scheme := "http://"
	if at.Leaf != nil {
		scheme = "https://"
		ctx = context.WithValue(ctx, leafKey{}, at.Leaf)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+at.Address+c.Path, bytes.NewReader(c.Body))
	if err != nil {
		return nil, ErrGone // invalid address
	}
	for name, values := range c.Header {
		if strings.HasPrefix(name, "Mcp-") || name == "Accept" || name == "Content-Type" || name == "Traceparent" || name == "Tracestate" || name == "X-Request-Id" {
			req.Header[name] = values
		}
	}
	signed, err := signature(at.Secret, req.Method, req.URL.RequestURI(), c.Body, c.Principal)
	req.Header[Header] = []string{signed}
	return req, err
}

// readStream reads Server-Sent Events in our doors' format, one line each, up to the response.
func readStream(r io.Reader, c Call) ([]byte, error) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, err := lines.ReadSlice('\n')
		if int64(len(line)+len(part)) > c.MaxBytes+100 {
			return nil, errTooLong
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if message, isData := bytes.CutPrefix(bytes.TrimRight(line, "\r\n"), []byte("data: ")); isData && err == nil {
			switch {
			case len(message) == 0:
			case rawjson.Get(message, "method") == nil:
				return bytes.Clone(message), nil
			default:
				c.Notify(message)
			}
		}
		line = line[:0]
		switch {
		case errors.Is(err, io.EOF):
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		}
	}
}

// newClient returns a client only for replicas: no proxy, no redirects.
func newClient(opt Options) *http.Client {
	dialer := &net.Dialer{Timeout: 2 * time.Second}
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
			DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				return dialPinned(ctx, opt, dialer, network, addr)
			},
		},
	}
}

type leafKey struct{}

// dialPinned opens a TLS connection to a server with the announced certificate, whatever its name.
// If that is our own certificate, it also presents ours.
func dialPinned(ctx context.Context, opt Options, dialer *net.Dialer, network, addr string) (net.Conn, error) {
	want, _ := ctx.Value(leafKey{}).([]byte)
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // compared with the announced certificate
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 0 {
				return errors.New("no certificate")
			}
			if sum := sha256.Sum256(c.PeerCertificates[0].Raw); !bytes.Equal(sum[:], want) {
				return errors.New("not the certificate that the replica has announced")
			}
			return nil
		},
	}
	if own := opt.own(); own != nil {
		if sum := sha256.Sum256(own.Certificate[0]); bytes.Equal(sum[:], want) {
			config.ServerName = opt.ServerName
			config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return own, nil }
		}
	}
	return (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, network, addr)
}

func (o Options) own() *tls.Certificate {
	if o.Own == nil {
		return nil
	}
	return o.Own()
}
