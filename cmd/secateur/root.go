package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"secateur/internal/config/suggest"
	"secateur/internal/mcp/catalog"
	"secateur/internal/ops/admin"
)

// The exit codes.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitConfig      = 3
	exitUnreachable = 4
)

// exitError is a failure that has an exit code of its own.
type exitError struct {
	code int
	err  error // nil: everything has been said
}

func (e exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return exitError{exitUsage, fmt.Errorf(format, args...)}
}

// run executes a command line and returns its exit code.
func run(ctx context.Context, args []string, w world) int {
	root := newRoot(w) //nolint:contextcheck // commands get theirs from ExecuteContext
	root.SetArgs(rangesNotFlags(args))
	cmd, err := root.ExecuteContextC(ctx)
	if s, ok := w.out.(*screen); ok {
		s.Flush()
	}
	if err == nil {
		return 0
	}
	code := exitFailure
	if e, ok := errors.AsType[exitError](err); ok {
		code = e.code
	} else if isUsage(err) {
		code = exitUsage
	}
	text := err.Error()
	if p, ok := errors.AsType[*admin.Problem](err); ok && p.Hint != "" {
		text += "; " + p.Hint
	}
	if text != "" {
		fmt.Fprintln(w.err, "secateur:", text)
	}
	if code == exitUsage {
		tellUsage(w, cmd)
	}
	return code
}

// tellUsage says how the command that was meant is used.
func tellUsage(w world, cmd *cobra.Command) {
	if !cmd.HasParent() || !cmd.Runnable() {
		fmt.Fprintln(w.err, "Run 'secateur --help' for the commands.")
		return
	}
	fmt.Fprintln(w.err, "Usage: "+cmd.UseLine())
	fmt.Fprintf(w.err, "Run '%s --help' for more.\n", cmd.CommandPath())
}

// rangesNotFlags writes "-7", the first seven lines that 'recover' is asked for, so that it is not taken for a flag.
func rangesNotFlags(args []string) []string {
	i := slices.Index(args, "recover")
	if i < 0 {
		return args
	}
	args = slices.Clone(args)
	for j := i + 1; j < len(args); j++ {
		if rest, ok := strings.CutPrefix(args[j], "-"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			args[j] = "1-" + rest
		}
	}
	return args
}

// isUsage recognises the mistakes that cobra itself finds.
func isUsage(err error) bool {
	text := err.Error()
	for _, start := range []string{"unknown command", "accepts ", "requires ", "invalid argument"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}

func newRoot(w world) *cobra.Command {
	var file string
	var asksVersion bool
	root := &cobra.Command{
		Use:   "secateur",
		Short: "Cuts what fills the context window, recoverably",
		Long: `secateur stands between a coding agent, its MCP servers and its model provider, and
cuts what fills the context window. Everything cut can be restored.

Start with 'secateur serve': without a configuration file it runs a built-in
default and prints what to try. With --config alone it is 'secateur stdio', so that a
client's settings need no more than the program and its file.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          isCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case asksVersion:
				fmt.Fprintln(w.out, versionLine())
				return nil
			case file == "":
				return cmd.Help()
			}
			return runStdio(cmd, w, file, catalog.ClientSettings{}, "")
		},
	}
	// cobra's own needs a template for the line, and a program with text/template in it keeps every exported method of every package:
	// a quarter of its size.
	root.Flags().BoolVarP(&asksVersion, "version", "v", false, "version for secateur")
	root.Flags().StringVarP(&file, "config", "c", "", "run 'secateur stdio' with this configuration `file`")
	root.SetIn(w.in)
	root.SetOut(w.out)
	root.SetErr(w.err)
	root.SetFlagErrorFunc(flagError)
	addGroup(root, "Set up:", newInit(w), newAdd(w), newRemove(w), newImport(w), newApprove(w), newConnect(w), newDisconnect(w), newLogin(w), newLogout(w), newToken(w), newCheck(w))
	addGroup(root, "Run:", newServe(w), newStdio(w), newRun(w), newPruner(w), newPrune(w), newRecover(w), newCall(w))
	addGroup(root, "Look:", newStatus(w), newServers(w), newTools(w), newLogs(w), newPins(w), newDoctor(w))
	addGroup(root, "Prove:", newDiscover(w), newSavings(w), newReplay(w), newPrices(w))
	addGroup(root, "Maintain:", newReload(w), newRestart(w), newPurge(w), newVersion(w))
	for _, c := range []*cobra.Command{newHook(w), newStatusLine(w), newHealthcheck(w), newSchema(w), newMan(w)} { // for agents, containers, editors and packagers
		c.Hidden = true
		root.AddCommand(c)
	}
	root.SetHelpCommandGroupID("Maintain:")
	root.SetCompletionCommandGroupID("Maintain:")
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() && !c.Runnable() {
			c.Args = isCommand
			c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	return root
}

// addGroup adds commands that the help lists under a title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// isCommand refuses what is no command of ours, and names the one that was probably meant.
func isCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return usage("unknown command %q%s", args[0], didYouMean(args[0], names, ""))
}

// flagError is a mistake in the flags of a command; one that it does not have is answered with the nearest.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return exitError{exitUsage, err}
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return usage("%w%s", err, didYouMean(unknown.GetSpecifiedName(), names, "--"))
}

func didYouMean(unknown string, known []string, prefix string) string {
	if s := suggest.Nearest(unknown, known); s != "" {
		return fmt.Sprintf("; did you mean %q?", prefix+s)
	}
	return ""
}
