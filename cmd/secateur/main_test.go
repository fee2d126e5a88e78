package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"secateur": main})
}

// The scripts in testdata are the command line as a person or another program meets it.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			// Under the race detector a program sleeps for a second before it exits, so that other goroutines may race on: a moment
			// is enough for that, and there are some two hundred programs.
			env.Setenv("GORACE", "atexit_sleep_ms=20")
			env.Values[daemonKey{}] = new(*daemon)
			env.Values[pipeKey{}] = new(pipe)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/.config")
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/.state")
			env.Setenv("XDG_CACHE_HOME", env.WorkDir+"/.cache")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start":     start,
			"printed":   printed,
			"terminate": terminate,
			"http":      request,
			"cut":       cut,
			"status":    status,
			"masked":    masked,
			"hold":      hold,
			"release":   release,
		},
	})
}

// daemon is what start started.
type daemon struct {
	cmd   *exec.Cmd
	lines chan string // of its standard output, until that ends
}

type daemonKey struct{}

// start ARGS… runs secateur in the background and waits until it says where it listens; $URL is that address, and
// that line is the file greeting, what it logs goes to the file log.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! start")
	}
	cmd := exec.Command("secateur", args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "PATH", "GORACE", "AUTH_TOKEN", "MCP_PRUNER_PORT"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	log, err := os.Create(ts.MkAbs("log"))
	ts.Check(err)
	defer log.Close()
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	d := &daemon{cmd, make(chan string, 1000)}
	go func() {
		defer close(d.lines)
		for all := bufio.NewScanner(out); all.Scan(); {
			d.lines <- all.Text()
		}
	}()
	ts.Defer(func() { _ = cmd.Process.Kill() })
	*started(ts) = d
	ts.Check(os.WriteFile(ts.MkAbs("greeting"), nil, 0o600))
	_, rest, _ := strings.Cut(d.until(ts, "http://"), "http://")
	addr, _, _ := strings.Cut(rest, " ")
	ts.Setenv("URL", "http://"+addr)
}

// until is the next line that holds a text; the file greeting gets all lines up to it.
func (d *daemon) until(ts *testscript.TestScript, text string) string {
	file, err := os.OpenFile(ts.MkAbs("greeting"), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	defer file.Close()
	late := time.After(time.Minute)
	for {
		select {
		case line, ok := <-d.lines:
			if !ok {
				ts.Fatalf("it ended before it printed %q", text)
			}
			fmt.Fprintln(file, line)
			if strings.Contains(line, text) {
				return line
			}
		case <-late:
			ts.Fatalf("it does not print %q", text)
		}
	}
}

// printed TEXT waits until what was started prints a line with it; the file greeting has what it printed until then.
func printed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: printed text")
	}
	(*started(ts)).until(ts, args[0])
}

// started is where a script keeps its daemon.
func started(ts *testscript.TestScript) **daemon {
	d, _ := ts.Value(daemonKey{}).(**daemon)
	return d
}

// terminate sends SIGTERM and waits; the exit status must be 0.
func terminate(ts *testscript.TestScript, neg bool, _ []string) {
	d := *started(ts)
	if d == nil || neg {
		ts.Fatalf("nothing was started")
	}
	ts.Check(d.cmd.Process.Signal(syscall.SIGTERM))
	for range d.lines { // Wait is for when the pipe has been read
	}
	if err := d.cmd.Wait(); err != nil {
		ts.Fatalf("after SIGTERM: %v", err)
	}
}

// http METHOD URL [-H name:value]… [BODY] prints status line and body to stdout.
func request(ts *testscript.TestScript, neg bool, args []string) {
	fmt.Fprint(ts.Stdout(), fetched(ts, neg, args))
}

