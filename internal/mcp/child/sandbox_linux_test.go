package child

import (
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"secateur/internal/mcp/confine"
	"secateur/internal/secret"
)

// prison is a fake home with a secret, and what a confined server has of its own.
type prison struct {
	home, key, cwd, own, outside string
}

func newPrison(t *testing.T) prison {
	t.Helper()
	if confine.Detect().ABI == 0 {
		t.Skip("this kernel has no Landlock")
	}
	root := t.TempDir()
	p := prison{
		home: filepath.Join(root, "home"), cwd: filepath.Join(root, "home", "project"),
		own: filepath.Join(root, "state", "sandbox", "mallory"), outside: filepath.Join(root, "outside"),
	}
	p.key = filepath.Join(p.home, ".ssh", "id_rsa")
	for _, dir := range []string{filepath.Dir(p.key), p.cwd, p.outside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{p.key, filepath.Join(p.outside, "data")} {
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// attack runs a hostile server and returns its report. Without settings it is not confined.
func (p prison) attack(t *testing.T, s *confine.Settings, attack string, targets ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := Program{
		ID: "mallory", Command: append([]string{self}, targets...), Dir: p.cwd, BaseEnv: []string{"PATH=/usr/bin:/bin", "HOME=" + p.home},
		Env: map[string]secret.Text{attackVariable: secret.New(attack)}, Grace: time.Second, Log: slog.New(slog.DiscardHandler),
	}
	if s != nil {
		program.Sandbox = &Sandbox{Settings: s, Kernel: confine.Detect(), Home: p.home, Own: p.own}
	}
	proc, err := Start(program)
	if err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(proc.Stdout)
	proc.Stop()
	if err != nil || !strings.HasPrefix(string(said), "done") && !strings.HasPrefix(string(said), "refused") {
		t.Fatalf("%s: %q, %v; %s", attack, said, err, proc.Stderr(20))
	}
	return strings.TrimSpace(string(said))
}

// Each attack works without a sandbox, and is refused in it.
func TestHostileServersAreRefused(t *testing.T) {
	p := newPrison(t)
	ln, udp, port := listeners(t)
	socket := filepath.Join(t.TempDir(), "agent")
	agent, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	own := &confine.Settings{Profile: confine.ProfilePackage}
	offline := &confine.Settings{Profile: confine.ProfileOffline}
	oneport := &confine.Settings{Profile: confine.ProfilePackage, Net: confine.Net{port + 1}}
	table := &confine.Settings{Write: []string{"."}}
	outside := filepath.Join(p.outside, "data")
	inside := func(name string) string { return filepath.Join(p.cwd, name) }
	link := inside("link")
	if err := os.Symlink(p.key, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		set     *confine.Settings
		attack  string
		targets []string
	}{
		{"read the private key", own, "read", []string{p.key}},
		{"list the home", own, "list", []string{p.home}},
		{"follow a link out of the folder", own, "read", []string{link}},
		{"make a link to the key", own, "symlink", []string{p.key, inside("another")}},
		{"read the key under another name", own, "link in", []string{p.key, inside("hard")}},
		{"write into the home", own, "write", []string{filepath.Join(p.home, ".profile")}},
		{"write outside", own, "write", []string{filepath.Join(p.outside, "new")}},
		{"truncate a file outside", own, "truncate", []string{outside}},
		{"execute what it wrote", table, "execute", []string{inside("tool")}},
		{"read the environment of its parent", own, "environment of the parent", nil},
		{"read the memory of its parent", own, "memory of the parent", nil},
		{"look into the descriptors of its parent", own, "descriptors of the parent", nil},
		{"signal its parent", own, "signal", nil},
		{"connect to a port", oneport, "tcp", []string{ln}},
		{"connect without connect", oneport, "fast open", []string{strconv.Itoa(port)}},
		{"open another kind of TCP", oneport, "mptcp", nil},
		{"listen", oneport, "listen", nil},
		{"connect offline", offline, "tcp", []string{ln}},
		{"send a datagram offline", offline, "udp", []string{udp}},
		{"talk to the ssh agent", own, "unix", []string{socket}},
		{"go around the filter", own, "io_uring", nil},
		{"read the keyring", own, "keyring", nil},
		{"gain privileges", own, "privileges", nil},
		{"open very many files", &confine.Settings{Files: 64}, "open files", []string{"200"}},
		{"take much memory", &confine.Settings{MemoryMB: 4096}, "memory", nil},
		{"move the key in", own, "move in", []string{p.key, inside("moved")}},
		{"remove a file outside", own, "remove", []string{outside}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := p.attack(t, c.set, c.attack, c.targets...); !strings.HasPrefix(got, "refused") {
				t.Errorf("in its sandbox it could %s: %s", c.name, got)
			}
			for _, made := range []string{"another", "hard", "tool"} {
				_ = os.Remove(inside(made))
			}
			if got := p.attack(t, nil, c.attack, c.targets...); got != "done" && !mayFail[c.attack] {
				t.Errorf("the attack proves nothing, it fails without a sandbox too: %s", got)
			}
		})
	}
}

// mayFail are attacks that kernels refuse everybody.
var mayFail = map[string]bool{"io_uring": true, "mptcp": true, "fast open": true, "keyring": true}

// listeners returns addresses that accept connections and datagrams.
func listeners(t *testing.T) (tcp, udp string, port int) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.Close() })
	return ln.Addr().String(), pc.LocalAddr().String(), ln.Addr().(*net.TCPAddr).Port
}

