package provider_test

import (
	"context"
	"log/slog"
	"math"

	"secateur/internal/llm/proxy"
)

// listener hears what the program tells beside the headers of answers: its log, and what savings are made of.
type listener struct {
	logged         float64 // the ratio of the last answered request
	spent, through float64 // of all requests
}

// Enabled is true: also what is not cut is told.
func (*listener) Enabled(context.Context, slog.Level) bool { return true }

// Handle reads a line of the log.
func (l *listener) Handle(_ context.Context, line slog.Record) error {
	if line.Message == "chat request passed" {
		line.Attrs(func(a slog.Attr) bool {
			if a.Key == "bill_ratio" {
				l.logged = a.Value.Float64()
			}
			return true
		})
	}
	return nil
}

// WithAttrs changes nothing.
func (l *listener) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup changes nothing.
func (l *listener) WithGroup(string) slog.Handler { return l }

// Settled adds up what savings tell.
func (l *listener) Settled(_ context.Context, s proxy.Settled) {
	l.spent += s.Spent
	l.through += s.Passthrough
}

// Cut is of no interest.
func (*listener) Cut(context.Context, proxy.ResultCut) {}

// among is how much further than the ratio of one conversation that of all together may be off: one in which nothing was cut stands for more beside one
// of which a tenth is left, by whose tokens it is measured.
const among = 0.01

// checkTold holds the header, the log and the savings of all conversations against the provider's bills. The header of a stream goes out before the
// provider has counted.
// What it has cost to read results again is told with the bill.
func (w *world) checkTold(k *talk, header float64) {
	w.t.Helper()
	b, all := w.path(k), w.sent
	b.Through -= w.owed
	all.Through -= w.owed
	truth := b.Ratio()
	told := map[string]float64{"log": w.told.logged}
	if !k.streams() {
		told["header"] = header
	}
	for by, ratio := range told {
		off := math.Abs(ratio - truth)
		if w.off = max(w.off, off); off > w.within {
			w.t.Errorf("%s at message %d: the %s tells %.4f, the true ratio is %.4f", k.name, len(k.messages), by, ratio, truth)
		}
	}
	if saved := w.told.spent / w.told.through; math.Abs(saved-all.Ratio()) > w.within+among {
		w.t.Errorf("%s at message %d: savings tell %.4f, the true ratio is %.4f", k.name, len(k.messages), saved, all.Ratio())
	}
}
