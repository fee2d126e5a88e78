package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// maxHeaderBytes limits the headers of a provider's response.
const maxHeaderBytes = 256 << 10

// newTransport returns an HTTP/1.1 transport. Each response has its own connection, so none delays
// another, and a retried request is known to be unwritten. It neither asks for compression nor
// undoes it.
func newTransport(patience time.Duration) *http.Transport {
	var only http.Protocols
	only.SetHTTP1(true)
	dialer := &net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return wire{conn}, nil
		},
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: patience,
		MaxIdleConns:          256,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       30 * time.Second,
		DisableCompression:    true,

		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         32 << 10,
		WriteBufferSize:        32 << 10,
		Protocols:              &only,
	}
}

// wire is a connection to a provider that sends a request body directly, in one piece. net/http
// would copy it through its own buffer.
type wire struct{ net.Conn }

// ReadFrom sends a request's body.
func (c wire) ReadFrom(r io.Reader) (int64, error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if body, ok := limited.R.(*bufferReader); ok {
			n, err := body.writeTo(c.Conn, limited.N)
			limited.N -= n
			return n, err
		}
	}
	return io.Copy(c.Conn, r)
}
