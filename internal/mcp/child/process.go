package child

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"secateur/internal/mcp/confine"
	"secateur/internal/secret"
)

// Program describes a child to start.
type Program struct {
	ID      string                 // names the child in the marker that its descendants inherit
	Command []string               // program and arguments
	BaseEnv []string               // base of its environment; see BaseEnv
	Env     map[string]secret.Text // added to BaseEnv
	Dir     string                 // working directory; empty: ours
	Grace   time.Duration          // time between the steps of stopping it
	Kill    <-chan struct{}        // closed to make Stop kill it immediately; nil: never
	Sandbox *Sandbox               // nil: it has all our rights
	Log     *slog.Logger
	// gets each line of its standard error, secrets masked; nil: discarded
	Stderr func(line string)
}

// Process is a running child. Its methods are safe for concurrent use.
type Process struct {
	Stdin  *os.File // our end of its standard input; Stop closes it
	Stdout *os.File // our end of its standard output; Stop closes it

	cmd    *exec.Cmd
	tree   *tree
	grace  atomic.Int64 // nanoseconds
	kill   <-chan struct{}
	stderr *os.File // our end
	tail   *stderrTail
	ended  chan struct{} // closed when the direct child has ended
	how    string        // how it ended; valid once ended is closed
	exited chan struct{} // closed when no process of the tree is left
	pipes  sync.WaitGroup
}

// Start starts a child in its own process group. The caller must call Stop.
func Start(p Program) (*Process, error) {
	marker := p.ID + "." + strings.ToLower(rand.Text())
	env := childEnv(p.BaseEnv, p.Env, marker)
	if p.Dir != "" {
		if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("its working directory %s is not there", p.Dir)
		}
	}
	path, err := lookPath(p.Command[0], env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: p.Command, Env: env, Dir: p.Dir}
	box, err := p.confine(cmd, marker)
	if err != nil {
		return nil, err
	}
	defer box.close()
	child := &Process{
		cmd:    cmd,
		kill:   p.Kill,
		tail:   &stderrTail{log: p.Log, secrets: secretsOf(p.Env), heard: p.Stderr},
		ended:  make(chan struct{}),
		exited: make(chan struct{}),
	}
	child.SetGrace(p.Grace)
	if err := child.openPipes(); err != nil {
		return nil, err
	}
	started := make(chan error)
	go child.own(started, marker, p.Log)
	err = <-started
	for _, theirs := range []any{child.cmd.Stdin, child.cmd.Stdout, child.cmd.Stderr} {
		_ = theirs.(*os.File).Close()
	}
	if err == nil {
		if err = box.failure(); err != nil {
			<-child.exited
		}
	}
	if err != nil {
		_, _, _ = child.Stdin.Close(), child.Stdout.Close(), child.stderr.Close()
		return nil, startError(p, err)
	}
	child.pipes.Go(func() { child.tail.drain(child.stderr) })
	child.pipes.Go(func() {
		<-child.exited // do not wait for a writer that could not be killed
		_ = child.stderr.SetReadDeadline(time.Now().Add(DrainTime))
	})
	return child, nil
}

// SetGrace changes the time between the steps of stopping it.
func (p *Process) SetGrace(grace time.Duration) { p.grace.Store(int64(grace)) }

// DrainTime is how long a pipe is still read after its child has ended. Earlier output is still in
// the pipe, but a process that inherited the other end must not block us.
const DrainTime = time.Second

// openPipes opens the three pipes.
func (p *Process) openPipes() (err error) {
	var files []*os.File
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	errR, errW := pipe()
	if err != nil {
		for _, f := range files {
			_ = f.Close()
		}
		return fmt.Errorf("no pipe for it: %w", err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
	p.Stdin, p.Stdout, p.stderr = inW, outR, errR
	return nil
}

// own starts the child and stays with it until its end, on one thread. On Linux a child dies with
// the thread that started it, and threads that are not locked to a goroutine come and go.
func (p *Process) own(started chan<- error, marker string, log *slog.Logger) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	prepare(p.cmd)
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.tree = newTree(p.cmd.Process.Pid, marker, log)
	started <- nil
	p.tree.reap(p.cmd, func(how string) {
		p.how = how
		close(p.ended)
	})
	close(p.exited)
}

// PID returns the process id of the child.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr returns the last lines that the child wrote to its standard error.
func (p *Process) Stderr(lines int) string { return p.tail.last(lines) }

// Ended returns a channel closed when the direct child has ended. Its descendants may still run.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exited returns a channel closed when the child and all its descendants are gone.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Status returns how the child ended; ok is false if it has not ended within this time.
func (p *Process) Status(wait time.Duration) (how string, ok bool) {
	if !within(p.ended, wait) {
		return "", false
	}
	return p.how, true
}

// Stop ends the child: it closes its standard input, then sends SIGTERM, then SIGKILL. It returns
// when the child and all its descendants are gone.
func (p *Process) Stop() {
	p.tree.note()
	_ = p.Stdin.Close()
	if !p.exits() {
		p.tree.note()
		p.tree.terminate()
		if !p.exits() {
			p.tree.kill()
			<-p.exited
		}
	}
	p.pipes.Wait()
	_, _ = p.stderr.Close(), p.Stdout.Close()
}

// exits waits for the child and its descendants to end; false if the grace period is over.
func (p *Process) exits() bool {
	t := time.NewTimer(time.Duration(p.grace.Load()))
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-p.kill:
		p.tree.kill()
		<-p.exited
		return true
	case <-t.C:
		return false
	}
}

func exitText(code int) string { return fmt.Sprintf("exited with status %d", code) }

func within(done <-chan struct{}, limit time.Duration) bool {
	select {
	case <-done: // however short the limit
		return true
	default:
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// startError explains to people why a program does not start.
func startError(p Program, err error) error {
	name := p.Command[0]
	if failed, ok := errors.AsType[*confine.SetupError](err); ok {
		return failed
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("command %q is not there, or the interpreter that its first line names is not", name)
	case errors.Is(err, fs.ErrPermission) && p.Sandbox != nil:
		return fmt.Errorf("command %q may not be executed, or its sandbox does not reach it: 'secateur check' says what it reaches", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("command %q may not be executed", name)
	default:
		return fmt.Errorf("command %q does not start: %w", name, err)
	}
}

// LookPath finds the program that a child with this environment would run; see BaseEnv.
func LookPath(name string, environ []string) (string, error) { return lookPath(name, BaseEnv(environ)) }

// lookPath finds a program in the child's PATH. A name with a separator is used unchanged, relative
// to the child's directory.
func lookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	dirs := lookupEnv(env, "PATH")
	for _, dir := range filepath.SplitList(dirs) {
		if dir == "" || !filepath.IsAbs(dir) {
			continue // never take a program from the current directory
		}
		if path, ok := executable(filepath.Join(dir, name), env); ok {
			return path, nil
		}
	}
	return "", fmt.Errorf("command %q was not found in PATH (%s)", name, dirs)
}
