package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/access"
	"secateur/internal/config"
	"secateur/internal/prune/pruner"
	"secateur/internal/store/originals"
	"secateur/internal/store/redisdb"
)

func newRecover(w world) *cobra.Command {
	var file, address string
	run := pruner.RecoverCommand{Err: w.err}
	cmd := &cobra.Command{
		Use:   "recover ID [A-B …]",
		Short: "Print what was cut: an original, or lines A to B of it",
		Long: `recover prints an original, or some of its lines, from a running 'secateur serve',
'secateur stdio' or 'secateur pruner', from the store that the configuration names, or from what
'secateur prune' kept. One line on standard error names the original, so that an agent
who runs this in its shell gets all of it: no door of ours cuts it again. On a terminal,
characters that it would act on or hide are escaped. Where the text numbers its lines itself,
as a part of a file that a tool has shown, A and B are these numbers. The program is shown
SECATEUR_TOKEN, else auth_token, which goes to listeners of its own configuration alone.

  secateur recover prn_R5JT960T52MN9N4FMKV3BW2QZ4
  secateur recover prn_R5JT960T52MN9N4FMKV3BW2QZ4 120-154 200-
  secateur recover prn_R5JT960T52MN9N4FMKV3BW2QZ4 -7`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := w.usable(file, "", usersOwn)
			if err != nil {
				return err
			}
			run.ID, run.Ranges, run.Out = args[0], args[1:], w.out
			if w.kind != toTerminal && !run.JSON {
				run.Out = exact(w.out) // byte for byte as it was
			}
			daemons, err := w.daemonsAt(cmd.Context(), cfg, address)
			if err != nil {
				return err
			}
			sources, closeAll, err := w.sources(cmd.Context(), cfg, daemons)
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
	cmd.Flags().StringVar(&address, "url", "", "`address` of the running program, such as http://127.0.0.1:8000 (default: listen of the configuration)")
	cmd.Flags().BoolVarP(&run.Numbers, "numbers", "n", false, "put line numbers before the lines")
	cmd.Flags().StringVar(&run.Chars, "chars", "", "print characters `A-B` instead of lines, as a marker ⟦PRUNED chars A-B⟧ counts them")
	cmd.Flags().BoolVar(&run.JSON, "json", false, "print the answer of recover_text")
	return cmd
}

// sources are where an original may be: a daemon's memory, the configured store, the cache of 'secateur prune'.
func (w world) sources(ctx context.Context, cfg *config.Config, daemons []*controlClient) (sources []pruner.Fetch, closeAll func(), err error) {
	for _, path := range w.sockets() {
		daemons = append(daemons, &controlClient{base: "http://secateur", http: newClient(overSocket(path), nil)})
	}
	for _, d := range daemons {
		header := http.Header{}
		if d.token != "" {
			header.Set("Authorization", "Bearer "+d.token)
		}
		d.http.Timeout = 10 * time.Second
		sources = append(sources, pruner.FromDaemon(d.http, d.base+"/rpc", header))
	}
	var open []io.Closer
	closeAll = func() {
		for _, s := range slices.Backward(open) {
			_ = s.Close()
		}
	}
	add := func(set originals.Settings) error {
		opt := originals.Options{Settings: set, Base: cfg.Dir(), Home: w.home, NoSweep: true}
		if redisdb.IsURL(set.URL) {
			db, err := redisdb.Open(ctx, redisdb.Options{URL: set.URL})
			if err != nil {
				return fmt.Errorf("store: %w", err)
			}
			open, opt.Redis = append(open, db), db
		}
		dir, onDisk := strings.CutPrefix(set.URL, "file:")
		if !onDisk && opt.Redis == nil {
			return nil
		}
		if _, err := os.Stat(dir); onDisk && err != nil && strings.HasPrefix(dir, "/") {
			return nil // nothing was kept there yet, and looking must not make it
		}
		store, err := originals.Open(opt) //nolint:contextcheck // what it logs belongs to no call
		if err != nil {
			return err
		}
		open = append(open, store)
		sources = append(sources, pruner.FromStore(store, ""))
		return nil
	}
	set := cfg.Store
	if set.URL == "" && w.stateDir != "" {
		set.URL = "file:" + filepath.Join(w.stateDir, "store")
	}
	err = add(set)
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

// daemonsAt is the program at an address, or where else one of this configuration may listen.
func (w world) daemonsAt(ctx context.Context, cfg *config.Config, address string) ([]*controlClient, error) {
	own := w.daemons(ctx, cfg)
	if address == "" {
		return own, nil
	}
	d, err := w.programAt(address, own)
	return []*controlClient{d}, err
}

// daemons lists where a daemon of this configuration may listen. The token is for the listener that it is set for: whoever
// else happens to have a well-known port of ours is asked without one. An address that this machine does not have is no
// listener of ours, and is not asked at all.
func (w world) daemons(ctx context.Context, cfg *config.Config) (all []*controlClient) {
	if own := w.listener(ctx, cfg); own != nil {
		all = append(all, own)
	}
	host := onThisMachine(ctx, cfg.Pruner.Host)
	if host == "" {
		return all
	}
	alone := &controlClient{base: "http://" + net.JoinHostPort(host, strconv.Itoa(cfg.Pruner.Port)), http: newClient(nil, nil)}
	_, hostGiven := w.lookup("MCP_PRUNER_HOST")
	_, portGiven := w.lookup("MCP_PRUNER_PORT")
	if hostGiven || portGiven || cfg.Given("mcp_pruner") {
		alone.token = w.tokenFor(cfg)
	}
	return append(all, alone)
}

// onThisMachine turns a host to listen on into one to call: loopback for every address, "" for what is no address of
// this machine.
func onThisMachine(ctx context.Context, host string) string {
	if access.IsLoopback(host) {
		return host
	}
	if host == "" {
		return "127.0.0.1"
	}
	meant, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(meant) == 0 {
		return ""
	}
	for i := range meant {
		meant[i] = meant[i].Unmap()
	}
	if meant[0].IsUnspecified() {
		return "127.0.0.1"
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range own {
		prefix, err := netip.ParsePrefix(a.String())
		if err == nil && slices.Contains(meant, prefix.Addr()) {
			return prefix.Addr().String()
		}
	}
	return ""
}
