package test

import (
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Most tests of this package wait: for a server to start, for a browser, for time to pass. If all
// are run, they run in two halves in parallel. Each half has its own process with its own children
// and goroutines.
const secondHalf = "SECATEUR_TEST_SECOND_HALF"

// ofSecondHalf are the tests in which a third-party client uses the program, about half of all by
// time. A test that is not listed here is in the first half.
const ofSecondHalf = `^Test(Dashboard|Browser|Inspector|TypeScriptClient|Conformance|GoClient|Frameworks|StructuredRepeats|ClaudeCode|Codex|` +
	`OpenAIClient|AISDKClient|AnthropicClientAgent|ResponsesClientAgent|AggregateOverStdio|NoServerOutlivesAStdioClient|SupergatewayInFront|` +
	`PrunedResultsStayForEver|PrunedOutputsStayForEver)`

// half is the process that runs the second half; nil: none.
type half struct {
	cmd *exec.Cmd
	out *os.File // its output, until the first half is done
}

// startSecondHalf starts it, unless this is it, only some tests were selected, or something is
// measured.
func startSecondHalf(dir string) *half {
	flag.Parse()
	if os.Getenv(secondHalf) != "" {
		set("test.run", ofSecondHalf)
		return nil
	}
	for _, name := range []string{"run", "skip", "bench", "list", "fuzz", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace"} {
		if f := flag.Lookup("test." + name); f != nil && f.Value.String() != "" {
			return nil
		}
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	out, err := os.Create(filepath.Join(dir, "second-half"))
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self)
	for _, arg := range os.Args[1:] {
		if !strings.HasPrefix(arg, "-test.testlogfile=") { // it is for one process
			cmd.Args = append(cmd.Args, arg)
		}
	}
	cmd.Env = append(os.Environ(), secondHalf+"=1")
	cmd.Stdout, cmd.Stderr = out, out
	// It must not outlive its parent.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	set("test.skip", ofSecondHalf)
	return &half{cmd, out}
}

// wait returns the exit status of both halves, after the second is done and its output is printed.
func (h *half) wait(code int) int {
	if h == nil {
		return code
	}
	if err := h.cmd.Wait(); err != nil {
		code = max(code, 1)
	}
	if _, err := h.out.Seek(0, io.SeekStart); err != nil {
		panic(err)
	}
	if _, err := io.Copy(os.Stdout, h.out); err != nil {
		panic(err)
	}
	return code
}

// is reports whether a process is the second half.
func (h *half) is(pid int) bool { return h != nil && h.cmd.Process.Pid == pid }

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}
