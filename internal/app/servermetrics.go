package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/access/limit"
	"secateur/internal/mcp/pool"
	"secateur/internal/mcp/upstream"
)

// serverMetrics report the state of the servers when scraped. Labels are the ids in the
// configuration.
type serverMetrics struct {
	status               func() []pool.Status
	up, restarts, flight *prometheus.Desc
}

func newServerMetrics(status func() []pool.Status) *serverMetrics {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, []string{"server"}, nil)
	}
	return &serverMetrics{
		status:   status,
		up:       desc("secateur_server_up", "1 if a server can be called, else 0."),
		restarts: desc("secateur_server_restarts_total", "How often it was started again."),
		flight:   desc("secateur_server_in_flight", "Calls that it has not answered yet."),
	}
}

// Describe sends the descriptions of the metrics.
func (m *serverMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.up
	ch <- m.restarts
	ch <- m.flight
}

// Collect sends their values.
func (m *serverMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, s := range m.status() {
		if s.State == upstream.Disabled || s.State == upstream.Held {
			continue
		}
		up := 0.0
		if s.State == upstream.Ready || s.State == upstream.Degraded {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(m.up, prometheus.GaugeValue, up, s.ID)
		ch <- prometheus.MustNewConstMetric(m.restarts, prometheus.CounterValue, float64(s.Restarts), s.ID)
		ch <- prometheus.MustNewConstMetric(m.flight, prometheus.GaugeValue, float64(s.InFlight), s.ID)
	}
}

// limitMetrics report how many calls are queued. Labels are the names of limits.
type limitMetrics struct {
	usage  func() []limit.Usage
	queued *prometheus.Desc
}

func newLimitMetrics(usage func() []limit.Usage) *limitMetrics {
	return &limitMetrics{usage, prometheus.NewDesc("secateur_queued", "Calls that wait for their turn, by limit.", []string{"limit"}, nil)}
}

// Describe sends the description of the metric.
func (m *limitMetrics) Describe(ch chan<- *prometheus.Desc) { ch <- m.queued }

// Collect sends its values.
func (m *limitMetrics) Collect(ch chan<- prometheus.Metric) {
	queued := map[string]int{}
	for _, u := range m.usage() {
		queued[u.Limit] += u.Queued
	}
	for limit, n := range queued {
		ch <- prometheus.MustNewConstMetric(m.queued, prometheus.GaugeValue, float64(n), limit)
	}
}
