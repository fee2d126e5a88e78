package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/config"
	"secateur/internal/config/document"
	"secateur/internal/ops/clients"
)

func newConnect(w world) *cobra.Command {
	var file string
	var http, replace bool
	var half halfFlags
	var flags changeFlags
	cmd := &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Put secateur into the file of an MCP client",
		Long: `connect puts an entry "secateur" into the file in which a client lists its MCP servers. The
change is shown first and asked for; 'secateur disconnect' restores the file byte for byte.

Servers that were imported and that the client still lists are taken out, or every tool would be
there twice; --replace=false keeps them. disconnect brings them back.

That is the MCP half: the client's tools. Its conversations with a model pass through
secateur when its base URL points here, which this does not change. It prints the setting
for this client, as far as it is known; docs/clients.md has all of them.

Claude Code has two more ways. With --hook its own tools' results are pruned by its hook, and no base URL
is needed: subscriptions, message threads and tool search stay as they are; with --project for
the project in the working directory alone. With --model its conversations pass through a
running 'secateur serve'. Both together would prune twice, and are refused.

The client starts 'secateur' itself, with the configuration of --config, SECATEUR_CONFIG or
the user; with --http it connects to a running 'secateur serve'.

CLIENT is one of ` + strings.Join(clients.Names(), ", ") + `.`,
		Example: `  secateur connect cursor --dry-run
  secateur connect claude-code --http --yes
  secateur connect claude-code --hook --dry-run`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeClients,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := clientNamed(args[0])
			if err != nil {
				return err
			}
			if err := half.check(c, http); err != nil {
				return err
			}
			if half.hook || half.model {
				return w.connectHalf(half, file, flags)
			}
			entry, cfg, err := w.entry(c, file, http)
			if err != nil {
				return err
			}
			both, others, err := w.overlap(c, cfg.Path)
			if err != nil {
				return err
			}
			var gone []string
			if replace {
				gone = both
			}
			plan, err := w.keeper().Connect(c, w.machine(), entry, gone)
			if err != nil {
				return err
			}
			w.tellReplaced(c, both, others, replace)
			if err := w.settlePlan(plan, flags, w.keeper().Join); err != nil {
				return err
			}
			w.tellHalves(c, strings.TrimSuffix(mcpURL(cfg.Settings), "/mcp"))
			if plan.Changed() && !flags.dryRun {
				w.tellRestart(c)
			}
			return nil
		},
	}
	configFlag(cmd, &file)
	half.register(cmd)
	cmd.Flags().BoolVar(&http, "http", false, "the client connects to the URL of a running 'secateur serve' instead of starting one")
	cmd.Flags().BoolVar(&replace, "replace", true, "take out of the client's file the servers that secateur runs itself")
	flags.register(cmd)
	return cmd
}

// tellRestart says when the client sees the change.
func (w world) tellRestart(c clients.Client) {
	fmt.Fprintf(w.err, "secateur: next, restart %s: it reads this file when it starts\n", c.Title)
}

func newDisconnect(w world) *cobra.Command {
	var flags changeFlags
	cmd := &cobra.Command{
		Use:   "disconnect CLIENT",
		Short: "Take secateur out of the file of an MCP client",
		Long: `disconnect undoes 'secateur connect': the client's file is restored byte for byte. If it has been
changed since, the entry "secateur" alone is taken out, and servers that connect took out come back. Of
Claude Code it also undoes --hook and --model, and --hook --project for the working directory.`,
		Example:           `  secateur disconnect cursor --yes`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeClients,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := clientNamed(args[0])
			if err != nil {
				return err
			}
			plan, err := w.keeper().Disconnect(c, w.machine())
			if err != nil {
				return err
			}
			if err := w.settlePlan(plan, flags, w.keeper().Part); err != nil {
				return err
			}
			if plan.Changed() && !flags.dryRun {
				w.tellRestart(c)
			}
			if c.Name != "claude-code" {
				return nil
			}
			return w.disconnectHalves(flags)
		},
	}
	flags.register(cmd)
	return cmd
}

func completeClients(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return clients.Names(), cobra.ShellCompDirectiveNoFileComp
}

func clientNamed(name string) (clients.Client, error) {
	c, ok := clients.ByName(name)
	if !ok {
		return c, fmt.Errorf("there is no client %q%s", name, nearestClient(name))
	}
	return c, nil
}

// nearestClient is the client that was probably meant, or all of them.
func nearestClient(name string) string {
	if s := didYouMean(name, clients.Names(), ""); s != "" {
		return s
	}
	return "; the clients are " + strings.Join(clients.Names(), ", ")
}

func (w world) settlePlan(plan clients.Connection, flags changeFlags, write func(clients.Connection) (string, error)) error {
	c := change{Client: plan.Client.Name, File: plan.File, Replaced: plan.Replaced}
	return w.settle(c, flags, plan.Before.Data, plan.After.Data, func() (string, error) { return write(plan) })
}

// tellHalves says which half of a client connect sets up, and how to set up the other.
func (w world) tellHalves(c clients.Client, daemon string) {
	fmt.Fprintf(w.err, "secateur: this is the MCP half, the tools of %s\n", c.Title)
	if setting := c.ModelSetting(daemon); setting != "" {
		fmt.Fprintf(w.err, "secateur: its conversations pass through a running 'secateur serve' with another setting, %s\n", setting)
	}
}

// entry is what the client's file is to say about us, with the configuration that it names.
func (w world) entry(c clients.Client, flag string, http bool) (entry []document.Field, cfg *config.Config, err error) {
	files := usersOwn
	if http {
		files = orWorkingDir // the daemon's
	}
	if cfg, err = w.usable(flag, "", files); err != nil {
		return nil, nil, err
	}
	if http {
		if !cfg.AuthToken.IsZero() {
			fmt.Fprintf(w.err, "secateur: clients must show a token; add it to the entry, as %s writes headers\n", c.Title)
		}
		entry, err = c.URL(mcpURL(cfg.Settings))
		return entry, cfg, err
	}
	if cfg.Path == "" {
		if _, err := os.Stat(initFile); err == nil {
			return nil, nil, fmt.Errorf("an editor does not look at ./%s; name it: secateur connect %s --config %s", initFile, c.Name, initFile)
		}
	}
	argv, err := ownCommand(cfg)
	if err != nil {
		return nil, nil, err
	}
	return c.Command(argv), cfg, nil
}

// ownCommand starts this program with this configuration, from wherever the client runs it.
func ownCommand(cfg *config.Config) ([]string, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if cfg.Path == "" {
		return []string{program, "stdio"}, nil
	}
	path, err := filepath.Abs(cfg.Path)
	return []string{program, "stdio", "--config", path}, err
}

// mcpURL is where a client on this machine reaches the aggregate.
func mcpURL(s config.Settings) string {
	if s.Auth.PublicURL != "" {
		return strings.TrimSuffix(s.Auth.PublicURL, "/") + "/mcp"
	}
	scheme := "http"
	if s.TLS.Cert != "" {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return scheme + "://" + s.Listen + "/mcp"
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + "://" + net.JoinHostPort(host, port) + "/mcp"
}
