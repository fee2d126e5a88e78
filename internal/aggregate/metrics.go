package aggregate

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access"
	"secateur/internal/events"
	"secateur/internal/rpc"
	"secateur/internal/telemetry"
)

// metrics count what passes this door. Labels come from closed sets: configured servers, methods of the protocol, tools that are
// listed, fixed words.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waiting  prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_mcp_requests_total", Help: "Requests of MCP clients by server, method, tool and outcome.",
		}, []string{"server", "method", "tool", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "secateur_mcp_request_seconds", Help: "Time from a whole request to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"server", "method"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "secateur_mcp_parked_calls", Help: "Calls that wait for their client to come back with an answer.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.waiting)
	}
	return m
}

// timing is one request being counted.
type timing struct {
	s         *Server
	began     time.Time
	method    string
	server    string // "": answered here
	tool      string // as the server calls it
	principal *access.Principal
	in        int // bytes
	span      telemetry.Span
}

func (s *Server) begin(req *rpc.Message, span telemetry.Span) timing {
	return timing{s: s, began: time.Now(), method: telemetry.MethodLabel(req.Method), in: len(req.Raw), span: span}
}

// goesTo notes which server answers, and with which of its tools.
func (t *timing) goesTo(server, tool string) {
	t.server, t.tool = server, tool
}

// end counts the request and tells of it.
func (t *timing) end(ctx context.Context, outcome string, out int) {
	if outcome == "" {
		outcome = "internal_error"
	}
	took := time.Since(t.began)
	tool := t.s.opt.Tools.Label(t.server, t.tool) // known only now where the server has just started
	t.s.metrics.requests.WithLabelValues(t.server, t.method, tool, outcome).Inc()
	t.s.metrics.seconds.WithLabelValues(t.server, t.method).Observe(took.Seconds())
	t.span.Name(t.method, t.server, tool)
	t.span.End(outcome)
	if t.s.opt.Events != nil {
		t.s.opt.Events.PublishRequest(events.Request{
			RequestID: telemetry.RequestID(ctx), Door: string(access.DoorMCP), Server: t.server, Method: t.method, Tool: tool,
			Outcome: outcome, MS: float64(took.Microseconds()) / 1000, BytesIn: int64(t.in), BytesOut: int64(out), Subject: t.principal.Name(),
		})
	}
}
