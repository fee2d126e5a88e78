package pruner_test

import (
	"strings"
	"testing"

	"secateur/internal/prune"
	"secateur/internal/pruner"
)

func TestGuessSource(t *testing.T) {
	const (
		goCode   = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfor i := range 3 {\n\t\tfmt.Println(i)\n\t}\n}\n"
		pyCode   = "import os\n\nclass A:\n    def f(self, x):\n        if x:\n            return os.sep\n        y = x + 1\n        return y\n"
		ciLog    = "2026-03-14T09:00:01.120Z INFO  compiling a.go\n2026-03-14T09:00:02.120Z ERROR no\n\tat main.go:3\n2026-03-14T09:00:03Z INFO done\n"
		sysLog   = "Mar  3 10:11:12 host sshd[42]: accepted\nMar  3 10:11:13 host sshd[42]: closed\n"
		webLog   = "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" 200 2326\n"
		levelLog = "[INFO] Scanning for projects...\n[INFO] Building\n[ERROR] Failed\n[INFO] ----\n"
		prose    = "It was a long way to the river.\nNobody had been there before, and nobody went again.\n\nThe end.\n"
		markdown = "# Title\n\nSome words about it.\n\n- one\n- two\n"
	)
	for _, c := range []struct {
		rule, name, text string
		want             prune.Source
	}{
		{"an ending", "main.go", "", prune.Code},
		{"an ending in capitals", "MAIN.PY", "", prune.Code},
		{"a path", "src/pkg/a.rs", prose, prune.Code},
		{"a path of Windows", `C:\src\a.ts`, prose, prune.Code},
		{"a whole name", "Dockerfile", prose, prune.Code},
		{"a log", "build.log", prose, prune.Logs},
		{"a rotated log", "app.log.3", prose, prune.Logs},
		{"a rotated log without an ending", "messages.1", prose, prune.Logs},
		{"a log of a day", "app.log-20260314", prose, prune.Logs},
		{"documentation", "README.md", goCode, prune.Docs},
		{"documentation without an ending", "LICENSE", goCode, prune.Docs},
		{"Go by its look", "-", goCode, prune.Code},
		{"Python by its look", "", pyCode, prune.Code},
		{"a script", "run", "#!/bin/sh\nuname\n", prune.Code},
		{"a log with moments", "output.txt", ciLog, prune.Logs},
		{"a log of the system", "x", sysLog, prune.Logs},
		{"a log of a web server", "x", webLog, prune.Logs},
		{"a log with levels", "x", levelLog, prune.Logs},
		{"prose", "story.txt", prose, prune.Docs},
		{"markdown", "x", markdown, prune.Docs},
		{"nothing", "", "", prune.Docs},
		{"blank lines", "", "\n\n\n", prune.Docs},
		{"one huge line", "", strings.Repeat("word ", 1<<20), prune.Docs},
		{"bytes", "", "\x00\xff\xfe\n\x80", prune.Docs},
	} {
		if got := pruner.GuessSource(c.name, c.text); got != c.want {
			t.Errorf("%s: GuessSource(%q, %.20q) = %s, want %s", c.rule, c.name, c.text, got, c.want)
		}
	}
}
