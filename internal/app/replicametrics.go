package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/ops/replica"
)

// replicaMetrics counts the messages between replicas.
type replicaMetrics struct {
	messages *prometheus.Desc
	counted  func(replica.Counted) uint64
}

func newReplicaMetrics(counted func(replica.Counted) uint64) *replicaMetrics {
	return &replicaMetrics{
		messages: prometheus.NewDesc("secateur_replica_messages_total", "Messages to and from other replicas: news to act on, events to show.", []string{"kind", "fate"}, nil),
		counted:  counted,
	}
}

// Describe sends the metric's description.
func (m *replicaMetrics) Describe(out chan<- *prometheus.Desc) { out <- m.messages }

// Collect sends the counts.
func (m *replicaMetrics) Collect(out chan<- prometheus.Metric) {
	for _, c := range []struct {
		what       replica.Counted
		kind, fate string
	}{
		{replica.NewsSent, "news", "sent"},
		{replica.NewsReceived, "news", "received"},
		{replica.NewsLost, "news", "lost"},
		{replica.EventsSent, "event", "sent"},
		{replica.EventsReceived, "event", "received"},
		{replica.EventsLost, "event", "lost"},
	} {
		out <- prometheus.MustNewConstMetric(m.messages, prometheus.CounterValue, float64(m.counted(c.what)), c.kind, c.fate)
	}
}