// fetched is what http prints.
func fetched(ts *testscript.TestScript, neg bool, args []string) string {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: http METHOD URL [-H name:value]... [body]")
	}
	method, url, args := args[0], args[1], args[2:]
	header, host, body := http.Header{}, "", ""
	for len(args) > 0 {
		if args[0] == "-H" && len(args) > 1 {
			name, value, _ := strings.Cut(args[1], ":")
			if strings.EqualFold(name, "host") {
				host = value
			} else {
				header.Set(name, value)
			}
			args = args[2:]
			continue
		}
		body, args = args[0], args[1:]
	}
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	ts.Check(err)
	req.Header = header
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	originals := ""
	if ids := res.Header.Get(originalsHeader); ids != "" {
		originals = originalsHeader + ": " + ids + "\n"
	}
	return fmt.Sprintf("HTTP %d\n%s%s\n", res.StatusCode, originals, text)
}

const originalsHeader = "X-Secateur-Originals"

// cut is http for a request whose answer is cut. A store that is slow, as on a busy machine, means that it is not: then it is asked again.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	answer := fetched(ts, neg, args)
	for tries := 0; tries < 8 && !strings.Contains(answer, originalsHeader); tries++ {
		answer = fetched(ts, neg, args)
	}
	fmt.Fprint(ts.Stdout(), answer)
}

// masked FILE compares what was last printed with a file, but for what differs from run to run, or is estimated: ADDRESS, PID, TIME,
// N tokens, and the width of columns.
func masked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: masked file")
	}
	got := ts.ReadFile("stdout")
	for _, m := range []struct{ pattern, word string }{
		{`127\.0\.0\.1:\d+`, "ADDRESS"},
		{`pid \d+`, "pid PID"},
		{`( |^)\d+(s|m\d\ds)( |,|$)`, "${1}TIME$3"},
		{`(process +)\d+`, "${1}PID"},
		{`  +`, "  "},
		{`^(\S+  \S+  builtin  \d+  )[1-9]\d*`, "${1}N"}, // tokens are estimates
		{`^(\w+::\w+  )\d+$`, "${1}N"},
		{`^(\w+  \d+  )\d+$`, "${1}N"},
		{`\d+( tokens)`, "N$1"},
	} {
		got = regexp.MustCompile("(?m)"+m.pattern).ReplaceAllString(got, m.word)
	}
	got = strings.ReplaceAll(got, ts.MkAbs("."), "$WORK")
	if want := ts.ReadFile(args[0]); got != want {
		ts.Fatalf("printed:\n%s\nwant:\n%s", got, want)
	}
}

// pipe is a program that hold started.
type pipe struct {
	cmd *exec.Cmd
	in  io.Closer
}

type pipeKey struct{}

// hold ARGS… runs secateur on a pipe that stays open until release, and waits for the socket of its control plane. What it prints goes to
// the file held.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("unsupported: ! hold")
	}
	cmd := exec.Command("secateur", args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "PATH", "GORACE"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	out, err := os.Create(ts.MkAbs("held"))
	ts.Check(err)
	defer out.Close()
	cmd.Stdout = out
	in, err := cmd.StdinPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() { _ = cmd.Process.Kill() })
	*ts.Value(pipeKey{}).(*pipe) = pipe{cmd, in}
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`+"\n")
	ts.Check(err)
	socket := filepath.Join(ts.Getenv("XDG_STATE_HOME"), "secateur", "sockets", fmt.Sprintf("%d.sock", cmd.Process.Pid))
	for late := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(socket)
		listed, _ := os.ReadFile(ts.MkAbs("held"))
		if err == nil && strings.Contains(string(listed), "\n") {
			return
		}
		if time.Now().After(late) {
			ts.Fatalf("there is no socket %s", socket)
		}
	}
}

// release ends what hold started; the exit status must be 0.
func release(ts *testscript.TestScript, neg bool, _ []string) {
	p, _ := ts.Value(pipeKey{}).(*pipe)
	if p == nil || p.cmd == nil || neg {
		ts.Fatalf("nothing is held")
	}
	ts.Check(p.in.Close())
	ts.Check(p.cmd.Wait())
}

// status N COMMAND… runs a command whose exit status must be N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit status %d, want %s", code, args[0])
	}
}