func TestConfinedServersCanWork(t *testing.T) {
	p := newPrison(t)
	tcp, udp, port := listeners(t)
	file := filepath.Join(p.outside, "data")
	for _, c := range []struct {
		name    string
		set     *confine.Settings
		attack  string
		targets []string
	}{
		{"write into its directory", &confine.Settings{Profile: confine.ProfilePackage}, "write", []string{filepath.Join(p.cwd, "x")}},
		{"write into its own home", &confine.Settings{Profile: confine.ProfilePackage}, "write", []string{filepath.Join(p.own, ".x")}},
		{"execute in its own home", &confine.Settings{Profile: confine.ProfilePackage}, "execute", []string{filepath.Join(p.own, "x")}},
		{"connect", &confine.Settings{Profile: confine.ProfilePackage}, "tcp", []string{tcp}},
		{"connect to its port", &confine.Settings{Net: confine.Net{port}}, "tcp", []string{tcp}},
		{"send datagrams", &confine.Settings{Net: confine.Net{port}}, "udp", []string{udp}},
		{"listen", &confine.Settings{Profile: confine.ProfilePackage}, "listen", nil},
		{"read a path of its table", &confine.Settings{Read: []string{p.outside}}, "read", []string{file}},
		{"write a path of its table", &confine.Settings{Write: []string{p.outside}}, "write", []string{file}},
		{"write the folder of its argument", &confine.Settings{Profile: confine.ProfileFiles}, "write", []string{file, p.outside}},
		{"read the home where that is allowed", &confine.Settings{Read: []string{"~"}}, "read", []string{p.key}},
		{"write everywhere where that is allowed", &confine.Settings{Write: []string{"/"}}, "write", []string{file}},
	} {
		if got := p.attack(t, c.set, c.attack, c.targets...); got != "done" {
			t.Errorf("a confined server cannot %s: %s", c.name, got)
		}
	}
}

func TestConfinedServersInheritNoDescriptor(t *testing.T) {
	p := newPrison(t)
	fd, err := unix.Open(p.key, unix.O_RDONLY, 0) // without O_CLOEXEC, as from a careless shell
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()
	target := strconv.Itoa(fd)
	if got := p.attack(t, nil, "descriptor", target); got != "done" {
		t.Errorf("the attack proves nothing: %s", got)
	}
	if got := p.attack(t, &confine.Settings{Read: []string{"/"}}, "descriptor", target); !strings.Contains(got, "no such file") {
		t.Errorf("a confined server has descriptor %d of ours: %s", fd, got)
	}
}

