package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"secateur/internal/secret"
)

// living are the command lines of processes whose environment holds this text, or whose command line does.
func living(t *testing.T, text string) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[1-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, dir := range dirs {
		environ, _ := os.ReadFile(dir + "/environ") // gone, or not ours
		command, _ := os.ReadFile(dir + "/cmdline")
		if bytes.Contains(environ, []byte(text)) || bytes.Contains(command, []byte(text)) {
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// marker is that of the child that runs now.
func marker(t *testing.T, u *Upstream) string {
	t.Helper()
	m, err := u.server.(*supervised).live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(m.session.link.(*pipes).child.family.marker)
}

func TestNoDescendantSurvives(t *testing.T) {
	for _, c := range []struct {
		rule, fault string
		end         func(u *Upstream, stop func())
	}{
		{"a stop", "family", func(_ *Upstream, stop func()) { stop() }},
		{"a stop of a child that ignores it", "stubborn", func(_ *Upstream, stop func()) { stop() }},
		{"a crash", "family", func(u *Upstream, _ func()) {
			_, err := u.Call(t.Context(), toolCall(t, "1", "crash", "1"))
			wantError(t, err, Unavailable, 0)
			mustCall(t, u, toolCall(t, "1", "echo", "1"), "1") // the next child is there, so the last is gone
		}},
		{"a kill of the child", "family", func(u *Upstream, _ func()) {
			if err := syscall.Kill(u.Status().PID, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			eventually(t, "the next child", func() bool { return u.Status().Restarts == 1 && u.Status().State == Ready })
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			u, stop := startStoppable(t, Options{Settings: childSettings(t, c.fault)})
			defer stop()
			mark := marker(t, u)
			if c.fault == "family" { // the child, a shell, its three and the last one's own
				eventually(t, "the family is complete", func() bool { return len(living(t, mark)) == 6 })
			}
			c.end(u, stop)
			if left := living(t, mark); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func TestDescendantWithoutMarkerIsFoundByItsParents(t *testing.T) {
	u, stop := startStoppable(t, Options{Settings: childSettings(t, "bare")})
	defer stop()
	marker(t, u)
	const bare = "sleep\x00304"
	eventually(t, "it runs", func() bool { return len(living(t, bare)) > 0 })
	stop()
	if left := living(t, bare); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

func TestStopIsGentleFirst(t *testing.T) {
	s := childSettings(t, "none")
	s.ShutdownGrace = 10 // a binary with the race detector takes a second to exit
	u, stop := startStoppable(t, Options{Settings: s})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), "1")
	child := u.server.(*supervised).now.Load().session.link.(*pipes).child
	stop()
	if got := child.status(); got != "exited with status 0" {
		t.Errorf("the child %s, want an end of its own at the end of its input", got)
	}
}

func TestHowAChildEnded(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"exit 0", "exited with status 0"},
		{"exit 3", "exited with status 3"},
		{"exit 255", "exited with status 255"},
		{"kill -KILL $$", "ended by signal: killed"},
		{"kill -TERM $$", "ended by signal: terminated"},
	} {
		child, err := startProcess(program{
			ID: "child", Command: []string{"sh", "-c", c.script}, BaseEnv: BaseEnv(os.Environ()), Grace: time.Second, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := child.status(); got != c.want {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
		child.stop()
	}
}

func TestChildDiesWithUs(t *testing.T) {
	line, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	self, _ := os.Executable()
	host := exec.Command(self)
	host.Env = append(os.Environ(), childVariable+"=host", lineVariable+"="+line.Addr().String())
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	var conns [2]net.Conn // the host's and its child's
	for i := range conns {
		if conns[i], err = line.Accept(); err != nil {
			t.Fatal(err)
		}
		defer conns[i].Close()
	}
	if got, err := bufio.NewReader(out).ReadString('\n'); err != nil || got != "ready\n" {
		t.Fatalf("host said %q, %v", got, err)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !isReset(err) {
			t.Errorf("a process lives on: %v", err)
		}
	}
}

func isReset(err error) bool { return err != nil && strings.Contains(err.Error(), "reset") }

func TestChildGetsAMinimalEnvironment(t *testing.T) {
	s := childSettings(t, "none")
	s.Env["OWN"] = secret.New("value")
	base := BaseEnv([]string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "SECRET_TOKEN=x", "https_proxy=p", "odd", "=odd"})
	u := start(t, Options{Settings: s, BaseEnv: base})
	mustCall(t, u, toolCall(t, "1", "echo", "1"), "1")
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(u.Status().PID), "environ"))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimRight(string(environ), "\x00"), "\x00")
	want := []string{"PATH=/bin", "HOME=/h", "LC_ALL=C", "https_proxy=p", "OWN=value", childVariable + "=none", "GORACE=atexit_sleep_ms=0", markerVariable + "=" + marker(t, u)}
	if len(got) != len(want) {
		t.Errorf("environment %q, want %q", got, want)
	}
	for _, w := range want {
		if !strings.Contains("\x00"+string(environ), "\x00"+w+"\x00") {
			t.Errorf("environment %q lacks %q", got, w)
		}
	}
}

func TestParseStat(t *testing.T) {
	const line = "4242 (a) b (c) S 17 4242 4000 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 1"
	got, ok := parseStat(line)
	if want := (stat{state: 'S', parent: 17, group: 4242, session: 4000, start: 987654}); !ok || got != want {
		t.Errorf("parseStat = %+v, %v; want %+v", got, ok, want)
	}
	for _, bad := range []string{"", "1 (x", "1 (x) S 1", "1 (x) S x 4242 4000 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654 1 1"} {
		if _, ok := parseStat(bad); ok {
			t.Errorf("parseStat(%q) is ok", bad)
		}
	}
}

func BenchmarkMembers(b *testing.B) {
	f := newFamily(os.Getpid(), "no-such-marker", nil)
	for b.Loop() {
		f.members()
	}
}

// On Linux a child dies with the thread that started it. Threads of a Go program come and go; the child must not.
func TestChildOutlivesTheThreadOfItsCaller(t *testing.T) {
	s := childSettings(t, "none")
	var child *process
	var err error
	thread := make(chan int)
	var begin func()
	begin = func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if syscall.Gettid() == syscall.Getpid() {
			defer runtime.UnlockOSThread() // the main thread never ends: take another one
			done := make(chan struct{})
			go func() {
				defer close(done)
				begin()
			}()
			<-done
			return
		}
		child, err = startProcess(program{
			ID: "child", Command: s.Command, BaseEnv: BaseEnv(os.Environ()), Env: s.Env, Grace: time.Second, Log: slog.New(slog.DiscardHandler),
		})
		thread <- syscall.Gettid()
	}
	go begin()
	id := <-thread
	if err != nil {
		t.Fatal(err)
	}
	defer child.stop()
	eventually(t, "the thread is gone", func() bool {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(id))
		return err != nil
	})
	io.WriteString(child.stdin, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if line, err := bufio.NewReader(child.stdout).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
		t.Errorf("the child said %q, %v", line, err)
	}
}
