package chat

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"secateur/internal/prune"
)

// failedTest is a test that fails in a made log: one of the names and one of the reasons must be left of it.
type failedTest struct {
	name   []string
	reason string
}

// testLog makes the output of a test runner.
type testLog struct {
	strings.Builder
	*rand.Rand
	used   map[string]bool
	failed []failedTest
}

func (l *testLog) add(format string, args ...any) { fmt.Fprintf(l, format+"\n", args...) }

// words is a new name of some words.
func (l *testLog) words(join func([]string) string) string {
	all := strings.Fields("user order cache token session parse render sync queue retry header limit batch index route merge store price email lock window shard replica digest cursor")
	for {
		var w []string
		for range 2 + l.IntN(3) {
			w = append(w, all[l.IntN(len(all))])
		}
		if name := join(w); !l.used[name] {
			l.used[name] = true
			return name
		}
	}
}

func snake(w []string) string { return "test_" + strings.Join(w, "_") }
func plain(w []string) string { return strings.Join(w, " ") }
func camel(w []string) (out string) {
	for _, s := range w {
		out += strings.ToUpper(s[:1]) + s[1:]
	}
	return out
}

func (l *testLog) message() string {
	a, b := l.IntN(9000), l.IntN(9000)
	return [...]string{
		fmt.Sprintf("got %d, want %d", a, b),
		fmt.Sprintf("status = %d; want %d", a, b),
		fmt.Sprintf("unexpected error: dial tcp 127.0.0.1:%d: connection refused", a),
		fmt.Sprintf("%d items left after drain of %d", a, b),
		fmt.Sprintf("value %d is not in range %d", a, b),
	}[l.IntN(5)]
}

// each calls one of two for every test of a run, in a random order.
func (l *testLog) each(passing, failing int, pass, fail func(i int)) {
	for i, at := range l.Perm(passing + failing) {
		if at < failing {
			fail(i)
		} else {
			pass(i)
		}
	}
}

func goVerbose(l *testLog, passing, failing int) {
	l.each(passing, failing, func(int) {
		name := "Test" + l.words(camel)
		l.add("=== RUN   %s", name)
		if l.IntN(4) == 0 {
			l.add("    %s_test.go:%d: %s", "x", l.IntN(500), "listening on a port "+fmt.Sprint(l.IntN(60000)))
		}
		l.add("--- PASS: %s (0.%02ds)", name, l.IntN(90))
	}, func(int) {
		name, reason := "Test"+l.words(camel), fmt.Sprintf("    server_test.go:%d: %s", l.IntN(900), l.message())
		l.add("=== RUN   %s", name)
		sub := ""
		if l.IntN(2) == 0 {
			sub = name + "/" + strings.ReplaceAll(l.words(plain), " ", "_")
			l.add("=== RUN   %s", sub)
		}
		for range l.IntN(4) {
			l.add("    server_test.go:%d: step %d is done", l.IntN(900), l.IntN(90))
		}
		l.add("%s", reason)
		l.add("--- FAIL: %s (0.00s)", name)
		if sub != "" {
			l.add("    --- FAIL: %s (0.00s)", sub)
			name = sub
		}
		l.failed = append(l.failed, failedTest{[]string{"--- FAIL: " + name + " ("}, reason})
	})
	l.add("FAIL\nFAIL\texample.com/shop/server\t1.204s\nok  \texample.com/shop/cart\t0.031s\nFAIL")
}

