package upstream

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
	"time"

	"secateur/internal/secret"
)

// program says which child to start and how.
type program struct {
	ID      string
	Command []string
	BaseEnv []string
	Env     map[string]secret.Text
	Dir     string
	Grace   time.Duration // between the steps of ending it
	Log     *slog.Logger
}

// process is a running child. When exited is closed, the child and all that descended from it are gone.
type process struct {
	cmd    *exec.Cmd
	family *family
	grace  time.Duration
	stdin  *os.File // our end; closing it asks the child to end
	stdout *os.File // our end
	stderr *tail
	ended  chan struct{} // closed when the direct child has ended
	how    string        // it ended; to be read when ended is closed
	exited chan struct{} // closed when nothing is left of it
	pipes  sync.WaitGroup
}

// startProcess starts a child in a process group of its own. Whoever started it must call stop.
func startProcess(p program) (*process, error) {
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
	child := &process{
		cmd:    &exec.Cmd{Path: path, Args: p.Command, Env: env, Dir: p.Dir},
		grace:  p.Grace,
		stderr: &tail{log: p.Log},
		ended:  make(chan struct{}),
		exited: make(chan struct{}),
	}
	stderr, err := child.openPipes()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go child.own(started, marker, p.Log)
	err = <-started
	for _, theirs := range []any{child.cmd.Stdin, child.cmd.Stdout, child.cmd.Stderr} {
		_ = theirs.(*os.File).Close()
	}
	if err != nil {
		_, _, _ = child.stdin.Close(), child.stdout.Close(), stderr.Close()
		return nil, startError(p, err)
	}
	child.pipes.Go(func() { child.stderr.drain(stderr) })
	child.pipes.Go(func() {
		<-child.exited // a writer that could not be killed must not hold us
		_ = stderr.SetReadDeadline(time.Now().Add(lastWords))
	})
	go func() {
		child.pipes.Wait()
		_ = stderr.Close()
	}()
	return child, nil
}

// lastWords is how long we read on after a child has ended.
const lastWords = time.Second

// openPipes makes the three pipes and returns our end of standard error.
func (p *process) openPipes() (stderr *os.File, err error) {
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
		return nil, fmt.Errorf("no pipe for it: %w", err)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, errW
	p.stdin, p.stdout = inW, outR
	return errR, nil
}

// own starts the child and stays with it to its end, on one thread: on Linux a child is told to die when the thread
// that started it does, and threads without a goroutine of their own come and go.
func (p *process) own(started chan<- error, marker string, log *slog.Logger) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	prepare(p.cmd)
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	p.family = newFamily(p.cmd.Process.Pid, marker, log)
	started <- nil
	p.family.reap(p.cmd, func(how string) {
		p.how = how
		close(p.ended)
	})
	close(p.exited)
}

// stop ends the child: by closing its standard input, then by asking, then by force. It returns when nothing is left.
func (p *process) stop() {
	p.family.note()
	_ = p.stdin.Close()
	if !within(p.exited, p.grace) {
		p.family.note()
		p.family.terminate()
		if !within(p.exited, p.grace) {
			p.family.kill()
			<-p.exited
		}
	}
	p.pipes.Wait()
	_ = p.stdout.Close()
}

// status says how the child ended, once it has.
func (p *process) status() string {
	<-p.ended
	return p.how
}

func exitText(code int) string { return fmt.Sprintf("exited with status %d", code) }

func within(done <-chan struct{}, limit time.Duration) bool {
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
func startError(p program, err error) error {
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
