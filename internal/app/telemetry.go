package app

import (
	"context"
	"fmt"
	"path/filepath"

	"secateur/internal/history"
	"secateur/internal/telemetry"
)

// openTelemetry makes what traces, and what remembers across restarts.
func (a *App) openTelemetry() error {
	ctx := context.Background()
	var err error
	if a.tracing, err = telemetry.NewTracing(ctx, telemetry.TracingOptions{Settings: a.cfg.Telemetry, Version: a.opt.Version, Log: a.log}); err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	a.closers = append(a.closers, a.tracing)
	opt := history.Options{Log: a.log}
	if a.opt.StateDir != "" {
		opt.Dir = filepath.Join(a.opt.StateDir, "history")
	}
	if a.history, err = history.Open(opt); err != nil {
		a.log.WarnContext(ctx, "the state directory cannot be written, so what is saved is forgotten with a restart", "err", err)
		opt.Dir = ""
		a.history, err = history.Open(opt)
	}
	a.closers = append(a.closers, a.history)
	return err
}
