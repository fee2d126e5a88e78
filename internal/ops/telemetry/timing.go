package telemetry

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/ops/events"
)

// Requests count what passes a door. Labels come from closed sets: configured servers, methods of the protocol, tools that are
// listed, fixed words.
type Requests struct {
	total   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
}

// RequestsOptions are how a door's metrics are called.
type RequestsOptions struct {
	Total, TotalHelp     string // how many there were, by server, method, tool and outcome
	Seconds, SecondsHelp string // how long each took, by server and method
}

// NewRequests makes the metrics of a door and registers them, unless reg is nil.
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

// Timing is one request being counted.
type Timing struct {
	Requests Requests
	Tools    *ToolLabels  // nil: no tool has a label of its own
	Events   *events.Feed // nil: nobody listens
	Span     Span

	Began   time.Time
	Door    string
	Server  string // "": answered here; Other: there is none of this id
	Method  string // as MethodLabel gives it
	Tool    string // as the server calls it
	Subject string // of the caller
	In, Out int    // bytes
}

// End counts the request and tells of it.
func (t *Timing) End(ctx context.Context, outcome string) {
	if outcome == "" {
		outcome = "internal_error"
	}
	took := time.Since(t.Began)
	tool := t.Tools.Label(t.Server, t.Tool) // known only now where the server has just started
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
