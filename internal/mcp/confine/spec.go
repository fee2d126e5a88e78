package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Rights to a path and everything below it.
type Rights string

// The rights. Each includes reading.
const (
	Read    Rights = "r"
	Execute Rights = "x"
	Write   Rights = "w"
	Both    Rights = "wx" // write and execute
	Device  Rights = "d"  // read, write and control a device
)

// Rule grants rights to one path.
type Rule struct {
	Path   string `json:"p"`
	Rights Rights `json:"r"`
}

// Spec is what our own binary needs to know to restrict itself.
type Spec struct {
	ABI     int    `json:"abi"`     // of Landlock, as the parent found it
	Filters bool   `json:"filters"` // use seccomp
	Rules   []Rule `json:"rules"`
	Net     Net    `json:"net"`
	Sockets bool   `json:"sockets"`

	Processes int `json:"processes"`
	Files     int `json:"files"`
	MemoryMB  int `json:"memory_mb"`
}

// Word is the hidden first argument of our own binary.
const Word = "__confine"

// reportFD is the descriptor on which a process that could not be confined says why.
const reportFD = 3

// Command returns the program and arguments that start a program confined. path is the program's
// file, argv its whole command line. The file for [Failure] must be descriptor 3.
func (s *Spec) Command(path string, argv []string) (program string, args []string) {
	b, err := json.Marshal(s)
	if err != nil {
		panic("confine: " + err.Error()) // strings and numbers
	}
	return self, append([]string{"secateur", Word, string(b), path}, argv...)
}

// self is our own binary, even after its file was replaced.
const self = "/proc/self/exe"

// Failure reads why a confined program did not start. It returns nil as soon as it runs.
func Failure(report io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(report, 64<<10))
	if err != nil || len(b) == 0 {
		return err
	}
	if code, ok := strings.CutPrefix(string(b), execFailed); ok {
		if n, err := strconv.Atoi(code); err == nil {
			return &ExecError{syscall.Errno(n)}
		}
	}
	return &SetupError{string(b)}
}

// SetupError means that a process could not restrict itself, so that its program was not started.
type SetupError struct{ Cause string }

func (e *SetupError) Error() string { return "sandbox: " + e.Cause }

// ExecError means that the program itself could not be executed in the sandbox.
type ExecError struct{ Cause error }

func (e *ExecError) Error() string { return e.Cause.Error() }
func (e *ExecError) Unwrap() error { return e.Cause }

// execFailed marks a report about execve.
const execFailed = "exec "

// Main restricts this process and replaces it by another program: the arguments behind Word. It
// returns only if that failed, with the exit code.
func Main(args []string) int {
	report := os.NewFile(reportFD, "report")
	err := run(args)
	text := err.Error()
	if e, ok := errors.AsType[*ExecError](err); ok {
		if errno, ok := errors.AsType[syscall.Errno](e.Cause); ok {
			text = execFailed + strconv.Itoa(int(errno))
		}
	}
	if _, err := io.WriteString(report, text); err != nil {
		fmt.Fprintln(os.Stderr, "secateur:", text)
	}
	return 126
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("this command is for secateur itself")
	}
	var s Spec
	if err := json.Unmarshal([]byte(args[0]), &s); err != nil {
		return err
	}
	return s.exec(args[1], args[2:])
}
