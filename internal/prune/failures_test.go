package prune

import (
	"fmt"
	"strings"
	"testing"
)

// goRun is what go test -v of Go 1.26 prints of a package with failing tests, and of others that panic or do not compile.
const goRun = `=== RUN   TestOne
=== RUN   TestOne/sub0
    a_test.go:3: hello from 0
=== RUN   TestOne/sub3
    a_test.go:3: hello from 3
    a_test.go:9: got 1, want 2
    a_test.go:9: multi
        line
        text
--- FAIL: TestOne (0.00s)
    --- PASS: TestOne/sub0 (0.00s)
    --- FAIL: TestOne/sub3 (0.00s)
=== RUN   TestTwo
=== PAUSE TestTwo
=== CONT  TestTwo
    a_test.go:14: boom
--- FAIL: TestTwo (0.00s)
FAIL
FAIL	example.com/m/a	0.008s
# example.com/m/c [example.com/m/c.test]
c/c_test.go:3:27: undefined: x
=== RUN   TestPanic
--- FAIL: TestPanic (0.00s)
panic: assignment to entry in nil map [recovered, repanicked]

goroutine 20 [running]:
testing.tRunner.func1.2({0x55a7a0, 0x6cac40})
	/usr/local/go/src/testing/testing.go:1974 +0x232
testing.tRunner.func1()
	/usr/local/go/src/testing/testing.go:1977 +0x349
panic({0x55a7a0?, 0x6cac40?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
example.com/m/b.TestPanic(0x12fb8509c6c8?)
	/src/m/b/b_test.go:4 +0x28
testing.tRunner(0x12fb8509c6c8, 0x592e30)
	/usr/local/go/src/testing/testing.go:2036 +0xea
FAIL	example.com/m/b	0.027s
FAIL	example.com/m/c [build failed]
`

// cargoRun is what cargo 1.95 prints.
const cargoRun = `running 4 tests
test tests::a ... ok
test tests::b ... FAILED
test tests::d ... FAILED
test tests::f - should panic ... FAILED

failures:

---- tests::b stdout ----
some output

thread 'tests::b' (14707) panicked at src/lib.rs:4:22:
assertion ` + "`left == right`" + ` failed: sums differ
  left: 1
 right: 2
note: run with ` + "`RUST_BACKTRACE=1`" + ` environment variable to display a backtrace

---- tests::d stdout ----
Error: "bad"

---- tests::f stdout ----
note: test did not panic as expected at src/lib.rs:8:32

failures:
    tests::b
    tests::d
    tests::f

test result: FAILED. 1 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.45s
`

// passed are lines of tests that pass.
func passed(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, strings.ReplaceAll(format, "%d", "%[1]d"), i)
	}
	return b.String()
}

