package telemetry

import (
	"bytes"
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"secateur/internal/rawjson"
)

// Trace ids travel as W3C Trace Context: in the headers traceparent and tracestate, and for MCP in
// params._meta under the same names (SEP-414).
const (
	traceparent = "traceparent"
	tracestate  = "tracestate"
)

// headerCarrier reads headers with the canonical names of net/http.
type headerCarrier http.Header

func (c headerCarrier) Get(key string) string {
	// checked for every request: saves the allocation of Get for the canonical name
	if key == traceparent {
		if v := c["Traceparent"]; len(v) > 0 {
			return v[0]
		}
		return ""
	}
	return http.Header(c).Get(key)
}
func (c headerCarrier) Set(key, value string)      { http.Header(c).Set(key, value) }
func (headerCarrier) Keys() []string               { return nil }
func (c headerCarrier) Values(key string) []string { return http.Header(c).Values(key) }

// metaCarrier reads the members of params._meta.
type metaCarrier []byte

func (c metaCarrier) Get(key string) string {
	if !rawjson.IsObject(c) {
		return ""
	}
	return rawjson.GetText(c, key)
}
func (metaCarrier) Set(string, string) {}
func (metaCarrier) Keys() []string     { return nil }

// mayName is a cheap test for a trace in params._meta: most have none.
func mayName(meta []byte) bool { return bytes.Contains(meta, []byte(traceparent)) }

// withRemote returns a context with the client's trace, or ctx itself if there is none or it is
// invalid.
func withRemote(ctx context.Context, from propagation.TextMapCarrier) context.Context {
	if from.Get(traceparent) == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, from)
}

// TraceHeader returns a copy of headers with the trace of ctx, or h itself if there is none.
func TraceHeader(ctx context.Context, h http.Header) http.Header {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return h
	}
	h = h.Clone()
	h.Del(tracestate)
	propagation.TraceContext{}.Inject(ctx, headerCarrier(h))
	return h
}

// TraceParams returns the params of a request with the trace of ctx. It returns the same slice if
// there is no trace, or no place for it. meta is their _meta.
func TraceParams(ctx context.Context, params, meta []byte) []byte {
	if !trace.SpanContextFromContext(ctx).IsValid() || params != nil && !rawjson.IsObject(params) || meta != nil && !rawjson.IsObject(meta) {
		return params
	}
	told := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, told)
	if mayName(meta) && metaCarrier(meta).Get(traceparent) == told[traceparent] {
		return params
	}
	out := rawjson.Set(meta, traceparent, rawjson.AppendQuoted(nil, told[traceparent]))
	if state := told[tracestate]; state != "" {
		out = rawjson.Set(out, tracestate, rawjson.AppendQuoted(nil, state))
	} else {
		out = rawjson.Remove(out, tracestate)
	}
	return rawjson.Set(params, "_meta", out)
}
