package app

import (
	"bytes"
	"context"
	"log"
	"log/slog"

	"secateur/internal/ops/telemetry"
)

// errorLog receives net/http's error messages. Failures to accept connections, as when all file
// descriptors are in use, are logged for the operator; all others at debug level.
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
