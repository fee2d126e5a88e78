package gateway

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/events"
	"secateur/internal/telemetry"
	"secateur/internal/upstream"
)

// metrics count what passes this door. Labels come from closed sets: configured servers, methods of the protocol, tools that are
// listed, fixed words.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_gateway_requests_total", Help: "Requests by server, method, tool and outcome.",
		}, []string{"server", "method", "tool", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "secateur_gateway_request_seconds", Help: "Time from a request to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"server", "method"}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds)
	}
	return m
}

// timing is one request being counted.
type timing struct {
	g         *Gateway
	began     time.Time
	server    string // telemetry.Other: there is none of this id
	method    string
	tool      string // as the caller says
	principal *access.Principal
	in, out   int // bytes
	span      telemetry.Span
}

// about notes what the request asks for.
func (t *timing) about(method, name string) {
	t.method = telemetry.MethodLabel(method)
	if method == "tools/call" {
		t.tool = name
	}
}

// end counts the request and tells of it.
func (t *timing) end(ctx context.Context, outcome string) {
	if outcome == "" {
		outcome = "internal_error"
	}
	took := time.Since(t.began)
	tool := t.g.opt.Tools.Label(t.server, t.tool) // known only now where the server has just started
	t.g.metrics.requests.WithLabelValues(t.server, t.method, tool, outcome).Inc()
	t.g.metrics.seconds.WithLabelValues(t.server, t.method).Observe(took.Seconds())
	t.span.Name(t.method, t.server, tool)
	t.span.End(outcome)
	if t.g.opt.Events != nil {
		t.g.opt.Events.PublishRequest(events.Request{
			RequestID: telemetry.RequestID(ctx), Door: string(access.DoorGateway), Server: t.server, Method: t.method, Tool: tool,
			Outcome: outcome, MS: float64(took.Microseconds()) / 1000, BytesIn: int64(t.in), BytesOut: int64(t.out), Subject: t.principal.Name(),
		})
	}
}

// outcomeOf tells an answer from a server's own error.
func outcomeOf(r *upstream.Reply) string {
	if r.Error != nil {
		return "server_error"
	}
	return "ok"
}
