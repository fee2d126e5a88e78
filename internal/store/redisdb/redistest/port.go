package redistest

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Ports below the ephemeral range, so that the system never assigns one of them.
const (
	lowestPort  = 12000
	portsBehind = 8000
)

// StartOnPort runs a server that also listens on TCP at 127.0.0.1. options receives the port, and
// is called again with another one if it is taken.
func StartOnPort(t *testing.T, options func(port string) []string) (s *Server, addr string) {
	t.Helper()
	for range 50 {
		port := strconv.Itoa(lowestPort + rand.IntN(portsBehind)) //nolint:gosec // any will do
		s = newServer(t, append([]string{"--bind", "127.0.0.1"}, options(port)...))
		if s.run() {
			return s, net.JoinHostPort("127.0.0.1", port)
		}
	}
	t.Fatal("fifty ports are taken")
	return nil, ""
}

// Port returns the options of a plain server.
func Port(port string) []string { return []string{"--port", port} }

// StartSentinel runs a Sentinel that watches a master under the name "m".
func StartSentinel(t *testing.T, master string) (addr string) {
	t.Helper()
	_, masterPort, err := net.SplitHostPort(master)
	if err != nil {
		t.Fatal(err)
	}
	_, addr = startWith(t, func(port string) (args []string) {
		file := filepath.Join(t.TempDir(), "sentinel.conf") // Sentinel writes to it
		text := strings.Join([]string{
			"port " + port, "bind 127.0.0.1", "sentinel monitor m 127.0.0.1 " + masterPort + " 1",
			"sentinel down-after-milliseconds m 3000", "sentinel failover-timeout m 10000", "",
		}, "\n")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{file, "--sentinel"}
	})
	return addr
}

// startWith runs a redis-server with the caller's arguments, until it accepts connections on its
// port.
func startWith(t *testing.T, words func(port string) []string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	for range 50 {
		port := strconv.Itoa(lowestPort + rand.IntN(portsBehind)) //nolint:gosec // any will do
		cmd = exec.Command("redis-server", words(port)...)        //nolint:noctx // ends with t
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		go func() { _ = cmd.Wait(); close(gone) }()
		t.Cleanup(func() { _ = cmd.Process.Kill(); <-gone })
		if answers(t, net.JoinHostPort("127.0.0.1", port), gone) {
			return cmd, net.JoinHostPort("127.0.0.1", port)
		}
	}
	t.Fatal("fifty ports are taken")
	return nil, ""
}

// answers waits until a server answers, or has ended.
func answers(t *testing.T, addr string, gone <-chan struct{}) bool {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1})
	defer func() { _ = c.Close() }()
	for c.Ping(t.Context()).Err() != nil {
		select {
		case <-gone:
			return false
		case <-t.Context().Done():
			return false
		default:
		}
	}
	return true
}

// StartCluster runs a Cluster of three masters and returns their addresses.
func StartCluster(t *testing.T) (addrs []string) {
	t.Helper()
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-cli is not installed: make test installs it")
		}
		t.Skip("redis-cli is not installed")
	}
	for range 3 {
		_, addr := StartOnPort(t, func(port string) []string {
			bus, _ := strconv.Atoi(port)
			return []string{"--port", port, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "120000", "--cluster-port", strconv.Itoa(bus + portsBehind)}
		})
		addrs = append(addrs, addr)
	}
	args := append([]string{"--cluster", "create"}, addrs...)
	if out, err := exec.CommandContext(t.Context(), cli, append(args, "--cluster-yes")...).CombinedOutput(); err != nil {
		t.Fatalf("redis-cli --cluster create: %v: %s", err, out)
	}
	return addrs
}
