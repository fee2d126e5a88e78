package main

import (
	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/telemetry"
)

func newStdio(w world) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "stdio",
		Short: "Be one MCP server on standard input and output, in front of all",
		Long: `stdio puts all configured MCP servers behind one, on standard input and output: for Cursor,
Claude Desktop, the Inspector and every other client that starts its servers by itself.
'secateur --config F' alone means the same.

Tools and prompts are called <server>::<name>, or in the form the client accepts. The
configuration is --config, SECATEUR_CONFIG or that of the user; the working directory is
not looked at, because a client may start this program in any repository. Without a
configuration the built-in default runs.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStdio(cmd, w, file) },
	}
	configFlag(cmd, &file)
	return cmd
}

func runStdio(cmd *cobra.Command, w world, file string) error {
	cfg, err := w.usable(file, "", usersOwn)
	if err != nil {
		return err
	}
	log := telemetry.NewLogger(w.err, cfg.Level(), cfg.StructuredLogging)
	for _, p := range cfg.Warnings {
		log.WarnContext(cmd.Context(), "configuration", "problem", p.String())
	}
	a, err := app.New(app.Options{Config: cfg, Version: version, Log: log, Environ: w.environ, Home: w.home, Lazy: true})
	if err != nil {
		return err
	}
	token, _ := w.lookup("AUTH_TOKEN")
	return a.RunStdio(cmd.Context(), w.in, w.out, token)
}
