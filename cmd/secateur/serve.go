package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/config"
	"secateur/internal/demo"
	"secateur/internal/originals"
	"secateur/internal/telemetry"
)

func newServe(w world) *cobra.Command {
	var file, listen string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Open every HTTP door",
		Long: `serve opens every HTTP door. Without a configuration file the built-in default runs:
the pruner and a small demo server with large answers, on 127.0.0.1:8000.

SIGTERM or Ctrl-C finishes what is in flight and stops; a second one stops at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := w.usable(file, listen, orWorkingDir)
			if err != nil {
				return err
			}
			log := telemetry.NewLogger(w.err, cfg.Level(), cfg.StructuredLogging)
			for _, p := range cfg.Warnings {
				log.WarnContext(cmd.Context(), "configuration", "problem", p.String())
			}
			a, err := app.New(app.Options{
				Config: cfg, Version: version, Log: log, Environ: w.environ, Home: w.home,
				Listening: func(addr net.Addr) { fmt.Fprint(w.out, greeting(cfg, addr.String())) },
			})
			if err != nil {
				return err
			}
			return a.Run(cmd.Context())
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVarP(&listen, "listen", "l", "", "`address` to listen on, host:port (default 127.0.0.1:8000)")
	return cmd
}

// greeting says where the doors are and, where the demo server stands behind them, what to try.
func greeting(cfg *config.Config, addr string) string {
	var b strings.Builder
	from := "configuration " + cfg.Path
	switch {
	case cfg.Path == "":
		from = "built-in default; 'secateur init' writes a configuration to change"
	case cfg.Path == filepath.Base(cfg.Path):
		from = "configuration ./" + cfg.Path + " of the working directory"
	}
	fmt.Fprintf(&b, "secateur %s listens on http://%s (%s)\n", version, addr, from)
	for _, s := range cfg.Servers {
		if s.Builtin != "demo" || s.Disabled {
			continue
		}
		auth := ""
		if !cfg.AuthToken.IsZero() {
			auth = ` -H "Authorization: Bearer $AUTH_TOKEN"`
		}
		fmt.Fprintf(&b, `
A build log of 2 500 lines, cut on its way (the id of what was cut is in the header X-Secateur-Originals):

  curl -si%[1]s http://%[2]s/api/mcp-gateway/%[3]s/rpc -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_log","arguments":{}}}'

The lines around the failure in it, had back:

  curl -s%[1]s http://%[2]s/rpc -d '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recover_text","arguments":{"prune_id":"%[4]s","ranges":[{"start_line":1632,"end_line":1638}],"include_line_numbers":true}}}'

`, auth, addr, s.ID, originals.ID("", demo.Log()))
		break
	}
	return b.String()
}