func TestFailuresOfRealRuns(t *testing.T) {
	for _, c := range []struct {
		name, text string
		stay       []string
	}{
		{"go", passed("=== RUN   TestFine%d\n--- PASS: TestFine%d (0.00s)\n", 100) + goRun + passed("ok  \texample.com/m/p%d\t0.032s\n", 100), []string{
			"--- FAIL: TestOne (", "--- FAIL: TestOne/sub3 (", "a_test.go:9: got 1, want 2", "a_test.go:9: multi", "--- FAIL: TestTwo (", "a_test.go:14: boom",
			"undefined: x", "panic: assignment", "goroutine 20 ", "m/b.TestPanic(", "/src/m/b/b_test.go:4 ", "FAIL\texample.com/m/c [build failed]",
		}},
		{"cargo", "     Running unittests src/lib.rs\n" + passed("test tests::fine_%d ... ok\n", 200) + cargoRun, []string{
			"---- tests::b stdout", "panicked at src/lib.rs:4:22", "failed: sums differ", "left: 1", "right: 2", "---- tests::d stdout", `Error: "bad"`,
			"---- tests::f stdout", "did not panic as expected", "test result: FAILED",
		}},
		{"colours", passed(" \x1b[32m✓\x1b[39m src/fine%d.test.ts (3 tests) 4ms\n", 200) +
			"\x1b[41m FAIL \x1b[49m src/b.test.ts > math > adds\n\x1b[31mAssertionError: expected 3 to be 4\x1b[39m\n", []string{"math > adds", "expected 3 to be 4"}},
		{"unittest", passed("test_fine%d (mod.Case.test_fine%d) ... ok\n", 200) + "test_x (mod.Case.test_x) ... FAIL\n\n" + strings.Repeat("=", 70) +
			"\nFAIL: test_x (mod.Case.test_x)\n" + strings.Repeat("-", 70) + "\nTraceback (most recent call last):\n  File \"/src/mod.py\", line 7, in test_x\n    self.assertEqual(1, 2)\n" +
			"AssertionError: 1 != 2\n\n" + strings.Repeat("-", 70) + "\nRan 201 tests in 0.1s\n\nFAILED (failures=1)\n", []string{"FAIL: test_x (", "AssertionError: 1 != 2", "FAILED (failures=1)"}},
		{"no details", passed("test tests::fine_%d ... ok\n", 100) + "test tests::b ... FAILED\n" + passed("test tests::good_%d ... ok\n", 100), []string{"test tests::b ... FAILED"}},
	} {
		for _, source := range []Source{Logs, Docs} {
			for _, req := range []Request{
				{Goal: "is the invoice's footer translated", Structure: Enclosing, MinKeepLines: 5},
				{Goal: "run the tests", Structure: Enclosing, Fill: true, Names: true},
			} {
				req.Text, req.Source, req.MaxPruneRatio, req.Marker = c.text, source, .9, shortened
				res := Plan(req)
				out := strings.Join(keptOf(c.text, res), "\n")
				for _, line := range c.stay {
					if !strings.Contains(out, line) {
						t.Errorf("%s as %v for %q: %q is cut:\n%s", c.name, source, req.Goal, line, out)
					}
				}
				if res.Kept > res.Lines/4 {
					t.Errorf("%s as %v for %q: %d of %d lines are left", c.name, source, req.Goal, res.Kept, res.Lines)
				}
			}
		}
	}
}

// TestManyFailuresAreBounded: where everything fails names come first, and the text is still cut.
func TestManyFailuresAreBounded(t *testing.T) {
	text := passed("--- FAIL: TestNumber%d (0.00s)\n    x_test.go:%d: got %d, want something else\n    x_test.go:%d: and a second reason, which is longer than the name of the test\n", 3000)
	res := Plan(Request{Text: text, Goal: "run the tests", Source: Logs, MaxPruneRatio: .9, Structure: Enclosing})
	if least := res.Lines / 10; res.Kept < least || res.Kept > least*3/2 {
		t.Errorf("%d of %d lines are left", res.Kept, res.Lines)
	}
	names := 0
	for _, line := range keptOf(text, res) {
		if strings.HasPrefix(line, "---") {
			names++
		}
	}
	if names < res.Kept*4/5 {
		t.Errorf("%d names in %d lines", names, res.Kept)
	}
	if most := len(text) / namedShare; Read(Request{Text: text, Source: Logs}).Named() > most {
		t.Errorf("failures take more than %d bytes", most)
	}
}

// TestProgramsAreNoTestRuns: a program that prints such lines is read as a program.
func TestProgramsAreNoTestRuns(t *testing.T) {
	text := program(20) + "var sample = `\n--- FAIL: TestX (0.00s)\n    x_test.go:1: no\n`\n"
	if n := Read(firstPass(text, "Let me read this file.", .9)).Named(); n != 0 {
		t.Errorf("%d bytes of failures in a program", n)
	}
}

// TestOtherTextsHaveNoFailures: a text that no test runner has printed, an empty one too, has nothing that stays for its failures.
func TestOtherTextsHaveNoFailures(t *testing.T) {
	for _, text := range []string{"", "\n", "\n\n", "a line\n", passed("row %d of a table\n", 50), passed("ok  \texample.com/m/p%d\t0.032s\n", 50)} {
		if n := Read(Request{Text: text, Source: Logs}).Named(); n != 0 {
			t.Errorf("%d bytes of %.20q are failures", n, text)
		}
	}
}
