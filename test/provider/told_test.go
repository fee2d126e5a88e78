package provider_test

import (
	"context"
	"log/slog"
	"math"

	"secateur/internal/llm/proxy"
)

// listener receives the program's reports besides response headers: its log, and the data for
// savings.
type listener struct {
	logged         float64 // the ratio of the last answered request
	spent, through float64 // of all requests
}

// Enabled returns true: requests without cuts are logged too.
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

// Settled sums up the data for savings.
func (l *listener) Settled(_ context.Context, s proxy.Settled) {
	l.spent += s.Spent
	l.through += s.Passthrough
}

// Cut is ignored.
func (*listener) Cut(context.Context, proxy.ResultCut) {}

// Counted is ignored.
func (*listener) Counted(context.Context, proxy.Counted) {}

// among is how much further off the ratio of all conversations may be than that of one. A
// conversation without cuts weighs more beside one with a tenth left, whose tokens are the measure.
const among = 0.01

// checkTold compares the header, the log and the savings of all conversations with the provider's
// bills. A stream's header is sent before the provider's counts. The cost of reading results again
// is reported with the bill.
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
