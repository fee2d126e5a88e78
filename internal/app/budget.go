package app

import (
	"runtime/debug"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/config"
	"secateur/internal/front/budget"
)

// Bounds of the bytes in flight if the file does not set a limit.
const (
	leastInFlight   = 32 << 20
	mostInFlight    = 2 << 30
	unknownInFlight = 256 << 20 // if the size of the memory is unknown
)

// openBudget bounds the memory of requests in flight and of connections. Originals in memory count
// too.
func (a *App) openBudget() {
	a.connections = newConnections(forConnections(budget.Memory()), a.registry, a.log)
	a.budget = budget.New(inFlightLimit(a.cfg), func() int64 { return a.heapOfStore() + a.connections.bytes.Load() + a.connections.charged.Load() })
	gauge := func(name, help string, value func() int64) {
		a.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
	}
	gauge("secateur_in_flight_bytes", "Bytes that requests under way hold.", a.budget.InFlight)
	gauge("secateur_in_flight_bytes_limit", "Bytes that they may hold.", a.budget.Limit)
}

// inFlightLimit returns how many bytes a configuration allows in flight.
func inFlightLimit(cfg config.Settings) int64 {
	if cfg.MaxInFlightBytes > 0 {
		return cfg.MaxInFlightBytes
	}
	return inFlight(budget.Memory())
}

// inFlight returns how many bytes may be in flight with this much memory. A result exists several
// times while it is cut.
func inFlight(memory int64) int64 {
	if memory <= 0 {
		return unknownInFlight
	}
	return min(max(memory/8, leastInFlight), mostInFlight)
}

// limitHeap makes the garbage collector work harder near the memory limit (GOMEMLIMIT), until stop
// is called. It does nothing if the operator has set GOMEMLIMIT.
func (a *App) limitHeap() (stop func()) {
	memory := budget.Memory()
	if memory <= 0 || slices.ContainsFunc(a.opt.Environ, func(e string) bool { return strings.HasPrefix(e, "GOMEMLIMIT=") }) {
		return func() {}
	}
	before := debug.SetMemoryLimit(memory / 10 * 9)
	return func() { debug.SetMemoryLimit(before) }
}
