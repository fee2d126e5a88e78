package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Program is a command that is to be confined.
type Program struct {
	Command []string // program and arguments
	Path    string   // the program's file
	Dir     string   // working directory; "": ours
	Env     []string // as "NAME=value"
	Home    string   // the user's home directory
	Own     string   // directory of this server alone
}

// Plan is how a command is confined.
type Plan struct {
	Spec
	Dir    string   // working directory
	Env    []string // environment
	Absent []string // configured paths that are not there, so that they are not granted

	own string
}

// New plans the sandbox of a command. It reads the file system and changes nothing.
func New(s *Settings, p Program, k Kernel) (*Plan, error) {
	if p.Own == "" {
		return nil, errors.New("sandbox: there is no state directory for the files of this server")
	}
	b := &builder{Program: p, profiled: s.Profile != ""}
	if err := b.findDir(); err != nil {
		return nil, err
	}
	b.grants(s)
	b.program()
	b.system()
	return &Plan{
		Spec: Spec{
			ABI: k.ABI, Filters: k.Filters, Rules: b.rules, Net: s.Ports(), Sockets: s.Sockets,
			Processes: orDefault(s.Processes, DefaultProcesses), Files: orDefault(s.Files, DefaultFiles), MemoryMB: s.MemoryMB,
		},
		Dir: b.Dir, Env: b.environment(s), Absent: b.absent, own: p.Own,
	}, nil
}

func orDefault(value, fallback int) int {
	if value == 0 {
		return fallback
	}
	return value
}

// Prepare makes the server's own directories.
func (p *Plan) Prepare() error {
	if err := os.MkdirAll(p.own, 0o700); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	// The server can write here: a failure, or a link in this place, only harms itself.
	for _, name := range ownFolders {
		_ = os.Mkdir(filepath.Join(p.own, name), 0o700)
	}
	return nil
}

const (
	tmpFolder  = "tmp"
	workFolder = "work"
)

var ownFolders = []string{tmpFolder, workFolder}

// builder collects the rules of one plan.
type builder struct {
	Program
	profiled bool // a profile is set
	rules    []Rule
	absent   []string
}

// findDir chooses the working directory. A profile does not open the home directory only because
// we were started there.
func (b *builder) findDir() error {
	explicit := b.Dir != ""
	if !explicit {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		b.Dir = dir
	}
	if !filepath.IsAbs(b.Dir) {
		dir, err := filepath.Abs(b.Dir)
		if err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
		b.Dir = dir
	}
	switch {
	case !b.profiled || !b.tooWide(b.Dir):
		return nil
	case explicit:
		return fmt.Errorf("sandbox: cwd %s would open the whole home directory; set cwd to a folder below it, or write a table without a profile", b.Dir)
	}
	b.Dir = filepath.Join(b.Own, workFolder)
	return nil
}

// grants adds the paths that settings and arguments name: writable ones first, outer before inner.
// See add.
func (b *builder) grants(s *Settings) {
	writable := b.there(s.Write)
	if s.Profile == ProfileFiles || s.Profile == ProfileOffline {
		writable = append(writable, b.arguments()...)
	}
	own := Write
	if b.profiled {
		own = Both
		writable = append(writable, b.Dir)
	}
	b.add(b.Own, own)
	slices.SortStableFunc(writable, func(x, y string) int { return len(x) - len(y) })
	for _, path := range writable {
		b.add(path, Write)
	}
	for _, path := range b.there(s.Read) {
		b.add(path, Read)
	}
}

// there returns the paths of a setting that exist, and notes the others.
func (b *builder) there(paths []string) (found []string) {
	for _, path := range paths {
		path = b.abs(path)
		if _, err := os.Stat(path); err != nil {
			b.absent = append(b.absent, path)
			continue
		}
		found = append(found, path)
	}
	return found
}

// abs returns a path from the home directory or the working directory as an absolute one.
func (b *builder) abs(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && b.Home != "" && (rest == "" || rest[0] == '/') {
		return filepath.Join(b.Home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.Dir, path)
	}
	return filepath.Clean(path)
}

// add grants rights. A path below a writable one gets no rule: the server could have put a link
// there that leads out. Execution is then granted to the writable one.
func (b *builder) add(path string, r Rights) {
	for i, have := range b.rules {
		if have.Rights != Write && have.Rights != Both || !isBelow(path, have.Path) {
			continue
		}
		if r == Execute || r == Both {
			b.rules[i].Rights = Both
		}
		return
	}
	if !slices.Contains(b.rules, Rule{path, r}) {
		b.rules = append(b.rules, Rule{path, r})
	}
}

// tooWide reports whether a path contains the home directory.
func (b *builder) tooWide(path string) bool {
	return path == "/" || b.Home != "" && isBelow(b.Home, path)
}

func isBelow(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// arguments returns the existing paths that the arguments name, without the program's own script.
func (b *builder) arguments() (paths []string) {
	script := b.script()
	for _, arg := range b.Command[1:] {
		if _, value, ok := strings.Cut(arg, "="); ok && strings.HasPrefix(arg, "-") {
			arg = value
		}
		arg = strings.TrimPrefix(arg, "file://")
		if !looksLikePath(arg) {
			continue
		}
		path := b.abs(arg)
		if _, err := os.Stat(path); err == nil && path != script && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func looksLikePath(arg string) bool {
	return arg == "." || arg == ".." || arg == "~" || strings.ContainsRune(arg, '/') && !strings.Contains(arg, "://") && !strings.HasPrefix(arg, "@")
}

// environment returns the server's variables: its own directory for temporary files and, with a
// profile, as its home. Addresses of sockets that it cannot reach are left out.
func (b *builder) environment(s *Settings) []string {
	var env []string
	for _, entry := range b.Env {
		name, _, _ := strings.Cut(entry, "=")
		if b.profiled && slices.Contains(homeNames, name) || !s.Sockets && slices.Contains(socketNames, name) {
			continue
		}
		env = append(env, entry)
	}
	env = append(env, "TMPDIR="+filepath.Join(b.Own, tmpFolder))
	if b.profiled {
		env = append(env, "HOME="+b.Own)
		if python := filepath.Join(b.Home, uvPythons); isDir(python) {
			env = append(env, "UV_PYTHON_INSTALL_DIR="+python)
		}
	}
	return env
}

// uvPythons is where uv keeps interpreters, below the home directory.
const uvPythons = ".local/share/uv/python"

// homeNames are variables that name folders of the user's home.
var homeNames = []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}

// socketNames are variables that name Unix sockets.
var socketNames = []string{
	"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY",
	"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH",
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
