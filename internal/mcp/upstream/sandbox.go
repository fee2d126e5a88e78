package upstream

import (
	"context"
	"path/filepath"
	"strings"

	"secateur/internal/mcp/child"
	"secateur/internal/mcp/confine"
)

// Sandboxes is where and by what children are confined.
type Sandboxes struct {
	Kernel confine.Kernel
	Home   string // the user's home directory
	Dir    string // holds one directory for each server
}

// Of returns the directory of one server; "": there is none.
func (s Sandboxes) Of(id string) string {
	if s.Dir == "" {
		return ""
	}
	return filepath.Join(s.Dir, id)
}

// sandbox returns the sandbox of this server's children; nil: none is configured. It fails if the
// sandbox is required and the kernel cannot enforce all of it. Otherwise the gaps are logged.
func (u *Upstream) sandbox(ctx context.Context) (*child.Sandbox, error) {
	set, with := u.opt.Settings, u.opt.Sandboxes
	if !set.Sandbox.On() {
		if set.SandboxRequired {
			return nil, u.errorf(Unavailable, "sandbox_required is set, and there is no sandbox; set sandbox, such as %q", confine.ProfilePackage)
		}
		return nil, nil
	}
	gaps := confine.Gaps(set.Sandbox, with.Kernel)
	if len(gaps) > 0 && set.SandboxRequired {
		return nil, u.errorf(Unavailable, "sandbox_required is set, and the system cannot enforce: %s", strings.Join(gaps, "; "))
	}
	if len(gaps) > 0 {
		u.unconfined.Do(func() {
			u.log.WarnContext(ctx, "sandbox is not complete: the system cannot enforce a part of it", "gaps", strings.Join(gaps, "; "))
		})
	}
	return &child.Sandbox{Settings: set.Sandbox, Kernel: with.Kernel, Home: with.Home, Own: with.Of(set.ID)}, nil
}
