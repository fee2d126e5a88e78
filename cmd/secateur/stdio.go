package main

import (
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/app"
	"secateur/internal/mcp/catalog"
)

func newStdio(w world) *cobra.Command {
	var file string
	var names catalog.ClientSettings
	var tools string
	cmd := &cobra.Command{
		Use:   "stdio",
		Short: "Serve all configured MCP servers as one, on standard input and output",
		Long: `stdio puts all configured MCP servers behind one, on standard input and output: for Cursor,
Claude Desktop, the Inspector and every other client that starts its servers by itself.
'secateur --config F' alone means the same.

Tools and prompts are called <server>::<name>, or in the form the client accepts. The
configuration is --config, SECATEUR_CONFIG or that of the user; the working directory is
not looked at, because a client may start this program in any repository. Without a
configuration the built-in default runs.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runStdio(cmd, w, file, names, tools) },
	}
	configFlag(cmd, &file)
	cmd.Flags().StringVar(&names.Separator, "separator", "", "what stands between a server's id and a tool's name, such as __ (default: as the client is known to need it, else ::)")
	cmd.Flags().IntVar(&names.MaxLength, "max-length", 0, "characters of a name at most; a longer one is cut and gets a hash")
	cmd.Flags().StringVar(&tools, "tools", "", "list or search: whether the client lists tools or finds them (default: as its profile says)")
	return cmd
}

func runStdio(cmd *cobra.Command, w world, file string, names catalog.ClientSettings, tools string) error {
	if err := names.Validate(); err != nil {
		return usage("%s", flagged.Replace(err.Error()))
	}
	tools, err := catalog.ReadToolsMode(tools)
	if err != nil {
		return usage("--%s", err)
	}
	opt, err := w.program(cmd.Context(), file, "", usersOwn)
	if err != nil {
		return err
	}
	opt.Lazy, opt.Names, opt.ToolMode = true, names, tools
	a, err := app.New(opt)
	if err != nil {
		return err
	}
	token, _ := w.lookup("AUTH_TOKEN")
	return a.RunStdio(cmd.Context(), w.in, exact(w.out), token)
}

// flagged names the flags where a mistake names the keys.
var flagged = strings.NewReplacer("separator:", "--separator:", "max_length:", "--max-length:", "\n", "; ")
