package main

import (
	"runtime/debug"
	"testing"
)

func TestTheVersionNamesItsCommit(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for _, c := range []struct {
		rule     string
		settings []debug.BuildSetting
		want     string
	}{
		{"a clean checkout", []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.modified", Value: "false"}}, "+0123456789ab"},
		{"one with changes", []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: commit}}, "+0123456789ab-dirty"},
		{"no checkout", nil, ""},
	} {
		if got := revision(c.settings); got != c.want {
			t.Errorf("%s: revision = %q, want %q", c.rule, got, c.want)
		}
	}
}
