package cutting

import "github.com/prometheus/client_golang/prometheus"

// metrics count a door's cuts. Labels come from a closed set: configured servers.
type metrics struct {
	cuts   *prometheus.CounterVec
	bytes  *prometheus.CounterVec
	unkept *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, door string) metrics {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "secateur_" + door + "_" + name, Help: help}, []string{"server"})
	}
	m := metrics{
		cuts:   counter("masked_total", "Texts cut in results."),
		bytes:  counter("cut_bytes_total", "Bytes cut out of results, markers counted against."),
		unkept: counter("unmasked_total", "Texts that passed whole because the store refused their original."),
	}
	if reg != nil {
		reg.MustRegister(m.cuts, m.bytes, m.unkept)
	}
	return m
}

func (m *metrics) cut(server string, cuts, saved int) {
	m.cuts.WithLabelValues(server).Add(float64(cuts))
	m.bytes.WithLabelValues(server).Add(float64(max(saved, 0)))
}
