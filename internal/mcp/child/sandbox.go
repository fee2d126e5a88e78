package child

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"

	"secateur/internal/mcp/confine"
)

// Sandbox says how a child is confined.
type Sandbox struct {
	Settings *confine.Settings
	Kernel   confine.Kernel
	Home     string // the user's home directory
	Own      string // directory of this child alone
}

// box is the sandbox of a child that is being started; nil: it has none.
type box struct{ report, theirs *os.File }

// confine changes a command so that it is started in its sandbox.
func (p Program) confine(cmd *exec.Cmd, marker string) (*box, error) {
	if p.Sandbox == nil || runtime.GOOS != "linux" {
		return nil, nil
	}
	base := append(slices.Clip(p.BaseEnv), "PATH="+lookupEnv(cmd.Env, "PATH"))
	plan, err := confine.New(p.Sandbox.Settings, confine.Program{
		Command: p.Command, Path: cmd.Path, Dir: p.Dir, Env: base, Home: p.Sandbox.Home, Own: p.Sandbox.Own,
	}, p.Sandbox.Kernel)
	if err != nil {
		return nil, err
	}
	if err := plan.Prepare(); err != nil {
		return nil, err
	}
	b := &box{}
	if b.report, b.theirs, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("no pipe for it: %w", err)
	}
	cmd.Path, cmd.Args = plan.Command(cmd.Path, cmd.Args)
	cmd.Env, cmd.Dir = childEnv(plan.Env, p.Env, marker), plan.Dir
	cmd.ExtraFiles = []*os.File{b.theirs}
	return b, nil
}

// failure waits until the program runs in its sandbox, or returns why it does not.
func (b *box) failure() error {
	if b == nil {
		return nil
	}
	_ = b.theirs.Close()
	return confine.Failure(b.report)
}

func (b *box) close() {
	if b != nil {
		_, _ = b.report.Close(), b.theirs.Close()
	}
}
