package main

import (
	"fmt"
	"net"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/app"
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
			opt, err := w.program(cmd.Context(), file, listen, orWorkingDir)
			if err != nil {
				return err
			}
			hello := greeting{cfg: opt.Config, asks: w.hasTokens(opt.Config)}
			opt.Listening = func(addr net.Addr) {
				hello.addr = addr.String()
				fmt.Fprint(w.out, hello.first())
			}
			opt.Starting = func(ids []string, since time.Duration) { fmt.Fprint(w.out, starting(ids, since)) }
			opt.Started = func(servers []app.ServerStart) { fmt.Fprint(w.out, hello.rest(servers)) }
			a, err := app.New(opt)
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
