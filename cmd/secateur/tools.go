package main

import (
	"fmt"
	"net/url"
	"strconv"

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
each prompt of a client that has it.` + daemonHelp,
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
	flags.register(cmd)
	cmd.Flags().StringVar(&server, "server", "", "only the tools of the server with this `id`")
	return cmd
}

func (w world) printTools(tools []admin.Tool) {
	t := table{head: []string{"TOOL", "TOKENS"}, numbers: map[int]bool{1: true}}
	isPinned := false
	for _, tool := range tools {
		isPinned = isPinned || tool.Pin != ""
	}
	if isPinned {
		t.head = append(t.head, "PIN")
	}
	sum := 0
	for _, tool := range tools {
		row := []string{oneLine(tool.Name), strconv.Itoa(tool.Tokens)}
		if isPinned {
			row = append(row, tool.Pin)
		}
		t.rows = append(t.rows, row)
		sum += tool.Tokens
	}
	t.print(w)
	fmt.Fprintf(w.out, "%s, about %s in every prompt that has them all\n", plural(len(tools), "tool"), plural(sum, "token"))
}
