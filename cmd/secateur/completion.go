package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"secateur/internal/ops/admin"
)

// completionTime is how long a shell's completion waits for the running program.
const completionTime = time.Second

// completeServers completes ids of servers: those of the running program, else of the configuration.
func (w world) completeServers(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return w.serverIDs(cmd), cobra.ShellCompDirectiveNoFileComp
}

// completeTools completes names of tools of the running program; without one, the servers' part.
func (w world) completeTools(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	tools, ok := answered[admin.Tool](w, cmd, "/tools")
	if !ok {
		ids := w.serverIDs(cmd)
		for i := range ids {
			ids[i] += "::"
		}
		return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (w world) serverIDs(cmd *cobra.Command) (ids []string) {
	if servers, ok := answered[admin.Server](w, cmd, "/servers"); ok {
		for _, s := range servers {
			ids = append(ids, s.ID)
		}
		return ids
	}
	l, err := w.load(flagText(cmd, "config"), "", orWorkingDir)
	if err != nil {
		return nil
	}
	for _, s := range l.Servers {
		ids = append(ids, s.ID)
	}
	return ids
}

// answered is a list of the running program that the command's flags name; false: none answers.
func answered[T any](w world, cmd *cobra.Command, path string) ([]T, bool) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	c, err := w.reach(ctx, daemonFlags{url: flagText(cmd, "url"), file: flagText(cmd, "config")})
	if err != nil {
		return nil, false
	}
	items, _, err := all[T](ctx, c, path)
	return items, err == nil
}

// flagText is the value of a flag; "" if the command does not have it.
func flagText(cmd *cobra.Command, name string) string {
	if f := cmd.Flag(name); f != nil {
		return f.Value.String()
	}
	return ""
}
