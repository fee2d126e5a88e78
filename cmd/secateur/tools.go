package main

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/ops/admin"
)

func newTools(w world) *cobra.Command {
	var flags daemonFlags
	var server string
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the tools of the running program with the tokens that their definitions take",
		Long: `tools lists every tool by the name that 'call' takes, and how many tokens its definition takes in
each prompt of a client that has it. Those that 'tools' or 'exclude_tools' of their server hide are off.` + daemonHelp,
		Example: `  secateur tools
  secateur tools --server demo
  secateur tools --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := w.reach(cmd.Context(), flags)
			if err != nil {
				return err
			}
			path := "/tools"
			if server != "" {
				path += "?server=" + url.QueryEscape(server)
			}
			tools, raw, err := all[admin.Tool](cmd.Context(), c, path)
			if err != nil {
				return c.unknownServer(cmd.Context(), server, err)
			}
			if flags.asJSON {
				_, err = w.out.Write(raw)
				return err
			}
			w.printTools(tools)
			return nil
		},
	}
	cmd.AddCommand(newFindTools(w))
	flags.register(cmd)
	cmd.Flags().StringVar(&server, "server", "", "only the tools of the server with this `id`")
	_ = cmd.RegisterFlagCompletionFunc("server", w.completeServers)
	return cmd
}

func newFindTools(w world) *cobra.Command {
	var flags daemonFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "find QUERY",
		Short: "Find the tools of the running program that serve a query",
		Long: `find ranks the tools of the running program as find_tools does for a client whose profile has
[tools] mode = "search": one line each, name(arguments) — purpose, the best first.` + daemonHelp,
		Example: `  secateur tools find "read a file"
  secateur tools find --limit 10 delete a branch`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 || limit > 20 {
				return usage("--limit: expected a number from 1 to 20")
			}
			c, err := w.reach(cmd.Context(), flags)
			if err != nil {
				return err
			}
			query := url.Values{"q": {strings.Join(args, " ")}, "limit": {strconv.Itoa(limit)}}
			found, raw, err := get[admin.FoundTools](cmd.Context(), c, admin.SearchPath+"?"+query.Encode())
			if err != nil {
				return err
			}
			if flags.asJSON {
				_, err = w.out.Write(raw)
				return err
			}
			if len(found.Tools) == 0 {
				fmt.Fprintln(w.out, "no tool matches")
			}
			for _, t := range found.Tools {
				line := t.Name + t.Signature
				if t.Description != "" {
					line += " — " + t.Description
				}
				fmt.Fprintln(w.out, oneLine(line))
			}
			return nil
		},
	}
	flags.register(cmd)
	cmd.Flags().IntVar(&limit, "limit", 5, "how many tools at most")
	return cmd
}

func (w world) printTools(tools []admin.Tool) {
	t := table{head: []string{"TOOL", "TOKENS"}, numbers: map[int]bool{1: true}}
	isPinned, isAnyOff := false, false
	for _, tool := range tools {
		isPinned, isAnyOff = isPinned || tool.Pin != "", isAnyOff || tool.Off
	}
	if isAnyOff {
		t.head = append(t.head, "STATE")
	}
	if isPinned {
		t.head = append(t.head, "PIN")
	}
	sum, on, spared := 0, 0, 0
	for _, tool := range tools {
		row := []string{oneLine(tool.Name), strconv.Itoa(tool.Tokens)}
		state := "on"
		if tool.Off {
			state = "off"
			spared += tool.Tokens
		} else {
			on++
			sum += tool.Tokens
		}
		if isAnyOff {
			row = append(row, state)
		}
		if isPinned {
			row = append(row, tool.Pin)
		}
		t.rows = append(t.rows, row)
	}
	t.print(w)
	w.printToolServers(tools)
	fmt.Fprintf(w.out, "%s, about %s in every prompt that has them all\n", plural(on, "tool"), plural(sum, "token"))
	if isAnyOff {
		fmt.Fprintf(w.out, "%s off, which saves about %s; tools and exclude_tools in [[servers]] say which\n", plural(len(tools)-on, "tool"), plural(spared, "token"))
	}
}

// printToolServers prints what the tools of each server take, where there are several.
func (w world) printToolServers(tools []admin.Tool) {
	var ids []string
	count, sum := map[string]int{}, map[string]int{}
	for _, t := range tools {
		if t.Off {
			continue
		}
		if count[t.Server]++; count[t.Server] == 1 {
			ids = append(ids, t.Server)
		}
		sum[t.Server] += t.Tokens
	}
	if len(ids) < 2 {
		return
	}
	s := table{head: []string{"SERVER", "TOOLS", "TOKENS"}, numbers: map[int]bool{1: true, 2: true}}
	for _, id := range ids {
		s.rows = append(s.rows, []string{oneLine(id), strconv.Itoa(count[id]), strconv.Itoa(sum[id])})
	}
	fmt.Fprintln(w.out)
	s.print(w)
	fmt.Fprintln(w.out)
}
