package gateway

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/upstream"
)

// metrics count what passes this door. Labels come from closed sets: configured servers, fixed words.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_gateway_requests_total", Help: "Requests by server and outcome.",
		}, []string{"server", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "secateur_gateway_request_seconds", Help: "Time from a whole request to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}, []string{"server"}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds)
	}
	return m
}

func (m *metrics) count(server, outcome string, began time.Time) {
	m.requests.WithLabelValues(server, outcome).Inc()
	m.seconds.WithLabelValues(server).Observe(time.Since(began).Seconds())
}

func (m *metrics) failed(server, code string) {
	if code == "" {
		code = "internal"
	}
	m.requests.WithLabelValues(server, code).Inc()
}

// outcomeOf tells an answer from a server's own error.
func outcomeOf(r *upstream.Reply) string {
	if r.Error != nil {
		return "server_error"
	}
	return "ok"
}
