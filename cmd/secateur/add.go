package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/config"
	"secateur/internal/config/document"
)

func newAdd(w world) *cobra.Command {
	var file, profile string
	var env, headers []string
	var flags changeFlags
	cmd := &cobra.Command{
		Use:   "add NAME [--env K=V]... -- COMMAND...\n  secateur add NAME URL [--header K=V]...",
		Short: "Put a server into the configuration file",
		Long: `add puts a server into the user's configuration file, or into the one that --config or
SECATEUR_CONFIG names; comments and order stay. Where there is no file, one is made in the
user's configuration directory. ./secateur.toml is only edited if it is named.

A command may do all that you may, unless it has a sandbox: --sandbox auto gives it the one that is
proposed.

A value may be a variable: --env 'TOKEN=${TOKEN}' keeps the secret out of the file.`,
		Example: `  secateur add files -- npx -y @modelcontextprotocol/server-filesystem /tmp
  secateur add docs https://mcp.example/mcp --header 'Authorization=Bearer ${DOCS_TOKEN}'`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := newServer(args, cmd.ArgsLenAtDash(), env, headers)
			if err == nil {
				s, err = w.confined(s, profile)
			}
			if err != nil {
				return err
			}
			flags.yes, flags.quiet = true, true
			return w.add(file, s, flags)
		},
	}
	configFlag(cmd, &file)
	cmd.Flags().StringArrayVar(&env, "env", nil, "`K=V` for the command's environment; may be given several times")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "`K=V` sent with every request to the URL; may be given several times")
	sandboxFlag(cmd, &profile)
	jsonFlag(cmd, &flags.asJSON)
	return cmd
}

func (w world) add(flag string, s config.FileServer, flags changeFlags) error {
	f, err := w.editable(flag, config.InitOwn())
	if err != nil {
		return err
	}
	if f.list.Taken[s.ID] || slices.ContainsFunc(f.list.Servers, func(o config.FileServer) bool { return o.ID == s.ID }) {
		return fmt.Errorf("a server %q is already there; choose another name, or 'secateur remove %s' first", s.ID, s.ID)
	}
	after, err := f.insert(f.start(), s)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	f.expect(w, s)
	if mistakes := f.newMistakes(after); len(mistakes) > 0 {
		w.complain(mistakes)
		return exitError{exitConfig, fmt.Errorf("with %s the configuration would have %s; nothing was written", s.ID, plural(len(mistakes), "mistake"))}
	}
	w.warnUnset(f)
	if !flags.asJSON {
		w.tellProposal(s, "")
	}
	return f.settle(w, change{}, flags, after)
}

func (w world) warnUnset(f *ownFile) {
	for _, name := range slices.Sorted(maps.Keys(f.unset)) {
		fmt.Fprintf(w.err, "secateur: the environment variable %s is not set here; set it where secateur runs\n", name)
	}
}

// newServer makes a server of a command line.
func newServer(args []string, dash int, env, headers []string) (config.FileServer, error) {
	s := config.FileServer{ID: args[0]}
	if strings.Trim(s.ID, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" || s.ID == "" {
		return s, usage("%q is no name for a server: it has letters, digits, - and _", s.ID)
	}
	s.Fields = []document.Field{{Name: "id", Value: s.ID}}
	if dash == 1 {
		if len(headers) > 0 {
			return s, usage("--header is for a URL; a command has --env")
		}
		argv := []any{}
		for _, arg := range args[1:] {
			argv = append(argv, arg)
		}
		s.Fields = append(s.Fields, document.Field{Name: "command", Value: argv})
		return withPairs(s, "env", "--env", env)
	}
	address, err := url.Parse(args[1])
	if dash >= 0 || len(args) > 2 || err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return s, usage("after the name comes a URL, or -- and a command: secateur add %s -- %s", s.ID, strings.Join(args[1:], " "))
	}
	if len(env) > 0 {
		return s, usage("--env is for a command; a URL has --header")
	}
	s.Fields = append(s.Fields, document.Field{Name: "url", Value: args[1]})
	if strings.HasSuffix(strings.TrimSuffix(address.Path, "/"), "/sse") {
		s.Fields = append(s.Fields, document.Field{Name: "transport", Value: "sse"})
	}
	return withPairs(s, "headers", "--header", headers)
}

func withPairs(s config.FileServer, key, flag string, pairs []string) (config.FileServer, error) {
	var table []document.Field
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return s, usage("%s wants NAME=VALUE", flag)
		}
		if slices.ContainsFunc(table, func(f document.Field) bool { return f.Name == name }) {
			return s, usage("%s names %s twice", flag, name)
		}
		table = append(table, document.Field{Name: name, Value: value})
	}
	if table != nil {
		s.Fields = append(s.Fields, document.Field{Name: key, Value: table})
	}
	return s, nil
}

func newRemove(w world) *cobra.Command {
	var file string
	var flags changeFlags
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Take a server out of the configuration file",
		Long: `remove takes a server out of the user's configuration file, or out of the one that --config or
SECATEUR_CONFIG names; comments and order stay.`,
		Example: `  secateur remove files`,
		Args:    cobra.ExactArgs(1),

		ValidArgsFunction: w.completeServers,
		RunE: func(_ *cobra.Command, args []string) error {
			flags.yes, flags.quiet = true, true
			return w.remove(file, args[0], flags)
		},
	}
	configFlag(cmd, &file)
	jsonFlag(cmd, &flags.asJSON)
	return cmd
}

func (w world) remove(flag, id string, flags changeFlags) error {
	f, err := w.editable(flag, config.Init(config.PresetDefault))
	if err != nil {
		return err
	}
	var ids []string
	for _, s := range f.list.Servers {
		if s.ID == id {
			after, err := document.Remove(document.FormatOf(f.path, f.before.Data), f.start(), s.Place)
			if err != nil {
				return fmt.Errorf("%s: server %s: %w", f.path, id, err)
			}
			return f.settle(w, change{}, flags, after)
		}
		ids = append(ids, s.ID)
	}
	return fmt.Errorf("%s has no server %q%s", f.path, id, didYouMean(id, ids, ""))
}
