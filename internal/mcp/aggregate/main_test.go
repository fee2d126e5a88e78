package aggregate_test

import (
	"io"
	"net"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// wireVariable makes this binary the other end of a test's server: a child process whose pipes lead to the socket that
// it names.
const wireVariable = "MCPSERVER_TEST_WIRE"

func TestMain(m *testing.M) {
	if path := os.Getenv(wireVariable); path != "" {
		join(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// join joins standard input and output with a socket until either ends.
func join(path string) {
	conn, err := net.Dial("unix", path)
	if err != nil {
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.(*net.UnixConn).CloseWrite()
	}()
	_, _ = io.Copy(os.Stdout, conn)
}
