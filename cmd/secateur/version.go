package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is this release. A build from a checkout adds its commit where Go has recorded one.
const version = "0.1.0"

func newVersion(w world) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintln(w.out, versionLine())
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("secateur %s%s (%s, %s/%s)", version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "+" + s.Value[:12]
		}
	}
	return ""
}
