package prune

import (
	"fmt"
	"strings"
	"testing"
)

func noisyLog(at int, lines ...string) string {
	var b strings.Builder
	for i := range 200 {
		if i == at {
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
		fmt.Fprintf(&b, "10:%02d:%02d INFO fetched part %d of the archive\n", i/60, i%60, i)
	}
	return b.String()
}

func TestErrorsAndTracesStayWithAll(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
	}{
		{"an error line and its neighbours", []string{"before it", "ERROR: disk is full", "after it"}},
		{"an exception in one word", []string{"java.lang.NullPointerException: x"}},
		{"a panic with its goroutine", []string{"panic: runtime error", "goroutine 1 [running]:", "main.main()", "\t/tmp/main.go:7 +0x1d"}},
		{"a python traceback", []string{"Traceback (most recent call last):", "  File \"a.py\", line 3, in f", "    g(1)", "  File \"b.py\", line 9, in g", "    raise KeyError(x)", "KeyError: 'x'"}},
		{"a java trace", []string{"Exception in thread \"main\" a.B", "\tat a.C.d(C.java:3)", "\tat a.E.f(E.java:4)", "Caused by: a.G", "\tat a.H.i(H.java:5)", "\t... 3 more"}},
		{"fatal", []string{"FATAL could not start"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := noisyLog(60, c.lines...)
			res := Plan(Request{Text: text, Goal: "fetched part 199", Source: Logs, MaxPruneRatio: .95})
			keeps := kept(res)
			for i := range c.lines {
				if !keeps[61+i] {
					t.Errorf("%q is cut", c.lines[i])
				}
			}
			if res.Pruned() < res.Lines/2 {
				t.Errorf("pruned %d of %d lines", res.Pruned(), res.Lines)
			}
		})
	}
}

func TestWhyDidItFailFindsTheErrorWithoutProtection(t *testing.T) {
	text := noisyLog(150, "compile step 4", "src/main.c:10:5: error: unknown type name 'foo'", "make: *** [all] Error 2", "The command \"make\" exited with 2.")
	res := Plan(Request{Text: text, Goal: "Why did the build fail?", Source: Logs, MaxPruneRatio: .9, Structure: Enclosing})
	if !keepsLine(t, text, res, "unknown type name") {
		t.Error("the error is cut")
	}
	if res.Kept > res.Lines/8 {
		t.Errorf("kept %d of %d lines", res.Kept, res.Lines)
	}
}

func TestQuestionsAboutALogAreAnsweredByItsWords(t *testing.T) {
	text := noisyLog(100, "10:01:40 INFO user mallory logged in from 10.2.3.4")
	res := Plan(Request{Text: text, Goal: "From which address did mallory log in?", Source: Logs, MaxPruneRatio: .95, Structure: Enclosing})
	if !keepsLine(t, text, res, "mallory") {
		t.Error("the line that answers is cut")
	}
}

// TestErrorStaysWithItsTraceForOtherGoals: the row that logs the error, the head of its trace and what was thrown stay, not only frames.
func TestErrorStaysWithItsTraceForOtherGoals(t *testing.T) {
	crash := []string{
		"2026-03-14 10:01:00 INFO worker 7 picked job 1234",
		"2026-03-14 10:01:01 ERROR job 1234 crashed: could not write result",
		"Traceback (most recent call last):",
		`  File "/app/worker.py", line 88, in run`, "    self.step(job)",
		`  File "/app/worker.py", line 120, in step`, "    store.put(job.id, job.result)",
		`  File "/app/store.py", line 31, in put`, "    raise StoreFull(self.path)",
		"app.store.StoreFull: /var/data is full",
		"2026-03-14 10:01:02 INFO worker 7 gives job 1234 back",
	}
	said := [...]string{"fetched part", "user alice logged in, session", "backup of the volume took 12s, number", "GET /api/items 200"}
	for _, structure := range []Structure{All, Enclosing} {
		for _, goal := range []string{"fetched part 199", "how long do the backups take", "which user logged in"} {
			for _, at := range []int{20, 100, 180} {
				var b strings.Builder
				for i := range 200 {
					if i == at {
						b.WriteString(strings.Join(crash, "\n") + "\n")
					}
					fmt.Fprintf(&b, "2026-03-14 10:%02d:%02d INFO %s %d of the archive\n", i/60, i%60, said[i%4], i)
				}
				res := Plan(Request{Text: b.String(), Goal: goal, Source: Logs, MaxPruneRatio: .9, MinKeepLines: 5, Structure: structure, Marker: shortened})
				keeps := kept(res)
				for _, i := range []int{0, 1, 2, 8, 9, 10} {
					if !keeps[at+1+i] {
						t.Errorf("%v, %q, at %d: %q is cut", structure, goal, at, crash[i])
					}
				}
				if res.Kept > res.Lines*3/10 {
					t.Errorf("%v, %q, at %d: %d of %d lines are left", structure, goal, at, res.Kept, res.Lines)
				}
			}
		}
	}
}
