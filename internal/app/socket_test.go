package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"secateur/internal/config"
	"secateur/internal/ops/admin"
)

// A program on a pipe answers its user on its own socket. No other user can open it, and it is
// removed at the end.
func TestSocketOfAPipe(t *testing.T) {
	cfg, mistakes := config.Load("c.toml", []byte("auth_token = \"asked-of-others-only\"\n[[servers]]\nid = \"demo\"\nbuiltin = \"demo\"\n"), config.Options{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	state := t.TempDir()
	a, err := New(Options{Config: cfg, Version: "1.2.3", StateDir: state, Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(state, SocketDir, "1.sock")
	if err := os.MkdirAll(filepath.Dir(stale), 0o700); err != nil {
		t.Fatal(err)
	}
	left, err := net.Listen("unix", stale)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false) // as if its program had been killed
	left.Close()

	in, toStdin := io.Pipe()
	fromStdout, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- a.RunStdio(t.Context(), in, out, "asked-of-others-only")
		out.Close()
	}()
	lines := bufio.NewScanner(fromStdout)
	say := func(message string) string {
		fmt.Fprintln(toStdin, message)
		lines.Scan()
		return lines.Text()
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	if got := say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(got, "read_log") {
		t.Fatalf("tools/list: %s", got)
	}
	path := filepath.Join(state, SocketDir, fmt.Sprintf("%d.sock", os.Getpid()))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}}
	var status admin.Status
	var res *http.Response
	// The socket is opened in parallel to the pipe, whose responses say nothing about it.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if res, err = client.Get("http://secateur/api/v1/status"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if status.Mode != "stdio" || status.PID != os.Getpid() || status.Sessions != 1 || status.Listen != "" || status.Servers["ready"] != 2 {
		t.Errorf("status = %+v", status)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	if _, err := os.Lstat(stale); !os.IsNotExist(err) {
		t.Errorf("the socket that nobody listens on is still there: %v", err)
	}
	toStdin.Close()
	for lines.Scan() {
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}
