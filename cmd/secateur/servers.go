package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/ops/admin"
)

func newServers(w world) *cobra.Command {
	var flags daemonFlags
	cmd := &cobra.Command{
		Use:   "servers [ID]",
		Short: "Show the MCP servers of the running program, or one of them",
		Long: `servers shows each server's state, process, restarts, what it lists and how many tokens these
definitions take; with an ID, all there is to know about one.` + daemonHelp,
		Example: `  secateur servers
  secateur servers demo
  secateur servers --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: w.completeServers,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := w.reach(cmd.Context(), flags)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				s, raw, err := get[admin.Server](cmd.Context(), c, "/servers/"+url.PathEscape(args[0]))
				if err != nil {
					return c.unknownServer(cmd.Context(), args[0], err)
				}
				return w.showServer(flags, s, raw)
			}
			servers, raw, err := all[admin.Server](cmd.Context(), c, "/servers")
			if err != nil {
				return err
			}
			if flags.asJSON {
				_, err = w.out.Write(raw)
				return err
			}
			w.printServers(servers)
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}

func (w world) printServers(servers []admin.Server) {
	t := table{head: []string{"SERVER", "STATE", "TRANSPORT", "TOOLS", "TOKENS", "RESTARTS", "UP", "LAST ERROR"}, numbers: map[int]bool{3: true, 4: true, 5: true}}
	for _, s := range servers {
		up := "-"
		if s.Uptime > 0 {
			up = ago(s.Uptime)
		}
		t.rows = append(t.rows, []string{s.ID, s.State, s.Transport, strconv.Itoa(s.Tools), strconv.Itoa(s.Tokens), strconv.Itoa(s.Restarts), up, lastError(s)})
	}
	t.print(w)
}

// lastError is why a server last failed, without its id, which is said already.
func lastError(s admin.Server) string {
	return oneLine(strings.TrimPrefix(s.LastError, fmt.Sprintf("server %q: ", s.ID)))
}

// showServer prints one server, as JSON or for a person.
func (w world) showServer(flags daemonFlags, s admin.Server, raw []byte) error {
	if flags.asJSON {
		_, err := w.out.Write(raw)
		return err
	}
	pid := "none of ours"
	if s.PID != nil {
		pid = strconv.Itoa(*s.PID)
	}
	spoken := "not known yet"
	if s.Protocol != "" {
		spoken = s.Protocol + ", " + s.Era
	}
	w.printf("%s  %s\n", s.ID, w.coloured(s.State))
	for _, line := range [][2]string{
		{"transport", s.Transport},
		{"protocol", spoken},
		{"process", pid},
		{"up", ago(s.Uptime)},
		{"restarts", strconv.Itoa(s.Restarts)},
		{"lists", fmt.Sprintf("%s, %s, %s: %s", plural(s.Tools, "tool"), plural(s.Resources, "resource"), plural(s.Prompts, "prompt"), plural(s.Tokens, "token"))},
		{"in flight", plural(s.InFlight, "call")},
		{"sandbox", s.Sandbox},
		{"last error", lastError(s)},
	} {
		if line[1] != "" {
			fmt.Fprintf(w.out, "  %-10s  %s\n", line[0], line[1])
		}
	}
	for _, gap := range s.SandboxGaps {
		fmt.Fprintf(w.out, "  sandbox     not enforced: %s\n", gap)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(w.out, "  problem     %s\n", oneLine(p))
	}
	return nil
}

func newRestart(w world) *cobra.Command {
	var flags daemonFlags
	cmd := &cobra.Command{
		Use:   "restart ID",
		Short: "Restart an MCP server of the running program",
		Long: `restart ends a server's process or connection, starts it anew, and waits until it is ready or
has failed. Calls under way at it fail. Exit status 1 if it has not come up.` + daemonHelp,
		Example:           `  secateur restart demo`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: w.completeServers,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, id := cmd.Context(), args[0]
			c, err := w.reach(ctx, flags)
			if err != nil {
				return err
			}
			done := w.progress("restarting " + id)
			raw, err := c.do(ctx, http.MethodPost, "/servers/"+url.PathEscape(id)+"/restart", nil)
			done()
			if err != nil {
				return c.unknownServer(ctx, id, err)
			}
			s, err := decode[admin.Server](raw)
			if err != nil {
				return err
			}
			if flags.asJSON {
				_, err = w.out.Write(raw)
			} else {
				fmt.Fprintln(w.out, restarted(s))
			}
			if err == nil && s.State != "ready" && s.State != "degraded" {
				return exitError{code: exitFailure}
			}
			return err
		},
	}
	flags.register(cmd)
	return cmd
}

// restarted is how a restart went, on one line.
func restarted(s admin.Server) string {
	switch {
	case s.State == "ready" || s.State == "degraded":
		return fmt.Sprintf("%s: %s, %s", s.ID, s.State, plural(s.Tools, "tool"))
	case s.LastError != "":
		return fmt.Sprintf("%s: %s: %s", s.ID, s.State, lastError(s))
	}
	return s.ID + ": " + s.State
}
