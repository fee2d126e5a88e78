package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"secateur/internal/config"
)

// A program on a pipe notices changes of its file. Its client hears of the new list without asking.
// If the file removes the token of the pipe, the pipe ends with the reason.
func TestReloadOfAPipe(t *testing.T) {
	path := t.TempDir() + "/secateur.toml"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte("first_list_wait = 60\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	tokens := tokenRow("a", "token-a", "") + tokenRow("b", "token-b", "")
	write(demo1 + tokens)
	load := func() (*config.Config, []config.Problem) { return config.LoadFile(path, config.Options{}) }
	cfg, mistakes := load()
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	a, err := New(Options{Config: cfg, Version: "1", StateDir: t.TempDir(), Lazy: true, Load: load})
	if err != nil {
		t.Fatal(err)
	}
	in, toStdin := io.Pipe()
	fromStdout, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- a.RunStdio(t.Context(), in, out, "token-a")
		out.Close()
	}()
	lines := bufio.NewScanner(fromStdout)
	lines.Buffer(nil, 1<<20)
	// until reads the program's output up to a line with the given text.
	until := func(part string) string {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), part) {
				return lines.Text()
			}
		}
		t.Fatalf("the pipe ended before %q came", part)
		return ""
	}
	fmt.Fprintln(toStdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	until(`"id":1`)
	fmt.Fprintln(toStdin, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	fmt.Fprintln(toStdin, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if got := until(`"id":2`); !strings.Contains(got, "one::read_log") || strings.Contains(got, "two::read_log") {
		t.Fatalf("tools/list: %s", got)
	}
	write(demo1 + strings.Replace(demo1, "one", "two", 1) + tokens)
	until("notifications/tools/list_changed")
	fmt.Fprintln(toStdin, `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	if got := until(`"id":3`); !strings.Contains(got, "one::read_log") || !strings.Contains(got, "two::read_log") {
		t.Errorf("tools/list: %s", got)
	}
	write(demo1 + tokenRow("b", "token-b", ""))
	for lines.Scan() {
	}
	if err := <-ended; !errors.Is(err, errRevoked) {
		t.Errorf("the pipe ended with %v, want %v", err, errRevoked)
	}
}
