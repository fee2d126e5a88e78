package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// fleet is a set of replicas behind nginx that share one Redis. The first replica runs from
// beginning to end, and its resources must not grow. The last is rolled repeatedly, the one before
// it is killed.
type fleet struct {
	engine   *engine
	replicas []*replica
	balancer *target      // nginx
	kills    atomic.Int64 // odd while a killed replica is away: answers in progress may be lost
	rolled   atomic.Int64
	changed  atomic.Int64 // when a replica last went or came, in nanoseconds
	said     string       // the file with nginx's errors
}

// settled reports whether no replica has gone or come since the moment or just before it, when
// nginx might still have skipped it.
func (f *fleet) settled(since time.Time) bool {
	return time.Unix(0, f.changed.Load()).Add(3 * time.Second).Before(since)
}

// replica is a program at a fixed address, as processes come and go.
type replica struct {
	addr    string
	start   func() (*target, error)
	process atomic.Pointer[target]
	gone    atomic.Int64 // odd while it is away
}

func startFleet(ctx context.Context, binary, dir string, n int, sections string) (f *fleet, stop func(), err error) {
	f = &fleet{engine: &engine{socket: filepath.Join(dir, "redis")}}
	if err := f.engine.start(ctx); err != nil {
		return nil, nil, err
	}
	ends := []func(){f.engine.kill}
	stop = func() {
		for _, end := range ends {
			defer end()
		}
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	for range n {
		r := &replica{addr: lowPort(ctx)}
		r.start = func() (*target, error) {
			return startAt(ctx, binary, 2048, r.addr, fmt.Sprintf("drain_delay = 2\n[store]\nurl = \"unix://%s\"\n%s", f.engine.socket, sections))
		}
		t, err := r.start()
		if err != nil {
			return nil, nil, err
		}
		r.process.Store(t)
		ends = append(ends, func() { r.process.Load().stop() })
		f.replicas = append(f.replicas, r)
	}
	var end func()
	f.said = filepath.Join(dir, "nginx.log")
	if f.balancer, end, err = startBalancer(ctx, dir, f.replicas); err != nil {
		return nil, nil, err
	}
	ends = append(ends, end)
	return f, stop, nil
}

// lowPort returns the address of a free port outside the range that the system gives to
// connections.
func lowPort(ctx context.Context) string {
	for {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000))) //nolint:gosec // any will do
		if err == nil {
			defer func() { _ = ln.Close() }()
			return ln.Addr().String()
		}
	}
}

// startBalancer runs nginx with the shipped configuration, on a socket.
func startBalancer(ctx context.Context, dir string, all []*replica) (*target, func(), error) {
	conf, err := os.ReadFile("deploy/nginx.conf")
	if err != nil {
		return nil, nil, err
	}
	socket := filepath.Join(dir, "nginx")
	text := strings.Replace(string(conf), "listen 8000;", "listen unix:"+socket+";", 1)
	text = regexp.MustCompile(`(?m)^ *server secateur\d.*\n`).ReplaceAllString(text, "")
	for _, r := range all {
		text = strings.Replace(text, "consistent;\n", fmt.Sprintf("consistent;\nserver %s max_fails=1 fail_timeout=2s;\n", r.addr), 1)
	}
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text = strings.Replace(text, "http {\n", fmt.Sprintf("http {\n%s_temp_path %s;\n", kind, filepath.Join(dir, kind)), 1)
	}
	text = "daemon off;\npid " + filepath.Join(dir, "pid") + ";\n" + strings.Replace(text, "http {\n", "http {\naccess_log off;\n", 1)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil { //nolint:gosec // in our own directory
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, "nginx", "-c", file, "-e", filepath.Join(dir, "nginx.log"))
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	t := &target{addr: "127.0.0.1", cmd: cmd, client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		MaxIdleConnsPerHost: 256,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}}
	stop := func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	}
	for range 200 {
		if c, err := new(net.Dialer).DialContext(ctx, "unix", socket); err == nil {
			_ = c.Close()
			return t, stop, nil
		}
		pause(ctx, 50*time.Millisecond)
	}
	stop()
	return nil, nil, errors.New("nginx does not listen")
}

// churn rolls the last replica and kills the one before it, by turns, until ctx is done.
func (f *fleet) churn(ctx context.Context, rest time.Duration) error {
	if len(f.replicas) < 3 {
		return nil
	}
	for n := 0; pause(ctx, rest); n++ {
		act, r := f.roll, f.replicas[len(f.replicas)-1]
		if n%2 == 1 {
			act, r = f.kill, f.replicas[len(f.replicas)-2]
		}
		if err := act(r); err != nil {
			return err
		}
	}
	return nil
}

// roll stops a replica like a deployment does, and restarts it.
func (f *fleet) roll(r *replica) error {
	f.come(r)
	defer f.come(r)
	old := r.process.Load()
	if err := old.end(); err != nil {
		return fmt.Errorf("a replica that was told to stop: %w", err)
	}
	f.rolled.Add(1)
	return r.again()
}

// kill ends a replica without warning, and restarts it.
func (f *fleet) kill(r *replica) error {
	f.kills.Add(1)
	f.come(r)
	defer f.come(r)
	old := r.process.Load()
	_ = old.cmd.Process.Kill()
	<-old.ended
	_ = os.RemoveAll(old.dir)
	time.Sleep(500 * time.Millisecond) // nginx notices it
	f.kills.Add(1)
	return r.again()
}

// come notes that a replica goes or comes.
func (f *fleet) come(r *replica) {
	r.gone.Add(1)
	f.changed.Store(time.Now().UnixNano())
}

func (r *replica) again() error {
	t, err := r.start()
	if err == nil {
		r.process.Store(t)
	}
	return err
}

// get reads a page of one replica, or of the fleet.
func (t *target) get(ctx context.Context, path string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.addr+path, nil)
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := t.client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(b)
}
