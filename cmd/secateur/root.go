package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := exitFailure
	if e, ok := errors.AsType[exitError](err); ok {
		code = e.code
	} else if isUsage(err) {
		code = exitUsage
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(w.err, "secateur:", text)
	}
	if code == exitUsage {
		fmt.Fprintln(w.err, "Run 'secateur --help' for the commands.")
	}
	return code
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
	root := &cobra.Command{
		Use:   "secateur",
		Short: "Cuts what fills the context window, recoverably",
		Long: `secateur stands between a coding agent, its MCP servers and its model provider, and
cuts what fills the context window. Everything cut can be had back.

Start with 'secateur serve': without a configuration file it runs a built-in
default and prints what to try. With --config alone it is 'secateur stdio', so that a
client's settings need no more than the program and its file.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return cmd.Help()
			}
			return runStdio(cmd, w, file)
		},
	}
	root.Flags().StringVarP(&file, "config", "c", "", "run 'secateur stdio' with this configuration `file`")
	root.SetIn(w.in)
	root.SetOut(w.out)
	root.SetErr(w.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exitError{exitUsage, err} })
	root.AddCommand(newServe(w), newStdio(w), newPruner(w), newPrune(w), newRecover(w), newReplay(w), newCheck(w), newInit(w), newSchema(w), newVersion(w))
	return root
}
