package prune

import (
	"strings"
	"testing"
)

func TestGuess(t *testing.T) {
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
		want             Source
	}{
		{"an ending", "main.go", "", Code},
		{"an ending in capitals", "MAIN.PY", "", Code},
		{"a path", "src/pkg/a.rs", prose, Code},
		{"a path of Windows", `C:\src\a.ts`, prose, Code},
		{"a whole name", "Dockerfile", prose, Code},
		{"a log", "build.log", prose, Logs},
		{"a rotated log", "app.log.3", prose, Logs},
		{"a rotated log without an ending", "messages.1", prose, Logs},
		{"a log of a day", "app.log-20260314", prose, Logs},
		{"documentation", "README.md", goCode, Docs},
		{"documentation without an ending", "LICENSE", goCode, Docs},
		{"Go by its look", "-", goCode, Code},
		{"Python by its look", "", pyCode, Code},
		{"a script", "run", "#!/bin/sh\nuname\n", Code},
		{"a log with moments", "output.txt", ciLog, Logs},
		{"a log of the system", "x", sysLog, Logs},
		{"a log of a web server", "x", webLog, Logs},
		{"a log with levels", "x", levelLog, Logs},
		{"prose", "story.txt", prose, Docs},
		{"markdown", "x", markdown, Docs},
		{"nothing", "", "", Docs},
		{"blank lines", "", "\n\n\n", Docs},
		{"one huge line", "", strings.Repeat("word ", 1<<20), Docs},
		{"bytes", "", "\x00\xff\xfe\n\x80", Docs},
	} {
		if got := Guess(c.name, c.text); got != c.want {
			t.Errorf("%s: Guess(%q, %.20q) = %s, want %s", c.rule, c.name, c.text, got, c.want)
		}
	}
}