func goPackages(l *testLog, passing, failing int) {
	l.each(passing, failing, func(int) { l.add("ok  \texample.com/shop/%s\t0.%03ds", l.words(camel), l.IntN(900)) }, func(int) {
		pkg, name, reason := l.words(camel), "Test"+l.words(camel), fmt.Sprintf("server_test.go:%d: %s", l.IntN(900), l.message())
		if l.IntN(4) == 0 {
			reason = "panic: " + l.message()
			l.add("--- FAIL: %s (0.00s)\n%s [recovered, repanicked]\n\ngoroutine 20 [running]:", name, reason)
			l.add("testing.tRunner.func1.2({0x55a7a0, 0x6cac40})\n\t/usr/local/go/src/testing/testing.go:1974 +0x232\npanic({0x55a7a0?, 0x6cac40?})\n\t/usr/local/go/src/runtime/panic.go:860 +0x13a")
			l.add("example.com/shop/%s.%s(0x12fb8509c6c8?)\n\t/src/%s/server_test.go:4 +0x28\ntesting.tRunner(0x12fb8509c6c8, 0x592e30)\n\t/usr/local/go/src/testing/testing.go:2036 +0xea", pkg, name, pkg)
		} else {
			l.add("--- FAIL: %s (0.00s)\n    %s\nFAIL", name, reason)
		}
		l.add("FAIL\texample.com/shop/%s\t0.%03ds", pkg, l.IntN(900))
		l.failed = append(l.failed, failedTest{[]string{"--- FAIL: " + name + " ("}, reason})
	})
	l.add("FAIL")
}

func pytest(verbose bool) func(*testLog, int, int) {
	return func(l *testLog, passing, failing int) {
		l.add("============================= test session starts ==============================\nplatform linux -- Python 3.12.3, pytest-8.3.4, pluggy-1.5.0\nrootdir: /src\ncollected %d items\n", passing+failing)
		var details, summary strings.Builder
		total := passing + failing
		l.each(passing, failing, func(i int) {
			if verbose {
				l.add("tests/test_%s.py::%s PASSED %s[%3d%%]", "shop", l.words(snake), strings.Repeat(" ", 20), 100*i/total)
			} else if i%20 == 0 {
				l.add("tests/test_%s.py %s [%3d%%]", l.words(snake), strings.Repeat(".", 20), 100*i/total)
			}
		}, func(i int) {
			name, line, a := l.words(snake), l.IntN(900), l.IntN(9000)
			reason := fmt.Sprintf("E       assert %d == %d", a, a+1)
			if verbose {
				l.add("tests/test_shop.py::%s FAILED %s[%3d%%]", name, strings.Repeat(" ", 20), 100*i/total)
			}
			fmt.Fprintf(&details, "____________________ %s ____________________\n\n    def %s():\n        shop = make_shop()\n        shop.open(%d)\n>       assert shop.total() == %d\n", name, name, a, a+1)
			fmt.Fprintf(&details, "%s\nE        +  where %d = <bound method Shop.total of <shop.Shop object at 0x7f>>()\n\ntests/test_shop.py:%d: AssertionError\n", reason, a, line)
			for range l.IntN(3) * 4 {
				fmt.Fprintf(&details, "----------------------------- Captured stdout call -----------------------------\nopened the shop %d\n", l.IntN(900))
			}
			fmt.Fprintf(&summary, "FAILED tests/test_shop.py::%s - assert %d == %d\n", name, a, a+1)
			l.failed = append(l.failed, failedTest{[]string{"_ " + name + " _", "::" + name + " - "}, reason})
		})
		l.add("\n=================================== FAILURES ===================================\n%s=========================== short test summary info ============================\n%s================== %d failed, %d passed in 3.21s ==================",
			details.String(), summary.String(), failing, passing)
	}
}

