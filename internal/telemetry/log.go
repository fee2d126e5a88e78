package telemetry

import (
	"context"
	"io"
	"log/slog"
)

// NewLogger writes to w: one JSON object a line if structured, else text. A line about a request has its id as request_id.
func NewLogger(w io.Writer, level slog.Leveler, structured bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if structured {
		return slog.New(requestLog{slog.NewJSONHandler(w, opts)})
	}
	return slog.New(requestLog{slog.NewTextHandler(w, opts)})
}

// requestLog adds the id of the request that a line's context is of.
type requestLog struct{ slog.Handler }

// Handle writes a line.
func (h requestLog) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r = r.Clone()
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs adds attributes to every line.
func (h requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{h.Handler.WithAttrs(attrs)}
}

// WithGroup puts the attributes that follow under a name.
func (h requestLog) WithGroup(name string) slog.Handler {
	return requestLog{h.Handler.WithGroup(name)}
}
