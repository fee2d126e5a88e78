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

	"secateur/internal/secret"
)

// Program says which child to start and how.
type Program struct {
	ID      string                 // names the child in the marker that its descendants inherit
	Command []string               // program and arguments
	BaseEnv []string               // what its environment starts with, see BaseEnv
	Env     map[string]secret.Text // added to BaseEnv
	Dir     string                 // working directory; empty: ours
	Grace   time.Duration          // between the steps of ending it
	Kill    <-chan struct{}        // closed when Stop is to end it by force, without further steps; nil: never
	Log     *slog.Logger
	Stderr  func(line string) // gets each line of its standard error, secrets masked; nil: nobody
}

// Process is a running child. Its methods may be used by many goroutines.
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
	how    string        // it ended; to be read when ended is closed
	exited chan struct{} // closed when nothing is left of the tree
	pipes  sync.WaitGroup
}

// Start starts a child in a process group of its own. Whoever started it must call Stop.
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
	child := &Process{
		cmd:    &exec.Cmd{Path: path, Args: p.Command, Env: env, Dir: p.Dir},
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
	if err != nil {
		_, _, _ = child.Stdin.Close(), child.Stdout.Close(), child.stderr.Close()
		return nil, startError(p, err)
	}
	child.pipes.Go(func() { child.tail.drain(child.stderr) })
	child.pipes.Go(func() {
		<-child.exited // a writer that could not be killed must not hold us
		_ = child.stderr.SetReadDeadline(time.Now().Add(DrainTime))
	})
	return child, nil
}

// SetGrace changes how long it has between the steps of ending it.
func (p *Process) SetGrace(grace time.Duration) { p.grace.Store(int64(grace)) }

// DrainTime is how long a pipe is read on after its child has ended: what it wrote before is still there, but whoever
// inherited the other end must not hold us.
const DrainTime = time.Second

// openPipes makes the three pipes.
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

// own starts the child and stays with it to its end, on one thread: on Linux a child is told to die when the thread
// that started it does, and threads without a goroutine of their own come and go.
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

// PID is the number of the child's process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stderr is the end of what the child wrote to its standard error, at most so many lines.
func (p *Process) Stderr(lines int) string { return p.tail.last(lines) }

// Ended is closed when the direct child has ended; its descendants may still live.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exited is closed when the child and all that descended from it are gone.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Status says how the child ended; ok is false if it has not within this time.
func (p *Process) Status(wait time.Duration) (how string, ok bool) {
	if !within(p.ended, wait) {
		return "", false
	}
	return p.how, true
}

// Stop ends the child: by closing its standard input, then by asking, then by force. It returns when the child and all
// that descended from it are gone.
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

// exits waits for the child and its descendants to end; false if they are not to be waited for any longer.
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

// startError says what a person can do about a program that does not start.
func startError(p Program, err error) error {
	name := p.Command[0]
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("command %q is not there, or the interpreter that its first line names is not", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("command %q may not be executed", name)
	default:
		return fmt.Errorf("command %q does not start: %w", name, err)
	}
}

// LookPath finds the program that a child with this environment would be, see BaseEnv.
func LookPath(name string, environ []string) (string, error) { return lookPath(name, BaseEnv(environ)) }

// lookPath finds a program in the PATH that the child will have. A name with a separator is taken as it is, relative
// to the child's directory.
func lookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return name, nil
	}
	dirs := lookupEnv(env, "PATH")
	for _, dir := range filepath.SplitList(dirs) {
		if dir == "" || !filepath.IsAbs(dir) {
			continue // a program is not taken from wherever we happen to stand
		}
		if path, ok := executable(filepath.Join(dir, name), env); ok {
			return path, nil
		}
	}
	return "", fmt.Errorf("command %q was not found in PATH (%s)", name, dirs)
}