func jest(l *testLog, passing, failing int) {
	var details strings.Builder
	file := ""
	l.each(passing, failing, func(i int) {
		if i%10 == 0 {
			file = "src/" + l.words(camel) + ".test.ts"
			l.add("PASS %s (5.%d s)\n  %s", file, l.IntN(900), l.words(plain))
		}
		l.add("    ✓ %s (%d ms)", l.words(plain), l.IntN(90))
	}, func(int) {
		name, a := l.words(plain), l.IntN(9000)
		reason := fmt.Sprintf("    Received: %d", a)
		l.add("    ✕ %s (%d ms)", name, l.IntN(90))
		fmt.Fprintf(&details, "  ● shop › %s\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: %d\n%s\n\n", name, a+1, reason)
		for i := range 5 {
			mark := " "
			if i == 2 {
				mark = ">"
			}
			fmt.Fprintf(&details, "    %s %d |     const total = shop.total(%d);\n", mark, 10+i, l.IntN(900))
		}
		fmt.Fprintf(&details, "         |                   ^\n\n      at Object.<anonymous> (src/shop.test.ts:%d:19)\n\n", l.IntN(900))
		l.failed = append(l.failed, failedTest{[]string{"● shop › " + name + "\n", "✕ " + name + " ("}, reason})
	})
	l.add("FAIL src/shop.test.ts\n%s\nTest Suites: 1 failed, 9 passed, 10 total\nTests:       %d failed, %d passed, %d total\nSnapshots:   0 total\nTime:        3.2 s\nRan all test suites.",
		details.String(), failing, passing, passing+failing)
}

func vitest(l *testLog, passing, failing int) {
	l.add(" RUN  v2.1.8 /src\n")
	var details strings.Builder
	l.each(passing, failing, func(int) { l.add(" ✓ src/%s.test.ts (%d tests) %dms", l.words(camel), l.IntN(20), l.IntN(90)) }, func(i int) {
		file, name, a := l.words(camel), l.words(plain), l.IntN(9000)
		reason := fmt.Sprintf("AssertionError: expected %d to be %d // Object.is equality", a, a+1)
		l.add(" ❯ src/%s.test.ts (2 tests | 1 failed) 7ms\n   × shop > %s 5ms\n     → expected %d to be %d // Object.is equality", file, name, a, a+1)
		fmt.Fprintf(&details, " FAIL  src/%s.test.ts > shop > %s\n%s\n\n- Expected\n+ Received\n\n- %d\n+ %d\n\n ❯ src/%s.test.ts:5:21\n", file, name, reason, a+1, a, file)
		for i := range 4 {
			fmt.Fprintf(&details, "      %d|     const total = shop.total(%d)\n", 3+i, l.IntN(900))
		}
		fmt.Fprintf(&details, "\n⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[%d/%d]⎯\n\n", i, failing)
		l.failed = append(l.failed, failedTest{[]string{" > shop > " + name + "\n", "× shop > " + name}, reason[len("AssertionError: "):]})
	})
	l.add("\n⎯⎯⎯⎯⎯⎯⎯ Failed Tests %d ⎯⎯⎯⎯⎯⎯⎯\n\n%s Test Files  %d failed | %d passed (%d)\n      Tests  %d failed | %d passed (%d)\n   Duration  1.2s",
		failing, details.String(), failing, passing, passing+failing, failing, 3*passing, 3*passing+failing)
}

func cargo(l *testLog, passing, failing int) {
	l.add("   Compiling shop v0.1.0 (/src)\n    Finished `test` profile [unoptimized + debuginfo] target(s) in 4.94s\n     Running unittests src/lib.rs (target/debug/deps/shop-a35a48c092d3f767)\n\nrunning %d tests", passing+failing)
	var details, list strings.Builder
	l.each(passing, failing, func(int) { l.add("test tests::%s ... ok", l.words(snake)) }, func(int) {
		name, a, line := l.words(snake), l.IntN(9000), l.IntN(900)
		l.add("test tests::%s ... FAILED", name)
		fmt.Fprintf(&details, "---- tests::%s stdout ----\n", name)
		for range l.IntN(4) {
			fmt.Fprintf(&details, "opened the shop %d\n", l.IntN(900))
		}
		reason := fmt.Sprintf("panicked at src/lib.rs:%d:%d:\n", line, a)
		fmt.Fprintf(&details, "\nthread 'tests::%s' (14707) %s", name, reason)
		if l.IntN(2) == 0 {
			reason += fmt.Sprintf("assertion `left == right` failed: sums differ by %d\n  left: %d\n right: %d\n", a, line, line+a)
			fmt.Fprintf(&details, "%s", reason[strings.Index(reason, "\n")+1:])
		} else {
			reason += fmt.Sprintf("called `Result::unwrap()` on an `Err` value: %q\n", l.message())
			fmt.Fprintf(&details, "%s", reason[strings.Index(reason, "\n")+1:])
		}
		if l.IntN(2) == 0 {
			details.WriteString("stack backtrace:\n")
			for i := range 6 {
				fmt.Fprintf(&details, "   %d: core::panicking::panic_fmt\n             at /rustc/59807616e1fa/library/core/src/panicking.rs:%d:14\n", i, l.IntN(900))
			}
		}
		details.WriteString("note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n")
		fmt.Fprintf(&list, "    tests::%s\n", name)
		l.failed = append(l.failed, failedTest{[]string{"---- tests::" + name + " stdout", "test tests::" + name + " ... FAILED"}, reason})
	})
	l.add("\nfailures:\n\n%s\nfailures:\n%s\ntest result: FAILED. %d passed; %d failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.45s\n\nerror: test failed, to rerun pass `--lib`", details.String(), list.String(), passing, failing)
}

