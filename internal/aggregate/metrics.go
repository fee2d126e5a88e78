package aggregate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count what passes this door. Labels come from closed sets: configured servers, known methods, fixed words.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	waiting  prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_mcp_requests_total", Help: "Requests of MCP clients by server, method and outcome.",
		}, []string{"server", "method", "outcome"}),
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
	m      *metrics
	began  time.Time
	method string
	server string // "": answered here
}

func (m *metrics) begin(method string) timing {
	return timing{m: m, began: time.Now(), method: methodLabel(method)}
}

func (t *timing) end(outcome string) {
	if outcome == "" {
		outcome = "internal_error"
	}
	t.m.requests.WithLabelValues(t.server, t.method, outcome).Inc()
	t.m.seconds.WithLabelValues(t.server, t.method).Observe(time.Since(t.began).Seconds())
}

// methodLabel keeps what clients make up out of the labels.
func methodLabel(method string) string {
	switch method {
	case "initialize", "server/discover", "ping", "tools/list", "tools/call", "resources/list", "resources/read",
		"resources/templates/list", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen", "prompts/list",
		"prompts/get", "completion/complete", "logging/setLevel", "tasks/get", "tasks/update", "tasks/cancel",
		"tasks/result", "tasks/list":
		return method
	}
	return "other"
}
