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

// Of this package's tests most wait: for a server to start, for a browser, for time to pass. Where all of them are asked for they run in two
// halves side by side, each in a process of its own, whose children and goroutines are its own as well.
const secondHalf = "SECATEUR_TEST_SECOND_HALF"

// ofSecondHalf are the tests in which somebody else's client uses the program, about half of all by the clock. A test that is not named
// here is in the first half.
const ofSecondHalf = `^Test(Dashboard|Browser|Inspector|TypeScriptClient|Conformance|GoClient|Frameworks|StructuredRepeats|ClaudeCode|Codex|` +
	`OpenAIClient|AISDKClient|AnthropicClientAgent|ResponsesClientAgent|AggregateOverStdio|NoServerOutlivesAStdioClient|SupergatewayInFront|` +
	`PrunedResultsStayForEver|PrunedOutputsStayForEver)`

// half is the process that runs the second half; nil: there is none.
type half struct {
	cmd *exec.Cmd
	out *os.File // what it prints, until the first half is done
}

// startSecondHalf starts it, unless this is it, or only some tests are asked for, or something is measured.
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
		if !strings.HasPrefix(arg, "-test.testlogfile=") { // which is for one process
			cmd.Args = append(cmd.Args, arg)
		}
	}
	cmd.Env = append(os.Environ(), secondHalf+"=1")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // nobody would wait for it
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	set("test.skip", ofSecondHalf)
	return &half{cmd, out}
}

// wait gives the exit status of both halves, when the second is done and what it says is printed.
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

// is tells whether a process is the second half.
func (h *half) is(pid int) bool { return h != nil && h.cmd.Process.Pid == pid }

func set(name, value string) {
	if err := flag.Set(name, value); err != nil {
		panic(err)
	}
}
