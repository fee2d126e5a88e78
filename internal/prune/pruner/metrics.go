package pruner

import "github.com/prometheus/client_golang/prometheus"

// metrics count the pruner's work. Labels are fixed words.
type metrics struct {
	prunes     *prometheus.CounterVec
	lines      *prometheus.CounterVec
	tokens     prometheus.Gauge
	seconds    prometheus.Histogram
	recoveries *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		prunes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_pruner_prunes_total", Help: "Texts pruned, by backend and by why one was given back whole or pruned without its backend.",
		}, []string{"backend", "fallback"}),
		lines: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_pruner_lines_total", Help: "Lines of the texts, by what became of them.",
		}, []string{"fate"}),
		tokens: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "secateur_pruner_tokens_saved", Help: "Tokens saved since the start, an estimate, what markers cost netted.",
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "secateur_pruner_prune_seconds", Help: "Time a prune takes, a reranker's included.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9),
		}),
		recoveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_pruner_recoveries_total", Help: "Originals asked for, by outcome.",
		}, []string{"outcome"}),
	}
	if reg != nil {
		reg.MustRegister(m.prunes, m.lines, m.tokens, m.seconds, m.recoveries)
	}
	return m
}

func (m *metrics) pruned(s Stats, fallback string) {
	switch {
	case fallback != "":
	case s.UsedFallback:
		fallback = "backend"
	default:
		fallback = "none"
	}
	m.prunes.WithLabelValues(s.Backend, fallback).Inc()
	m.lines.WithLabelValues("kept").Add(float64(s.KeptLines))
	m.lines.WithLabelValues("pruned").Add(float64(s.PrunedLines()))
	m.tokens.Add(float64(s.TokensSaved()))
	m.seconds.Observe(s.Elapsed.Seconds())
}
