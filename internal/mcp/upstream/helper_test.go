package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"secateur/internal/mcp/child"
	"secateur/internal/mcp/wire"
)

// patience is how long a test waits for something that should happen soon.
const patience = time.Minute

// start builds and runs an Upstream until the test ends.
func start(tb testing.TB, opt Options) *Upstream {
	tb.Helper()
	u, stop := startStoppable(tb, opt)
	tb.Cleanup(stop)
	return u
}

// startStoppable also returns a function that stops the Upstream and waits for Run to return.
func startStoppable(tb testing.TB, opt Options) (*Upstream, func()) {
	tb.Helper()
	if opt.BaseEnv == nil {
		opt.BaseEnv = child.BaseEnv(os.Environ())
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.NewTextHandler(testWriter{tb}, &slog.HandlerOptions{Level: slog.LevelInfo}))
	}
	u, err := New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- u.Run(ctx) }()
	return u, sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				tb.Errorf("Run: %v", err)
			}
		case <-time.After(patience):
			tb.Error("Run did not return")
		}
	})
}

type testWriter struct{ tb testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%s: %s", w.tb.Name(), p)
	}
	return len(p), nil
}

// message parses a client's message.
func message(tb testing.TB, s string) *wire.Message {
	tb.Helper()
	m, err := wire.ParseRequest([]byte(s), wire.MaxRequestDepth)
	if err != nil {
		tb.Fatalf("%s: %v", s, err)
	}
	return &m
}

// toolCall returns a request for one of the child's tools.
func toolCall(tb testing.TB, id, name, arguments string) *wire.Message {
	tb.Helper()
	return message(tb, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`)
}

// mustCall makes a call that must succeed with this result.
func mustCall(tb testing.TB, u *Upstream, req *wire.Message, want string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	reply, err := u.Call(ctx, req)
	if err != nil {
		tb.Fatalf("Call(%s): %v", req.Name, err)
	}
	defer reply.Release()
	if string(reply.Result) != want || !reply.ID.Same(req.ID) {
		tb.Fatalf("Call(%s) = id %s, result %s; want id %s, result %s", req.Name, reply.ID, reply.Result, req.ID, want)
	}
}

// wantError checks a call's error.
func wantError(tb testing.TB, err error, kind Kind, status int, parts ...string) {
	tb.Helper()
	failed, ok := errors.AsType[*CallError](err)
	if !ok {
		tb.Fatalf("err = %v (%T), want a CallError", err, err)
	}
	if failed.Kind != kind || failed.HTTPStatus != status {
		tb.Errorf("err = %v %q (HTTP %d), want %v (HTTP %d)", failed.Kind, failed.Message, failed.HTTPStatus, kind, status)
	}
	for _, part := range parts {
		if !strings.Contains(failed.Message+" "+failed.Hint, part) {
			tb.Errorf("message %q, hint %q: want %q in it", failed.Message, failed.Hint, part)
		}
	}
}

// eventually waits for a condition that another process or goroutine brings about.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	if !comesTrue(ok) {
		tb.Fatalf("still not: %s", what)
	}
}

// comesTrue is eventually for goroutines that may not end the test.
func comesTrue(ok func() bool) bool {
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(2 * time.Millisecond)
	}
	return true
}
