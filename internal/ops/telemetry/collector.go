package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"secateur/internal/secret"
)

// collector sends spans to an OTLP collector over HTTP, as protobuf. The client library's own
// sender reads addresses and headers from the environment and depends on gRPC.
type collector struct {
	url     string
	headers http.Header
	client  *http.Client
	log     *slog.Logger
	failed  Seldom
}

const (
	collectorTime  = 10 * time.Second
	collectorTries = 3
)

func newCollector(s Settings, log *slog.Logger) *collector {
	c := &collector{url: strings.TrimRight(s.OTLPEndpoint, "/") + "/v1/traces", headers: http.Header{}, log: log}
	for name, value := range s.OTLPHeaders {
		c.headers.Set(name, value.Reveal())
	}
	c.headers.Set("Content-Type", "application/x-protobuf")
	c.client = &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute},
		// A redirect could send the headers anywhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

// Start does nothing.
func (c *collector) Start(context.Context) error { return nil }

// Stop closes idle connections.
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. Spans that the collector refuses are lost, which is logged at most once
// a minute: traces are not worth waiting for.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the same encoding as the protocol's ExportTraceServiceRequest.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, collectorTime)
	defer cancel()
	wait := 200 * time.Millisecond
	for try := 1; ; try++ {
		err := c.post(ctx, body)
		if err == nil {
			return nil
		}
		if try == collectorTries || !errors.Is(err, errBusy) || !pause(ctx, wait) {
			c.failed.Warn(ctx, c.log, "traces not delivered", "err", err)
			return nil
		}
		wait *= 4
	}
}

// errBusy means that the collector may accept the same spans later.
var errBusy = errors.New("the collector is busy")

func (c *collector) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.headers.Clone()
	res, err := c.client.Do(req)
	if err != nil {
		return secret.WithoutURL(err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // lets the connection be reused
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("%w: it answers %s", errBusy, res.Status)
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the collector answers %s", res.Status)
	}
	return nil
}

// pause waits, and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
