package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// engine is a redis-server that is stopped, paused and killed while replicas use it.
type engine struct {
	socket string
	mu     sync.Mutex
	cmd    *exec.Cmd
	faults atomic.Int64 // odd during a fault: what was cut before one may be gone after it
	// The same, but odd until every replica has had time to notice that the engine is back.
	calm atomic.Int64
}

// start runs it, and returns when it answers. A replica that starts earlier would consider it down
// for a while.
func (e *engine) start(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cmd = exec.Command("redis-server", "--port", "0", "--unixsocket", e.socket, "--save", "", "--dir", filepath.Dir(e.socket), "--loglevel", "warning") //nolint:noctx // ended by kill
	if err := e.cmd.Start(); err != nil {
		return err
	}
	for range 1000 {
		if answer, err := e.say(ctx, "PING"); err == nil && strings.HasPrefix(answer, "+PONG") {
			return nil
		}
		if !pause(ctx, 10*time.Millisecond) {
			return ctx.Err()
		}
	}
	_ = e.cmd.Process.Kill()
	return errors.New("redis-server does not answer within ten seconds")
}

func (e *engine) kill() {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.cmd.Process.Kill()
	_ = e.cmd.Wait()
}

func (e *engine) signal(s syscall.Signal) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_ = e.cmd.Process.Signal(s)
}

// say sends a command of words without blanks and returns the first line of the response.
func (e *engine) say(ctx context.Context, command string) (string, error) {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "unix", e.socket)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, command+"\r\n"); err != nil {
		return "", err
	}
	return bufio.NewReader(c).ReadString('\n')
}

// torment causes one fault after the other until ctx is done: stopped for a while, killed and
// restarted empty, paused by a client. The engine runs afterwards.
func (e *engine) torment(ctx context.Context, rest time.Duration) error {
	for n := 0; pause(ctx, rest); n++ {
		e.calm.Add(1)
		e.faults.Add(1)
		switch n % 3 {
		case 0:
			e.signal(syscall.SIGSTOP)
			pause(ctx, 4*time.Second)
			e.signal(syscall.SIGCONT)
		case 1:
			e.kill()
			pause(ctx, 2*time.Second)
			if err := e.start(ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("redis-server: %w", err)
			}
		case 2:
			if _, err := e.say(ctx, "CLIENT PAUSE 3000 ALL"); err != nil && ctx.Err() == nil {
				return fmt.Errorf("client pause: %w", err)
			}
			pause(ctx, 4*time.Second)
		}
		e.faults.Add(1)
		pause(ctx, 3*time.Second)
		e.calm.Add(1)
	}
	return nil
}