func TestForkBombsAreBounded(t *testing.T) {
	p := newPrison(t)
	set := &confine.Settings{Profile: confine.ProfilePackage, Processes: 16}
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Fatal(err)
	}
	_, total, _ := strings.Cut(strings.Fields(string(b))[3], "/")
	threads, err := strconv.Atoi(total)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.attack(t, set, "fork bomb", strconv.Itoa(threads+300)); !strings.HasPrefix(got, "refused") {
		t.Errorf("a server started %d processes", threads+300)
	}
}

func TestConfinedServersDumpNoCore(t *testing.T) {
	p := newPrison(t)
	if got := p.attack(t, &confine.Settings{}, "core dump"); !strings.HasPrefix(got, "refused") {
		t.Errorf("its memory may be dumped: %s", got)
	}
}

func TestConfinedRootHasNoPowerOverTheSystem(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("we are not root")
	}
	p := newPrison(t)
	if got := p.attack(t, nil, "capabilities"); got != "done" {
		t.Skip("this root has no power: " + got)
	}
	if got := p.attack(t, &confine.Settings{}, "capabilities"); !strings.HasPrefix(got, "refused") {
		t.Errorf("it keeps CAP_SYS_ADMIN: %s", got)
	}
}

// A server that can write its directory cannot widen its next sandbox by links that it leaves there.
func TestLinksLeftBehindOpenNothing(t *testing.T) {
	p := newPrison(t)
	set := &confine.Settings{Profile: confine.ProfileFiles}
	if err := os.MkdirAll(p.own, 0o700); err != nil {
		t.Fatal(err)
	}
	trap := filepath.Join(p.cwd, "data")
	for _, link := range []string{trap, filepath.Join(p.own, "tmp")} {
		if err := os.Symlink(filepath.Dir(p.key), link); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.attack(t, set, "read", filepath.Join(trap, "id_rsa"), trap); !strings.HasPrefix(got, "refused") {
		t.Errorf("a link in the working directory opened the key: %s", got)
	}
}

// A kernel without Landlock still closes descriptors, sets limits and filters sockets.
func TestWithoutLandlockTheRestHolds(t *testing.T) {
	p := newPrison(t)
	tcp, _, _ := listeners(t)
	self, _ := os.Executable()
	kernel := confine.Detect()
	kernel.ABI = 0
	set := &confine.Settings{Profile: confine.ProfileOffline}
	for attack, want := range map[string]string{"read": "done", "tcp": "refused"} {
		target := map[string]string{"read": p.key, "tcp": tcp}[attack]
		proc, err := Start(Program{
			ID: "mallory", Command: []string{self, target}, Dir: p.cwd, BaseEnv: []string{"PATH=/usr/bin:/bin"}, Grace: time.Second, Log: slog.New(slog.DiscardHandler),
			Env: map[string]secret.Text{attackVariable: secret.New(attack)}, Sandbox: &Sandbox{Settings: set, Kernel: kernel, Home: p.home, Own: p.own},
		})
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(proc.Stdout)
		proc.Stop()
		if !strings.HasPrefix(string(said), want) {
			t.Errorf("%s: %s, want %s", attack, said, want)
		}
	}
}

// A program that cannot be executed fails at its start, as it does without a sandbox.
func TestConfinedProgramsThatDoNotStartAreNamed(t *testing.T) {
	p := newPrison(t)
	text := filepath.Join(p.cwd, "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{filepath.Join(p.cwd, "absent"): "is not there", text: "may not be executed"} {
		_, err := Start(Program{
			ID: "x", Command: []string{command}, Dir: p.cwd, Grace: time.Second, Log: slog.New(slog.DiscardHandler),
			Sandbox: &Sandbox{Settings: &confine.Settings{Profile: confine.ProfilePackage}, Kernel: confine.Detect(), Home: p.home, Own: p.own},
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", command, err)
		}
	}
}
