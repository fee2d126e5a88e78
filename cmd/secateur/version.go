package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

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

// shortCommit is the commit that this binary was built from; "": Go has recorded none.
func shortCommit() string { return strings.TrimPrefix(commit(), "+") }

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return revision(info.Settings)
}

// revision is "+" and the commit that a binary was built from, with a mark if the checkout had changes beside it; "" where
// Go has recorded none.
func revision(settings []debug.BuildSetting) string {
	commit, dirty := "", ""
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = "+" + s.Value[:12]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}
