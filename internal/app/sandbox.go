package app

import (
	"path/filepath"

	"secateur/internal/mcp/child"
	"secateur/internal/mcp/confine"
	"secateur/internal/mcp/upstream"
)

// sandboxes returns where confined servers keep their files, and what the kernel can enforce.
func (o Options) sandboxes() upstream.Sandboxes {
	s := upstream.Sandboxes{Kernel: confine.Detect(), Home: o.Home}
	if o.StateDir != "" {
		s.Dir = filepath.Join(o.StateDir, "sandbox")
	}
	return s
}

// sandboxOf returns the name of a server's sandbox and the parts that a kernel cannot enforce.
func sandboxOf(set upstream.Settings, k confine.Kernel) (name string, gaps []string) {
	if !set.Sandbox.On() {
		return "", []string{}
	}
	return set.Sandbox.Text(), append([]string{}, confine.Gaps(set.Sandbox, k)...)
}

// Sandbox is what a server may touch on this machine.
type Sandbox struct {
	Name   string   // a profile or "table"; "": none
	Gaps   []string // the parts that the system cannot enforce
	May    []string // what it may touch, in words
	Absent []string // configured paths that are not there
}

// SandboxOf describes the sandbox of a server. It starts nothing.
func SandboxOf(opt Options, set upstream.Settings) (s Sandbox, err error) {
	with := opt.sandboxes()
	if s.Name, s.Gaps = sandboxOf(set, with.Kernel); s.Name == "" {
		return s, nil
	}
	set = inHome(set, opt.Home)
	env := child.BaseEnv(opt.Environ, set.PassEnv...)
	if path, ok := set.Env["PATH"]; ok {
		env = append(env, "PATH="+path.Reveal())
	}
	path, err := child.LookPath(set.Command[0], env)
	if err != nil {
		path = set.Command[0] // not installed here
	}
	plan, err := confine.New(set.Sandbox, confine.Program{
		Command: set.Command, Path: path, Dir: set.Cwd, Env: env, Home: opt.Home, Own: with.Of(set.ID),
	}, with.Kernel)
	if err != nil {
		return s, err
	}
	s.May, s.Absent = plan.Describe(opt.Home), plan.Absent
	return s, nil
}
