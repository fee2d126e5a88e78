package telemetry

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing creates spans for requests and sends them to an OTLP collector. The nil *Tracing creates
// none, and costs nothing.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// TracingOptions configure a Tracing.
type TracingOptions struct {
	Settings Settings
	Version  string
	Log      *slog.Logger // nil discards
}

// NewTracing returns a Tracing, or nil if no endpoint is set.
func NewTracing(ctx context.Context, opt TracingOptions) (*Tracing, error) {
	if opt.Settings.OTLPEndpoint == "" {
		return nil, nil //nolint:nilnil // the nil *Tracing is off
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	exporter, err := otlptrace.New(ctx, newCollector(opt.Settings, opt.Log))
	if err != nil {
		return nil, err
	}
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(batchTime)),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(opt.Settings.Sample))),
		sdktrace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", opt.Settings.ServiceName), attribute.String("service.version", opt.Version),
		)),
	)
	return &Tracing{provider: provider, tracer: provider.Tracer("secateur")}, nil
}

const (
	batchTime = 2 * time.Second  // batch interval of spans
	flushTime = 10 * time.Second // maximum wait for the collector at the end
)

// Close sends the remaining spans.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // an unreachable collector must not prevent the exit
	return nil
}

// StartHTTP starts the span of an HTTP request to a route, in the trace of the client's headers.
func (t *Tracing) StartHTTP(ctx context.Context, r *http.Request, route string) (context.Context, Span) {
	ctx = withRemote(ctx, headerCarrier(r.Header))
	if t == nil {
		return ctx, Span{}
	}
	if _, path, found := strings.Cut(route, " "); found {
		route = path
	}
	ctx, span := t.tracer.Start(ctx, r.Method+" "+route, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("http.route", route),
		attribute.String("secateur.request_id", RequestID(ctx))))
	return ctx, Span{span}
}

// StartMessage starts the span of a JSON-RPC message. Its trace is that of its params._meta, else
// that of its HTTP request. If tracing is off, it only forwards the trace.
func StartMessage(ctx context.Context, meta []byte) (context.Context, Span) {
	outer := trace.SpanContextFromContext(ctx)
	if mayName(meta) {
		ctx = withRemote(ctx, metaCarrier(meta))
	}
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok || s.tracing == nil {
		return ctx, Span{}
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("secateur.request_id", s.id))}
	if inner := trace.SpanContextFromContext(ctx); outer.IsValid() && !inner.Equal(outer) {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: outer}))
	}
	ctx, span := s.tracing.tracer.Start(ctx, "message", options...)
	return ctx, Span{span}
}

// StartProvider starts the span of an HTTP request to a model provider.
func StartProvider(ctx context.Context, provider, method, path string) (context.Context, Span) {
	s, ok := ctx.Value(scopeKey{}).(*scope)
	if !ok || s.tracing == nil {
		return ctx, Span{}
	}
	ctx, span := s.tracing.tracer.Start(ctx, method+" "+path, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("gen_ai.provider.name", provider), attribute.String("http.request.method", method)))
	return ctx, Span{span}
}

// Span is a traced operation. The zero value traces nothing.
type Span struct{ span trace.Span }

// Name sets the method, server and tool of a message. All are from closed sets; server and tool may
// be "".
func (s Span) Name(method, server, tool string) {
	if s.span == nil {
		return
	}
	name := method
	switch {
	case server != "" && tool != "":
		name += " " + server + "::" + tool
	case server != "":
		name += " " + server
	}
	s.span.SetName(name)
	s.span.SetAttributes(attribute.String("mcp.method.name", method), attribute.String("secateur.server", server), attribute.String("secateur.tool", tool))
}

// Status records the status of an HTTP response.
func (s Span) Status(code int) {
	if s.span == nil {
		return
	}
	s.span.SetAttributes(attribute.Int("http.response.status_code", code))
	if code >= http.StatusInternalServerError {
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the span with an outcome.
func (s Span) End(outcome string) {
	if s.span == nil {
		return
	}
	if outcome != "" {
		s.span.SetAttributes(attribute.String("secateur.outcome", outcome))
		if outcome != "ok" && outcome != "notification" {
			s.span.SetStatus(codes.Error, outcome)
		}
	}
	s.span.End()
}

// UntilClosed ends the span when a body is closed. A body that is also a Writer ends it at once:
// the life of such a connection says nothing about the request.
func (s Span) UntilClosed(body io.ReadCloser) io.ReadCloser {
	if s.span == nil {
		return body
	}
	if _, both := body.(io.Writer); both {
		s.span.End()
		return body
	}
	return &spannedBody{body, s}
}

type spannedBody struct {
	io.ReadCloser
	span Span
}

func (b *spannedBody) Close() error {
	b.span.End("")
	return b.ReadCloser.Close()
}
