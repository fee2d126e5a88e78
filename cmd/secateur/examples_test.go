package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// desk is a home directory as a user of the examples may have it, with the environment that goes with it.
func desk(t *testing.T) (home string, environ []string) {
	t.Helper()
	home = t.TempDir()
	for file, text := range map[string]string{
		".cursor/mcp.json":               `{"mcpServers":{"time":{"command":"uvx","args":["mcp-server-time"]}}}`,
		".mcp.json":                      `{"mcpServers":{"other":{"command":"uvx"}}}`,
		".config/secateur/secateur.toml": "listen = \"127.0.0.1:0\"\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n",
	} {
		path := filepath.Join(home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(home, ".state"), "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"GORACE=atexit_sleep_ms=20", // see TestScripts
	}
}

// before is what has to be done before an example makes sense.
var before = map[string]string{
	"secateur remove files":            "secateur add files -- npx -y files",
	"secateur approve notes":           "secateur add notes -- npx -y notes",
	"secateur disconnect cursor --yes": "secateur connect cursor --yes",

	"secateur hook claude-code < event.json": "echo '{}' > event.json",
}

// The examples in the help of every command work as they stand, with a program running.
func TestExamples(t *testing.T) {
	home, environ := desk(t)
	daemon := exec.Command("secateur", "serve")
	daemon.Env, daemon.Dir = environ, home
	out, err := daemon.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(first, "http://")
	address, _, _ := strings.Cut(rest, " ")
	for !strings.HasPrefix(first, "  pruner") { // then all servers are there
		if first, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}

	examples := examplesOf(newRoot(world{}))
	if len(examples) < 20 {
		t.Errorf("only %d examples: %q", len(examples), examples)
	}
	for _, example := range examples {
		home, environ := desk(t)
		cmd := exec.Command("sh", "-c", before[example]+"\n"+example)
		cmd.Env, cmd.Dir = slices.Concat(environ, []string{"SECATEUR_URL=http://" + address}), home
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", example, err, text)
		}
	}
	if err := daemon.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, lines)
	if err := daemon.Wait(); err != nil {
		t.Error(err)
	}
}

// examplesOf are the examples of all commands, line by line.
func examplesOf(cmd *cobra.Command) (all []string) {
	for line := range strings.SplitSeq(cmd.Example, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	for _, c := range cmd.Commands() {
		if c.Name() != "completion" { // whose help is cobra's
			all = append(all, examplesOf(c)...)
		}
	}
	return all
}