func surefire(l *testLog, passing, failing int) {
	l.add("[INFO] -------------------------------------------------------\n[INFO]  T E S T S\n[INFO] -------------------------------------------------------")
	var list strings.Builder
	l.each(passing, failing, func(int) {
		class := l.words(camel)
		l.add("[INFO] Running com.example.shop.%sTest\n[INFO] Tests run: %d, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.0%d s -- in com.example.shop.%sTest", class, 1+l.IntN(9), l.IntN(90), class)
	}, func(int) {
		class, a, line := l.words(camel), l.IntN(9000), l.IntN(900)
		method := "checks" + l.words(camel)
		reason := fmt.Sprintf("expected: <%d> but was: <%d>", a, a+1)
		l.add("[INFO] Running com.example.shop.%sTest\n[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.example.shop.%sTest", class, class)
		l.add("[ERROR] com.example.shop.%sTest.%s -- Time elapsed: 0.003 s <<< FAILURE!\norg.opentest4j.AssertionFailedError: %s", class, method, reason)
		for i := range 8 {
			l.add("\tat org.junit.jupiter.api.AssertionUtils.fail%d(AssertionUtils.java:%d)", i, l.IntN(200))
		}
		l.add("\tat com.example.shop.%sTest.%s(%sTest.java:%d)\n\tat java.base/java.lang.reflect.Method.invoke(Method.java:580)\n", class, method, class, line)
		fmt.Fprintf(&list, "[ERROR]   %sTest.%s:%d %s\n", class, method, line, reason)
		l.failed = append(l.failed, failedTest{[]string{class + "Test." + method}, reason})
	})
	l.add("[INFO] \n[INFO] Results:\n[INFO] \n[ERROR] Failures: \n%s[INFO] \n[ERROR] Tests run: %d, Failures: %d, Errors: 0, Skipped: 0\n[INFO] \n[INFO] ------------------------------------------------------------------------\n[INFO] BUILD FAILURE", list.String(), passing+failing, failing)
}

func gradle(l *testLog, passing, failing int) {
	l.add("> Task :compileJava UP-TO-DATE\n> Task :test")
	l.each(passing, failing, func(int) { l.add("\n%sTest > checks%s() PASSED", l.words(camel), l.words(camel)) }, func(int) {
		class, method, a := l.words(camel), "checks"+l.words(camel), l.IntN(9000)
		reason := fmt.Sprintf("    org.opentest4j.AssertionFailedError: expected: <%d> but was: <%d>", a, a+1)
		l.add("\n%sTest > %s() FAILED\n%s", class, method, reason)
		l.add("        at app//org.junit.jupiter.api.AssertEquals.failNotEqual(AssertEquals.java:197)\n        at app//com.example.shop.%sTest.%s(%sTest.java:%d)", class, method, class, l.IntN(900))
		l.failed = append(l.failed, failedTest{[]string{class + "Test > " + method + "() FAILED"}, reason})
	})
	l.add("\n%d tests completed, %d failed\n\n> Task :test FAILED\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':test'.", passing+failing, failing)
}

