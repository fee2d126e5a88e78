package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/ops/admin"
)

func newStatus(w world) *cobra.Command {
	var flags daemonFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the running program fares",
		Long:  `status shows version, configuration, servers by state, store and load of the running program.` + daemonHelp,
		Example: `  secateur status
  secateur status --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := w.reach(cmd.Context(), flags)
			if err != nil {
				return err
			}
			s, raw, err := get[admin.Status](cmd.Context(), c, "/status")
			if err != nil {
				return err
			}
			if flags.asJSON {
				_, err = w.out.Write(raw)
				return err
			}
			w.printStatus(s)
			logins, _, err := all[admin.Login](cmd.Context(), c, "/logins")
			if err != nil {
				return err
			}
			for _, l := range logins {
				fmt.Fprintf(w.out, "signed in      %s\n", loginLine(l, time.Now()))
			}
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}

// storeTrouble is what keeps results from being cut, and what to do about it; "" if nothing does.
func (w world) storeTrouble(s admin.StoreUse) tinted {
	switch s.State {
	case "", "ok": // a program from before this one says nothing
		return ""
	case "full":
		return w.coloured(s.State) + tinted(fmt.Sprintf(", nothing more is cut (%s not kept so far): raise store.max_bytes, or set store.when_full = \"oldest\"",
			plural(int(s.Refused), "original")))
	}
	return w.coloured(s.State) + ", nothing is cut"
}

func (w world) printStatus(s admin.Status) {
	on := ""
	if s.Listen != "" {
		on = " on " + s.Listen
	}
	fmt.Fprintf(w.out, "secateur %s, %s%s, pid %d, up %s\n", s.Version, s.Mode, on, s.PID, ago(s.Uptime))
	config := s.Config.Path
	if config == "" {
		config = "built-in default"
	}
	fmt.Fprintf(w.out, "configuration  %s\n", config)
	if len(s.Config.RestartNeeded) > 0 {
		fmt.Fprintf(w.out, "waits for a restart  %s\n", strings.Join(s.Config.RestartNeeded, ", "))
	}
	fmt.Fprintf(w.out, "doors          %s\n", strings.Join(s.Doors, ", "))
	var states []string
	for _, state := range slices.Sorted(maps.Keys(s.Servers)) {
		states = append(states, fmt.Sprintf("%d %s", s.Servers[state], w.coloured(state)))
	}
	w.printf("servers        %s\n", tinted(strings.Join(states, ", ")))
	fmt.Fprintf(w.out, "store          %s, %s, %s of %s\n", s.Store.URL, plural(s.Store.Originals, "original"), size(s.Store.Bytes), size(s.Store.MaxBytes))
	if is := w.storeTrouble(s.Store); is != "" {
		w.printf("store is       %s\n", is)
	}
	if len(s.Replicas) > 0 {
		names := make([]string, len(s.Replicas))
		for i, r := range s.Replicas {
			names[i] = r.Name
			if r.Self {
				names[i] += " (this one)"
			}
		}
		fmt.Fprintf(w.out, "replicas       %s\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(w.out, "load           %s in flight, %s\n", plural(s.InFlight, "call"), plural(s.Sessions, "session"))
}
