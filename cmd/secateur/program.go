package main

import (
	"context"
	"log/slog"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/ops/telemetry"
)

// program is what serve and stdio share: the configuration, how it is read again, and a log that says what is odd about it.
func (w world) program(ctx context.Context, flag, listen string, files whose) (app.Options, error) {
	cfg, err := w.usable(flag, listen, files)
	if err != nil {
		return app.Options{}, err
	}
	w.holdsServers()
	level := new(slog.LevelVar)
	level.Set(cfg.Level())
	format := new(telemetry.Format)
	format.Set(cfg.StructuredLogging)
	log := format.NewLogger(w.err, level)
	for _, p := range cfg.Warnings {
		log.WarnContext(ctx, "configuration", "problem", p.String())
	}
	return app.Options{
		Config: cfg, Version: version, Commit: shortCommit(), Log: log, Level: level, Format: format,
		Environ: w.environ, Home: w.home, StateDir: w.stateDir, Kill: w.kill, Hangups: w.notifyHangups(),
		Load: func() (*config.Config, []config.Problem) { return w.reload(cfg, flag, listen, files) },
	}, nil
}
