package main

import (
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/telemetry"
)

func newServe(w world) *cobra.Command {
	var file, listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve all HTTP endpoints",
		Long: `serve runs all HTTP endpoints. Without a configuration file the built-in default runs:
the pruner and a small demo server with large answers, on 127.0.0.1:8000.

A change of the configuration file is applied while the program runs, and so is SIGHUP:
servers that are the same keep their process, and no call fails.

SIGTERM or Ctrl-C finishes what is in flight and stops; a second one stops at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := w.usable(file, listen, orWorkingDir)
			if err != nil {
				return err
			}
			level := new(slog.LevelVar)
			level.Set(cfg.Level())
			format := new(telemetry.Format)
			format.Set(cfg.StructuredLogging)
			log := format.NewLogger(w.err, level)
			for _, p := range cfg.Warnings {
				log.WarnContext(cmd.Context(), "configuration", "problem", p.String())
			}
			hello := greeting{cfg: cfg}
			a, err := app.New(app.Options{
				Config: cfg, Version: version, Commit: shortCommit(), Log: log, Environ: w.environ, Home: w.home, StateDir: w.stateDir, Kill: w.kill,
				Load: func() (*config.Config, []config.Problem) { return w.reload(cfg, file, listen, orWorkingDir) }, Hangups: w.notifyHangups(), Level: level, Format: format,
				Listening: func(addr net.Addr) {
					hello.addr = addr.String()
					fmt.Fprint(w.out, hello.first())
				},
				Starting: func(ids []string, since time.Duration) { fmt.Fprint(w.out, starting(ids, since)) },
				Started:  func(servers []app.ServerStart) { fmt.Fprint(w.out, hello.rest(servers)) },
			})
			if err != nil {
				return err
			}
			hello.originalID = a.OriginalID
			return a.Run(cmd.Context())
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVarP(&listen, "listen", "l", "", "`address` to listen on, host:port (default 127.0.0.1:8000)")
	return cmd
}
