// Package telemetrytest reads metrics in tests.
package telemetrytest

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Sum adds up the samples of a counter or gauge with these labels: name, value, name, value.
func Sum(tb testing.TB, reg prometheus.Gatherer, metric string, labels ...string) (sum float64) {
	tb.Helper()
	families, err := reg.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	wanted := map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		wanted[labels[i]] = labels[i+1]
	}
	for _, f := range families {
		if f.GetName() != metric {
			continue
		}
		for _, m := range f.GetMetric() {
			found := 0
			for _, l := range m.GetLabel() {
				if value, ok := wanted[l.GetName()]; ok && value == l.GetValue() {
					found++
				}
			}
			if found == len(wanted) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}
