package test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"secateur/test/llm"
)

// chatRig is a provider and the program in front of it in its own process. Clients connect to a tap in
// front of the program.
type chatRig struct {
	provider *llm.Provider
	tap      *llm.Tap
	url      string // of the tap
	upstream string // of the provider
	fault    atomic.Pointer[func(int, *http.Request) llm.Fault]
	config   string
	daemon   atomic.Pointer[daemon]
}

// startWire starts all three. The program's store is on disk, and big results are pruned. The
// program is ended while a client runs: in an orderly way before one request, by a kill before
// another; -1: never.
func startWire(t *testing.T, format string, say llm.Script, restartAt, killAt int) *chatRig {
	t.Helper()
	w := &chatRig{}
	w.provider = &llm.Provider{Say: say, Fault: func(n int, r *http.Request) llm.Fault {
		if f := w.fault.Load(); f != nil {
			return (*f)(n, r)
		}
		return llm.Fault{}
	}}
	upstream := httptest.NewServer(w.provider)
	t.Cleanup(upstream.Close)
	w.upstream = upstream.URL
	w.config = fmt.Sprintf("log_level = \"DEBUG\"\nstore = { url = \"file:%s\", put_timeout_ms = 60000 }\n[context_pruning]\nenabled = true\n[providers.%s]\nbase_url = %q\n",
		t.TempDir(), format, upstream.URL+"/v1")
	w.tap = &llm.Tap{To: func() string { return w.daemon.Load().url }, Provider: w.provider, Before: func(n int) {
		switch n {
		case restartAt:
			w.restart(t, syscall.SIGTERM)
		case killAt:
			w.restart(t, syscall.SIGKILL)
		}
	}}
	front := httptest.NewServer(w.tap)
	t.Cleanup(front.Close)
	w.url = front.URL
	w.daemon.Store(startDaemon(t, w.config))
	return w
}

// setFault says how the provider fails from now on.
func (w *chatRig) setFault(f func(n int, r *http.Request) llm.Fault) { w.fault.Store(&f) }

// restart ends the program with a signal and starts another with its records.
func (w *chatRig) restart(t *testing.T, signal syscall.Signal) {
	t.Helper()
	old := w.daemon.Load()
	if err := old.cmd.Process.Signal(signal); err != nil {
		t.Error(err)
	}
	_ = old.stop()
	w.daemon.Store(startDaemon(t, w.config))
}

// logs are files like those of a build, each different, with the reason of a failure somewhere in
// it.
func logs(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		var b strings.Builder
		for line := range 150 {
			if line == 37+i {
				fmt.Fprintf(&b, "src/parser_%d.go:%d: undefined: tokenTable\n", i, 40+i)
				continue
			}
			fmt.Fprintf(&b, "2026-03-0%d 10:%02d:%02d INFO step %d of part %d: compiled package_%d in %d ms\n", i%9+1, line/60%60, line%60, line, i, line*7%83, line*31%997)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("build-%d.log", i)), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// run runs a client for five minutes at most: it may be slow on a busy machine.
func (w *chatRig) run(t *testing.T, dir string, env, command []string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "BASE_URL=" + w.url}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(command[0]), err, out)
	}
	return string(out)
}

// mayChange matches the strings that the program may change: texts of results.
var mayChange = regexp.MustCompile(`^(messages\.\d+\.content\.\d+\.content(\.\d+\.text)?|input\.\d+\.output(\.\d+\.text)?)$`)

// checkAll compares every request of the client with what reached the provider. It returns how many
// results were changed in the last one.
func (w *chatRig) checkAll(t *testing.T, path string) (changed int) {
	t.Helper()
	sent, got := w.tap.Requests(path), w.tap.Arrived(path)
	sent = slices.DeleteFunc(sent, func(s llm.Seen) bool { return s.Header.Get("Upgrade") != "" })
	if len(sent) != len(got) || len(sent) == 0 {
		t.Fatalf("%s: the client sent %d requests, %d reached the provider", path, len(sent), len(got))
	}
	var forms llm.Forms
	for i := range sent {
		if got[i].Status != 200 {
			t.Errorf("%s %d: the provider answered %d: %.300s", path, i, got[i].Status, got[i].Answer)
		}
		if string(sent[i].Answer) != string(got[i].Answer) || sent[i].Status != got[i].Status {
			t.Errorf("%s %d: the client got another answer:\n%.300q\n%.300q", path, i, sent[i].Answer, got[i].Answer)
		}
		if sent[i].Query != got[i].Query {
			t.Errorf("%s %d: query %q became %q", path, i, sent[i].Query, got[i].Query)
		}
		checkHeaders(t, sent[i], got[i])
		changed = checkChanges(t, fmt.Sprint(path, " ", i), sent[i], got[i])
		if err := forms.Add(path, sent[i].Body, got[i].Body); err != nil {
			t.Errorf("%s %d: %v", path, i, err)
		}
	}
	return changed
}

// checkChanges holds that only texts of results were changed in a request, and gives how many.
func checkChanges(t *testing.T, which string, sent, got llm.Seen) int {
	t.Helper()
	changes, err := llm.Compare(sent.Body, got.Body)
	if err != nil {
		t.Errorf("%s: %v", which, err)
	}
	for _, c := range changes {
		if !mayChange.MatchString(c.Path) || !strings.HasSuffix(c.HolderOf, "tool_result") && !strings.HasSuffix(c.HolderOf, "_call_output") {
			t.Errorf("%s: %s of a %s was changed", which, c.Path, c.HolderOf)
		}
	}
	return len(changes)
}

// checkHeaders holds that what a client says in headers arrives as it was, in one line where it was one.
func checkHeaders(t *testing.T, sent, got llm.Seen) {
	t.Helper()
	for name, values := range sent.Header {
		switch name {
		case "Content-Length", "Content-Encoding", "Connection", "Accept-Encoding", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto":
			continue
		}
		if strings.Join(values, "\n") != strings.Join(got.Header.Values(name), "\n") {
			t.Errorf("%s: header %s: %q became %q", sent.Path, name, values, got.Header.Values(name))
		}
	}
}

// npmProgram is a program for this machine from an npm package.
func npmProgram(t *testing.T, patterns ...string) string {
	t.Helper()
	for _, p := range patterns {
		if found, _ := filepath.Glob(filepath.Join("npm", "node_modules", filepath.FromSlash(p))); len(found) > 0 {
			file, err := filepath.Abs(found[0])
			if err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	lack(t, patterns[0]+" is not installed; make test installs it")
	return ""
}

// answerTo sends a request on a separate connection; a transport error is status -1.
func answerTo(req *http.Request) answer {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return answer{status: -1, body: err.Error()}
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{-1, res.Header, string(got)}
	}
	return answer{res.StatusCode, res.Header, string(got)}
}
