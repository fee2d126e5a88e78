package app

import (
	"bytes"
	"context"
	"log"
	"log/slog"

	"secateur/internal/ops/telemetry"
)

// errorLog is what net/http writes its complaints to. That connections cannot be accepted, as when all file descriptors are
// in use, is for the operator; the rest is for those who look closely.
type errorLog struct {
	log    *slog.Logger
	accept telemetry.Seldom
}

func newErrorLog(to *slog.Logger) *log.Logger { return log.New(&errorLog{log: to}, "", 0) }

func (l *errorLog) Write(line []byte) (int, error) {
	ctx, text := context.Background(), string(bytes.TrimSpace(line))
	if bytes.Contains(line, []byte("Accept error")) {
		l.accept.Warn(ctx, l.log, "connections cannot be accepted", "err", text)
	} else {
		l.log.DebugContext(ctx, "http", "err", text)
	}
	return len(line), nil
}