var runners = []struct {
	name, call string
	make       func(l *testLog, passing, failing int)
}{
	{"go test -v", "go test -v ./...", goVerbose},
	{"go test", "go test ./...", goPackages},
	{"pytest -v", "pytest -v tests/test_shop.py", pytest(true)},
	{"pytest", "pytest", pytest(false)},
	{"jest", "npx jest --verbose", jest},
	{"vitest", "npx vitest run", vitest},
	{"cargo", "cargo test", cargo},
	{"surefire", "mvn test", surefire},
	{"gradle", "./gradlew test", gradle},
}

// found counts the failing tests whose name and reason are left of a log.
type found struct{ tests, names, reasons, lines int }

func (f *found) count(l *testLog, out string) {
	for _, t := range l.failed {
		f.tests++
		for _, name := range t.name {
			if strings.Contains(out, name) {
				f.names++
				break
			}
		}
		if strings.Contains(out, t.reason) {
			f.reasons++
		}
	}
}

// TestFailingTestsStayWithTheirReasons holds for the chat proxy's defaults and for prune_text at ratio .9, whether the goal names nothing or
// something else.
func TestFailingTestsStayWithTheirReasons(t *testing.T) {
	const seeds = 4
	s := DefaultPruning()
	s.Enabled = true
	goals := []string{"I run the tests.", "Let me see whether the invoice footer of LedgerExport is translated."}
	for _, runner := range runners {
		t.Run(runner.name, func(t *testing.T) {
			var chat, all, enclosing found
			for seed := range uint64(seeds) {
				l := &testLog{Rand: rand.New(rand.NewPCG(seed, 7)), used: map[string]bool{}}
				runner.make(l, 200+l.IntN(1+int(seed)*200), 1+l.IntN(20))
				text, goal := l.String(), goals[seed%2]
				call := `raw:{"role":"assistant","content":` + quote(goal) + `,"tool_calls":[{"id":"1","function":{"name":"bash","arguments":` + quote(`{"command":`+quote(runner.call)+`}`) + `}}]}`
				conv, _ := jobs(t, s, nil, "u:go on", call, "t:1="+text)
				if at := conv.Jobs(s, Past{}); len(at) == 1 {
					out, ok := conv.Prune(s, at[0], someID, nil)
					if !ok {
						out = text
					}
					chat.count(l, out)
					chat.lines += strings.Count(out, "\n") * 1000 / strings.Count(text, "\n")
				}
				for structure, f := range map[prune.Structure]*found{prune.All: &all, prune.Enclosing: &enclosing} {
					plan := prune.Plan(prune.Request{
						Text: text, Goal: runner.call + " " + goal, Source: prune.Logs, MaxPruneRatio: .9, MinKeepLines: 5, Structure: structure,
						Marker: func(b prune.Block) string { return prune.Marker(prune.CostlyID, b) },
					})
					out, _ := prune.Render(text, plan, someID, false, true)
					f.count(l, out)
					f.lines += plan.Kept * 1000 / plan.Lines
				}
			}
			for door, f := range map[string]found{"chat": chat, "all": all, "enclosing": enclosing} {
				t.Logf("%-9s %4d tests: names %.3f, reasons %.3f, %.2f of the lines left", door, f.tests, part(f.names, f.tests), part(f.reasons, f.tests), float64(f.lines)/seeds/1000)
				if f.tests == 0 || part(f.names, f.tests) < .99 || part(f.reasons, f.tests) < .99 {
					t.Errorf("%s: of %d failing tests %d names and %d reasons are left", door, f.tests, f.names, f.reasons)
				}
			}
		})
	}
}

func part(n, of int) float64 { return float64(n) / float64(max(1, of)) }
