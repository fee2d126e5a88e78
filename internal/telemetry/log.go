package telemetry

import (
	"io"
	"log/slog"
)

// NewLogger writes to w: one JSON object a line if structured, else text.
func NewLogger(w io.Writer, level slog.Level, structured bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if structured {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}
