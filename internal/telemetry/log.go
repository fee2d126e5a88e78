package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// NewLogger writes to w: one JSON object a line if structured, else text.
func NewLogger(w io.Writer, level slog.Level, structured bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if structured {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// ParseLevel reads a level as configuration files spell it: DEBUG, INFO, WARNING or WARN, ERROR, CRITICAL, in any case.
func ParseLevel(s string) (slog.Level, error) {
	switch strings.ToUpper(s) {
	case "DEBUG":
		return slog.LevelDebug, nil
	case "INFO", "":
		return slog.LevelInfo, nil
	case "WARN", "WARNING":
		return slog.LevelWarn, nil
	case "ERROR", "CRITICAL":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("%q is not a level; use DEBUG, INFO, WARNING or ERROR", s)
}
