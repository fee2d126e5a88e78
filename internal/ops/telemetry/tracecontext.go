package telemetry

import (
	"bytes"
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"secateur/internal/rawjson"
)

// Which trace a request belongs to travels as W3C Trace Context: in the headers traceparent and tracestate, and for MCP in
// params._meta under the same names (SEP-414).
const (
	traceparent = "traceparent"
	tracestate  = "tracestate"
)

// headerCarrier reads headers, of which net/http has changed the names.
type headerCarrier http.Header

func (c headerCarrier) Get(key string) string {
	if key == traceparent { // every request is asked for it: one allocation less than Get, which has to change the name
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

// mayName tells whether params._meta may name a trace, at little cost: most name none.
func mayName(meta []byte) bool { return bytes.Contains(meta, []byte(traceparent)) }

// withRemote gives ctx the trace that a client names; the same ctx where it names none, or not as the specification says.
func withRemote(ctx context.Context, from propagation.TextMapCarrier) context.Context {
	if from.Get(traceparent) == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, from)
}

// TraceHeader gives headers that tell whoever gets an HTTP request the trace that ctx is of: a copy, or the same where there is
// nothing to tell.
func TraceHeader(ctx context.Context, h http.Header) http.Header {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return h
	}
	h = h.Clone()
	h.Del(tracestate)
	propagation.TraceContext{}.Inject(ctx, headerCarrier(h))
	return h
}

// TraceParams gives the params of a request that tell a server the trace that ctx is of; the same slice where there is nothing to
// tell, or no place for it. Meta is what they have as _meta.
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
