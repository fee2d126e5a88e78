package child

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"secateur/internal/mcp/child/childtest"
	"secateur/internal/mcp/confine"
	"secateur/internal/secret"
)

const (
	// roleVariable makes the test binary play a role instead of running tests.
	roleVariable = "CHILD_TEST_ROLE"
	// lineVariable is an address that the test binary connects to. The connection ends with the
	// process.
	lineVariable = "CHILD_TEST_LINE"
	// patience is how long a test waits for something that should happen soon.
	patience = time.Minute
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == confine.Word {
		os.Exit(confine.Main(os.Args[2:]))
	}
	if attack := os.Getenv(attackVariable); attack != "" {
		os.Exit(hostile(attack))
	}
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(play(role))
	}
	goleak.VerifyTestMain(m)
}

// play is a host that starts a child and will be killed, or that child, which ignores SIGTERM.
func play(role string) int {
	if _, err := net.Dial("tcp", os.Getenv(lineVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	signal.Ignore(syscall.SIGTERM)
	if role == "host" {
		self, _ := os.Executable()
		if _, err := Start(Program{
			ID: "hosted", Command: []string{self}, Log: slog.New(slog.DiscardHandler),
			Env: map[string]secret.Text{roleVariable: secret.New("stubborn"), lineVariable: secret.New(os.Getenv(lineVariable))},
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 9
		}
	}
	time.Sleep(time.Hour)
	return 0
}

// start starts a shell script that prints when it is ready.
func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(shell(script))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	if said, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || said != "ready\n" {
		t.Fatalf("the child said %q, %v", said, err)
	}
	return p
}

func shell(script string) Program {
	return Program{
		ID: "child", Command: []string{"sh", "-c", script}, BaseEnv: BaseEnv(os.Environ()),
		Grace: 200 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
	}
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// family is a script with three descendants. One stays, one leaves the process group and the
// session, one also ignores SIGTERM.
const family = `sleep 300 & setsid sleep 301 & setsid sh -c 'trap "" TERM; sleep 302; sleep 303' & echo ready; `

func TestNoDescendantSurvives(t *testing.T) {
	for _, c := range []struct {
		rule, script string
		living       int
		end          func(p *Process)
	}{
		{"a stop", family + `cat`, 6, (*Process).Stop},
		{"a stop of a child that ignores it", `trap "" TERM; echo ready; sleep 305; sleep 306`, 2, (*Process).Stop},
		{"an end of its own", family + `read line; exit 3`, 5, func(p *Process) {
			io.WriteString(p.Stdin, "go\n")
			<-p.Exited()
		}},
		{"a kill", family + `cat`, 6, func(p *Process) {
			if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			<-p.Exited()
		}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			p := start(t, c.script)
			mark := string(p.tree.marker)
			eventually(t, "the family is complete", func() bool { return len(childtest.Living(t, mark)) == c.living })
			c.end(p)
			if left := childtest.Living(t, mark); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func TestDescendantWithoutMarkerIsFoundByItsParents(t *testing.T) {
	long := fmt.Sprintf("304.%d", os.Getpid()) // distinct from other runs of this test
	p := start(t, `setsid env -i /bin/sleep `+long+` & echo ready; cat`)
	bare := "sleep\x00" + long
	eventually(t, "it runs", func() bool { return len(childtest.Living(t, bare)) > 0 })
	p.Stop()
	if left := childtest.Living(t, bare); len(left) > 0 {
		t.Errorf("left: %q", left)
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
		p, err := Start(shell(c.script))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := p.Status(patience); got != c.want {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
		p.Stop()
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
	host.Env = append(os.Environ(), roleVariable+"=host", lineVariable+"="+line.Addr().String())
	host.Stderr = os.Stderr
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
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	for _, conn := range conns {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a process lives on: %v", err)
		}
	}
}

func TestChildGetsAMinimalEnvironment(t *testing.T) {
	program := shell("")
	program.Command = []string{"cat"}
	program.BaseEnv = BaseEnv([]string{"PATH=/usr/bin:/bin", "HOME=/h", "LC_ALL=C", "SECRET_TOKEN=x", "https_proxy=p", "odd", "=odd"})
	program.Env = map[string]secret.Text{"OWN": secret.New("value")}
	p, err := Start(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	var environ string
	eventually(t, "the program runs", func() bool { // just before, it is still this binary
		b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID()), "environ"))
		environ = string(b)
		return err == nil && strings.Contains(environ, markerVariable)
	})
	got := strings.Split(strings.TrimRight(environ, "\x00"), "\x00")
	want := []string{"PATH=/usr/bin:/bin", "HOME=/h", "LC_ALL=C", "https_proxy=p", "OWN=value", markerVariable + "=" + string(p.tree.marker)}
	if len(got) != len(want) {
		t.Errorf("environment %q, want %q", got, want)
	}
	for _, w := range want {
		if !strings.Contains("\x00"+environ, "\x00"+w+"\x00") {
			t.Errorf("environment %q lacks %q", got, w)
		}
	}
}

// On Linux a child dies with the thread that started it. The threads of a Go program come and go;
// the child must survive.
func TestChildOutlivesTheThreadOfItsCaller(t *testing.T) {
	var p *Process
	var err error
	thread := make(chan int)
	var begin func()
	begin = func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if syscall.Gettid() == syscall.Getpid() {
			defer runtime.UnlockOSThread() // the main thread never ends: use another one
			done := make(chan struct{})
			go func() {
				defer close(done)
				begin()
			}()
			<-done
			return
		}
		p, err = Start(shell("cat"))
		thread <- syscall.Gettid()
	}
	go begin()
	id := <-thread
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	eventually(t, "the thread is gone", func() bool {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(id))
		return err != nil
	})
	io.WriteString(p.Stdin, "hello\n")
	if line, err := bufio.NewReader(p.Stdout).ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("the child said %q, %v", line, err)
	}
}
