package main

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"secateur/internal/access"
	"secateur/internal/app"
	"secateur/internal/ops/telemetry"
)

func newPruner(w world) *cobra.Command {
	var file string
	var stdio bool
	cmd := &cobra.Command{
		Use:   "pruner",
		Short: "Run the pruner alone, over HTTP or on standard input and output",
		Long: `pruner serves the tools prune_text, recover_text, recover_chars, search_text and health:
over HTTP (POST /rpc, GET /health) on MCP_PRUNER_HOST:MCP_PRUNER_PORT, 127.0.0.1:8006 if
nothing else is said, or with --stdio as an MCP server on standard input and output.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				return err
			}
			if host := cfg.Pruner.Host; !stdio && !access.IsLoopback(host) && cfg.AuthToken.IsZero() && !cfg.Auth.Asks() && cfg.Auth.TokenFile == "" {
				return exitError{exitConfig, fmt.Errorf("mcp_pruner.host: %q is reachable from other machines, and nothing controls access; "+
					"set auth_token, or MCP_PRUNER_HOST=127.0.0.1", host)}
			}
			log := telemetry.NewLogger(w.err, cfg.Level(), cfg.StructuredLogging)
			for _, p := range cfg.Warnings {
				log.WarnContext(cmd.Context(), "configuration", "problem", p.String())
			}
			w.holdsServers()
			p, err := app.NewPruner(app.Options{
				Config: cfg, Version: version, Log: log, Home: w.home, StateDir: w.stateDir,
				Listening: func(addr net.Addr) {
					fmt.Fprintf(w.out, "secateur pruner %s listens on http://%s (POST /rpc, GET /health)\n", version, addr)
				},
			})
			if err != nil {
				return err
			}
			if stdio {
				return p.RunStdio(cmd.Context(), w.in, exact(w.out))
			}
			return p.Run(cmd.Context())
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVar(&stdio, "stdio", false, "speak MCP on standard input and output")
	return cmd
}
