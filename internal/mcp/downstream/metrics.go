package downstream

import "github.com/prometheus/client_golang/prometheus"

// metrics count answers, refusals and streams. Labels come from closed sets.
type metrics struct {
	answers *prometheus.CounterVec
	refused *prometheus.CounterVec
	streams prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer, sessions func() int) metrics {
	m := metrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_mcp_http_answers_total", Help: "Answers to MCP clients over HTTP by how they went out.",
		}, []string{"as"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_mcp_http_refused_total", Help: "HTTP requests of MCP clients that got no further, by the word for why.",
		}, []string{"code"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "secateur_mcp_http_streams", Help: "Open streams of events to MCP clients.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.answers, m.refused, m.streams, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "secateur_mcp_http_sessions", Help: "Open sessions of MCP clients over HTTP.",
		}, func() float64 { return float64(sessions()) }))
	}
	return m
}

// answered counts the answer to a POST.
func (m *metrics) answered(as string, here bool) {
	if !here {
		as = asNone
	}
	m.answers.WithLabelValues(as).Inc()
}

// The forms of an answer.
const (
	asJSON   = "json"
	asStream = "stream"
	asNone   = "client_gone"
)
