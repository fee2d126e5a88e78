package main

import (
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/config"
	"secateur/internal/originals"
	"secateur/internal/pruner"
)

func newRecover(w world) *cobra.Command {
	var file string
	run := pruner.RecoverCommand{Out: w.out}
	cmd := &cobra.Command{
		Use:   "recover ID [A-B …]",
		Short: "Print what was cut: an original, or lines A to B of it",
		Long: `recover prints an original, or some of its lines, from a running 'secateur serve' or
'secateur pruner', from the store that the configuration names, or from what
'secateur prune' kept.

  secateur recover prn_R5JT960T52MN9N4FMKV3BW2QZ4
  secateur recover prn_R5JT960T52MN9N4FMKV3BW2QZ4 120-154 200-`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := w.usable(file, "", true)
			if err != nil {
				return err
			}
			run.ID, run.Ranges = args[0], args[1:]
			sources, closeAll, err := w.sources(cfg)
			if err != nil {
				return err
			}
			defer closeAll()
			run.Sources = sources
			err = pruner.RunRecover(cmd.Context(), run)
			if errors.Is(err, pruner.ErrUnreachable) {
				return exitError{exitUnreachable, err}
			}
			return err
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().BoolVarP(&run.Numbers, "numbers", "n", false, "put line numbers before the lines")
	cmd.Flags().BoolVar(&run.JSON, "json", false, "print the answer of recover_text")
	return cmd
}

// sources are where an original may be: a daemon's memory, the configured store, the cache of 'secateur prune'.
func (w world) sources(cfg *config.Config) (sources []pruner.Fetch, closeAll func(), err error) {
	client := &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	header := http.Header{}
	if !cfg.AuthToken.IsZero() {
		header.Set("Authorization", "Bearer "+cfg.AuthToken.Reveal())
	}
	alone := net.JoinHostPort(cfg.Pruner.Host, strconv.Itoa(cfg.Pruner.Port))
	for _, addr := range []string{cfg.Listen, alone} {
		sources = append(sources, pruner.FromDaemon(client, "http://"+reachable(addr)+"/rpc", header))
	}
	var open []originals.StoreCloser
	closeAll = func() {
		for _, s := range open {
			_ = s.Close()
		}
		client.CloseIdleConnections()
	}
	add := func(set originals.Settings) error {
		dir, onDisk := strings.CutPrefix(set.URL, "file:")
		if !onDisk {
			return nil
		}
		if _, err := os.Stat(dir); err != nil && strings.HasPrefix(dir, "/") {
			return nil // nothing was kept there yet, and looking must not make it
		}
		store, err := originals.Open(originals.Options{Settings: set, Base: cfg.Dir(), Home: w.home})
		if err != nil {
			return err
		}
		open = append(open, store)
		sources = append(sources, pruner.FromStore(store, ""))
		return nil
	}
	err = add(cfg.Store)
	if err == nil && !strings.HasPrefix(cfg.Store.URL, "file:") {
		w.keepOnDisk(cfg)
		err = add(cfg.Store)
	}
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	return sources, closeAll, nil
}

// reachable turns an address to listen on into one to call.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
