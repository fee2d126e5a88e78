package app

import (
	"runtime/debug"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"secateur/internal/config"
	"secateur/internal/front/budget"
)

// Bounds of the bytes in flight where the file does not say how many there may be.
const (
	leastInFlight   = 32 << 20
	mostInFlight    = 2 << 30
	unknownInFlight = 256 << 20 // where it cannot be told how much memory there is
)

// openBudget bounds what all requests under way may hold, and connections. Originals in the same memory count too.
func (a *App) openBudget() {
	a.connections = newConnections(forConnections(budget.Memory()), a.registry, a.log)
	a.budget = budget.New(inFlightLimit(a.cfg), func() int64 { return a.heapOfStore() + a.connections.bytes.Load() + a.connections.charged.Load() })
	gauge := func(name, help string, value func() int64) {
		a.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
	}
	gauge("secateur_in_flight_bytes", "Bytes that requests under way hold.", a.budget.InFlight)
	gauge("secateur_in_flight_bytes_limit", "Bytes that they may hold.", a.budget.Limit)
}

// inFlightLimit is how many bytes a configuration lets be in flight.
func inFlightLimit(cfg config.Settings) int64 {
	if cfg.MaxInFlightBytes > 0 {
		return cfg.MaxInFlightBytes
	}
	return inFlight(budget.Memory())
}

// inFlight is how many bytes may be in flight in so much memory. A result is there several times over while it is cut.
func inFlight(memory int64) int64 {
	if memory <= 0 {
		return unknownInFlight
	}
	return min(max(memory/8, leastInFlight), mostInFlight)
}

// limitHeap has the garbage collector work harder where the memory comes to its end (GOMEMLIMIT), until the returned
// function is called. An operator who has set that himself is left alone.
func (a *App) limitHeap() (stop func()) {
	memory := budget.Memory()
	if memory <= 0 || slices.ContainsFunc(a.opt.Environ, func(e string) bool { return strings.HasPrefix(e, "GOMEMLIMIT=") }) {
		return func() {}
	}
	before := debug.SetMemoryLimit(memory / 10 * 9)
	return func() { debug.SetMemoryLimit(before) }
}
