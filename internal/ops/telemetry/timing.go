package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/ops/events"
)

// Requests are the request metrics of a door. Labels come from closed sets: configured servers,
// protocol methods, listed tools, fixed words.
type Requests struct {
	total   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// RequestsOptions name a door's metrics.
type RequestsOptions struct {
	Total, TotalHelp     string // number of requests, by server, method, tool and outcome
	Seconds, SecondsHelp string // duration, by server and method
}

// NewRequests creates the metrics of a door, and registers them unless reg is nil.
func NewRequests(reg prometheus.Registerer, opt RequestsOptions) Requests {
	r := Requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: opt.Total, Help: opt.TotalHelp,
		}, []string{"server", "method", "tool", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: opt.Seconds, Help: opt.SecondsHelp,
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"server", "method"}),
	}
	if reg != nil {
		reg.MustRegister(r.total, r.seconds)
	}
	return r
}

// Timing measures one request.
type Timing struct {
	Requests Requests
	Tools    *ToolLabels  // nil: tools have no labels
	Events   *events.Feed // nil: none
	Span     Span

	Began   time.Time
	Door    string
	Server  string // "": answered here; Other: unknown id
	Method  string // from MethodLabel
	Tool    string // the server's own name
	Subject string // of the caller
	In, Out int    // bytes
}

// End counts the request and publishes an event.
func (t *Timing) End(ctx context.Context, outcome string) {
	if outcome == "" {
		outcome = "internal_error"
	}
	took := time.Since(t.Began)
	tool := t.Tools.Label(t.Server, t.Tool) // may only be known now if the server has just started
	t.Requests.total.WithLabelValues(t.Server, t.Method, tool, outcome).Inc()
	t.Requests.seconds.WithLabelValues(t.Server, t.Method).Observe(took.Seconds())
	t.Span.Name(t.Method, t.Server, tool)
	t.Span.End(outcome)
	if t.Events != nil {
		t.Events.PublishRequest(events.Request{
			RequestID: RequestID(ctx), Door: t.Door, Server: t.Server, Method: t.Method, Tool: tool,
			Outcome: outcome, MS: float64(took.Microseconds()) / 1000, BytesIn: int64(t.In), BytesOut: int64(t.Out), Subject: t.Subject,
		})
	}
}
