package test

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// suite is one run of the official conformance suite, and the reference server's own score in it.
type suite struct {
	name      string
	version   string // the package in npm's folder
	arguments []string
	stateless bool   // how the reference server is run over HTTP, where it supports one era
	direct    checks // the reference server's
	// Prefix of scenarios that may fail: extensions that the reference server lacks.
	failing string
}

// checks counts them.
type checks struct{ passed, failed int }

// outcome has the checks of each scenario.
type outcome map[string]checks

func (o outcome) total() (sum checks) {
	for _, c := range o {
		sum.passed += c.passed
		sum.failed += c.failed
	}
	return sum
}

var suites = []suite{
	{"0.1.16 all", "conformance-0.1", []string{"--suite", "all"}, false, checks{44, 0}, "none"},
	{"0.2.0-alpha.12 2025-11-25", "conformance-0.2", []string{"--requirements", "2025-11-25"}, false, checks{82, 0}, "none"},
	{"0.2.0-alpha.12 2026-07-28", "conformance-0.2", []string{"--requirements", "2026-07-28", "--timeout", "10000"}, true, checks{165, 30}, "tasks-"},
}

// The yardstick: the reference server's score without us.
func TestConformanceDirect(t *testing.T) {
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			if got := s.run(t, startConformanceServer(t, s.stateless)).total(); got != s.direct {
				t.Errorf("%+v, want %+v", got, s.direct)
			}
		})
	}
}

func TestConformanceInFrontOfStdio(t *testing.T) {
	command := toml([]string{conformanceServer(t)})
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			s.through(t, start(t, fmt.Sprintf("[[servers]]\nid = \"reference\"\ncommand = %s\n", command)))
		})
	}
}

func TestConformanceInFrontOfHTTP(t *testing.T) {
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			url := startConformanceServer(t, s.stateless)
			s.through(t, start(t, fmt.Sprintf("[[servers]]\nid = \"reference\"\nurl = %q\n", url)))
		})
	}
}

// through runs the suite against the transparent endpoint, which may do better than the reference
// server but not worse.
func (s suite) through(t *testing.T, p *program) {
	t.Helper()
	got := s.run(t, p.url+"/mcp/reference")
	t.Logf("%+v", got.total())
	if total := got.total(); total.passed >= s.direct.passed && total.failed == s.direct.failed {
		return
	}
	t.Errorf("%+v, want as without us: %+v", got.total(), s.direct)
	for name, want := range s.run(t, startConformanceServer(t, s.stateless)) {
		if got[name] != want {
			t.Errorf("%s: %+v, want %+v", name, got[name], want)
		}
	}
}

var summaryLine = regexp.MustCompile(`^[✓✗] ([a-z0-9-]+): (\d+) passed, (\d+) failed`)

// timed is a scenario that gives up on answers after half a second or two by its own clock. That is
// too little on a busy machine.
const timed = "server-stateless"

// run counts the checks that a server passes and fails. If only the timed scenario fails, it gets
// three tries.
func (s suite) run(t *testing.T, url string) (got outcome) {
	t.Helper()
	for range 3 {
		got = s.runOnce(t, url)
		if bad := s.unexpected(got); len(bad) != 1 || bad[0] != timed {
			break
		}
	}
	for _, name := range s.unexpected(got) {
		t.Errorf("%s: %d checks failed", name, got[name].failed)
	}
	return got
}

// unexpected returns the scenarios that fail but should not.
func (s suite) unexpected(o outcome) (names []string) {
	for name, c := range o {
		if c.failed > 0 && !strings.HasPrefix(name, s.failing) {
			names = append(names, name)
		}
	}
	return names
}

func (s suite) runOnce(t *testing.T, url string) outcome {
	t.Helper()
	script := npmFile(t, s.version, "dist", "index.js")
	cmd := exec.CommandContext(t.Context(), newNode(t), append([]string{script, "server", "--url", url}, s.arguments...)...)
	cmd.Dir = t.TempDir()
	text, err := cmd.CombinedOutput() // the exit code repeats what is counted below
	got := outcome{}
	for line := range strings.Lines(string(text)) {
		m := summaryLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		passed, _ := strconv.Atoi(m[2]) // the pattern has digits only
		failed, _ := strconv.Atoi(m[3])
		got[m[1]] = checks{passed, failed}
	}
	if len(got) == 0 {
		t.Fatalf("the suite ran nothing: %v\n%s", err, text[max(0, len(text)-10_000):])
	}
	return got
}

// conformanceServer builds the Go SDK's reference server for the conformance suite.
func conformanceServer(t *testing.T) string {
	t.Helper()
	return built(t, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
}

// startConformanceServer runs it as a Streamable HTTP server and returns its address. It uses the
// modern era if stateless, else the legacy one.
func startConformanceServer(t *testing.T, stateless bool) string {
	t.Helper()
	addr := freePort(t)
	cmd := exec.Command(conformanceServer(t), "-http", addr, "-stateless="+strconv.FormatBool(stateless))
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "listening") {
			go func() { // keeps the pipe from filling up
				for lines.Scan() {
				}
			}()
			waitForListener(t, addr) // it says so before it does
			return "http://" + addr + "/"
		}
	}
	t.Fatal("the conformance server ended before it listened")
	return ""
}

// npmFile returns a file of an installed npm package.
func npmFile(t *testing.T, path ...string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join(slices.Concat([]string{"npm", "node_modules"}, path)...))
	if err != nil {
		t.Fatal(err)
	}
	lackFile(t, file)
	return file
}
