package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcomes of a reload, as metric labels.
const (
	ReloadOK      = "ok"
	ReloadInvalid = "invalid" // the file has mistakes
	ReloadFailed  = "failed"
)

// Reloads counts reloads of the configuration.
type Reloads struct {
	total      *prometheus.CounterVec
	successful prometheus.Gauge
	at         prometheus.Gauge
}

// NewReloads returns Reloads. The initial configuration counts as a success.
func NewReloads(reg prometheus.Registerer, now time.Time) *Reloads {
	r := &Reloads{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "secateur_reloads_total", Help: "How often the configuration was read again, by outcome.",
		}, []string{"outcome"}),
		successful: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "secateur_config_last_reload_successful", Help: "1 if the configuration was taken when it was last read, else 0.",
		}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "secateur_config_last_reload_success_timestamp_seconds", Help: "When a configuration was last taken.",
		}),
	}
	for _, outcome := range []string{ReloadOK, ReloadInvalid, ReloadFailed} {
		r.total.WithLabelValues(outcome) // so that a rate exists from the first one on
	}
	r.successful.Set(1)
	r.at.Set(float64(now.UnixMilli()) / 1000)
	reg.MustRegister(r.total, r.successful, r.at)
	return r
}

// Done counts a reload.
func (r *Reloads) Done(outcome string, now time.Time) {
	r.total.WithLabelValues(outcome).Inc()
	if outcome != ReloadOK {
		r.successful.Set(0)
		return
	}
	r.successful.Set(1)
	r.at.Set(float64(now.UnixMilli()) / 1000)
}
