package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// healthPatience is shorter than what container engines give a check by default.
const healthPatience = 2 * time.Second

func newHealthcheck(w world) *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Ask whether a running 'secateur serve' is ready, for a container engine",
		Long: `healthcheck asks /readyz, which needs no token, and exits 0 if it says ready. An image
without a shell and without curl can check itself with it.

  secateur healthcheck --url http://127.0.0.1:8000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), healthPatience)
			defer cancel()
			return askReady(ctx, w.out, strings.TrimSuffix(url, "/")+"/readyz")
		},
	}
	cmd.Flags().StringVar(&url, "url", "http://127.0.0.1:8000", "where it listens")
	return cmd
}

func askReady(ctx context.Context, out io.Writer, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return exitError{exitUsage, err}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy: it is asked itself
	res, err := client.Do(req)
	if err != nil {
		return exitError{exitUnreachable, err}
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	fmt.Fprintln(out, "ready")
	return nil
}
