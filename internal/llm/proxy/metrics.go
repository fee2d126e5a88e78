package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count the requests of this door. Labels come from closed sets: configured providers,
// fixed words.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	masked   *prometheus.CounterVec
	pruned   *prometheus.CounterVec
	saved    *prometheus.CounterVec
	ratio    *prometheus.HistogramVec
	unkept   *prometheus.CounterVec
	bound    *prometheus.CounterVec
	troubles prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "secateur_chat_" + name, Help: help}, labels)
	}
	m := metrics{
		requests: counter("requests_total", "Requests by provider and outcome.", "provider", "outcome"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "secateur_chat_request_seconds", Help: "Time from a request to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 9),
		}, []string{"provider"}),
		masked: counter("masked_results_total", "Tool results that went out masked, counted in every request.", "provider"),
		pruned: counter("pruned_results_total", "Tool results that went out pruned, counted in every request.", "provider"),
		saved:  counter("tokens_saved_total", "Estimated tokens that masking and pruning took from requests.", "provider"),
		ratio: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "secateur_chat_bill_ratio", Help: "Bills of conversations so far over those of passing through, as answers have told them.",
			Buckets: prometheus.LinearBuckets(0.1, 0.1, 12),
		}, []string{"provider"}),
		unkept: counter("unmasked_total", "Tool results that went out whole because the store refused their original.", "provider"),
		bound:  counter("bound_refusals_total", "Requests with cuts that a provider refused since its thinking is bound to another conversation.", "provider"),
		troubles: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "secateur_chat_masking_failures_total", Help: "Requests that went out as they came because masking failed.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.masked, m.pruned, m.saved, m.ratio, m.unkept, m.bound, m.troubles)
	}
	return m
}

// request counts the outcome of a request; to is nil if it had no provider yet.
func (m *metrics) request(to *provider, how outcome) {
	name := "none"
	if to != nil {
		name = to.name
	}
	m.requests.WithLabelValues(name, string(how)).Inc()
}

func (m *metrics) took(to *provider, began time.Time) {
	m.seconds.WithLabelValues(to.name).Observe(time.Since(began).Seconds())
}

func (m *metrics) effect(to *provider, e effect, pruned int) {
	m.masked.WithLabelValues(to.name).Add(float64(e.masked))
	m.pruned.WithLabelValues(to.name).Add(float64(pruned))
	m.saved.WithLabelValues(to.name).Add(float64(max(e.saved, 0)))
	m.ratio.WithLabelValues(to.name).Observe(e.ratio)
}
