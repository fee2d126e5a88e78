package prune

import "strings"

// verdict is what a row of a test runner's output says about a test.
type verdict uint8

const (
	noVerdict  verdict = iota
	begins             // Go: the output of the named test follows
	passes             // the test began, passed or was skipped
	fails              // the named test failed; the reasons follow
	failsBelow         // the same, with the reasons in deeper rows
	listsFail          // a list names a failing test, which mostly has a row with reasons, too
	sumsUp             // names a failing test with its reason, or counts failures
	ends               // ends the reasons of the test before it
)

// verdictOf reads a row of the output of go test, pytest, unittest, jest, vitest, cargo, surefire or gradle. The name is the last part of
// the test's full name, except for Go.
func verdictOf(line string) (v verdict, name string) {
	switch line[0] {
	case '=':
		return ruleVerdict(line)
	case '-':
		return dashVerdict(line)
	case '_':
		if inner := strings.Trim(line, "_"); len(inner) > 2 && inner[0] == ' ' && inner[len(inner)-1] == ' ' && !strings.Contains(inner, " _ ") {
			inner, _, _ = strings.Cut(strings.TrimSpace(inner), "[")
			return fails, lastPart(inner, ".")
		}
	case 'F', 'E', 'P', 'o', '?':
		if v, name = wordVerdict(line); v != noVerdict {
			return v, name
		}
	case 't', 'T', 'f':
		if v, name = countVerdict(line); v != noVerdict {
			return v, name
		}
	case 0xe2, 0xc3:
		return signVerdict(line)
	}
	return endVerdict(line)
}

// ruleVerdict reads "=== RUN   TestX", and pytest's headlines.
func ruleVerdict(line string) (verdict, string) {
	word, name, _ := strings.Cut(strings.TrimPrefix(line, "=== "), " ")
	switch word {
	case "RUN", "CONT", "NAME":
		return begins, strings.TrimSpace(name)
	case "PAUSE":
		return passes, ""
	}
	if strings.HasSuffix(line, "=") && (strings.Contains(line, " failed") || strings.Contains(line, " error")) && strings.Contains(line, " in ") {
		return sumsUp, ""
	}
	return ends, ""
}

// dashVerdict reads "--- FAIL: TestX (0.00s)", "---- tests::x stdout ----", and pytest's captured output.
func dashVerdict(line string) (verdict, string) {
	if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok {
		name, _, _ = strings.Cut(name, " (")
		return failsBelow, name
	}
	if strings.HasPrefix(line, "--- PASS: ") || strings.HasPrefix(line, "--- SKIP: ") {
		return passes, ""
	}
	if name, ok := strings.CutPrefix(line, "---- "); ok {
		if name, ok = strings.CutSuffix(name, " stdout ----"); ok {
			return fails, name
		}
	}
	if strings.HasPrefix(line, "-----") && strings.Contains(line, " Captured ") {
		return ends, ""
	}
	return noVerdict, ""
}

// wordVerdict reads rows that begin with FAIL, FAILED, ERROR, PASS, ok and the like.
func wordVerdict(line string) (verdict, string) {
	word, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "FAIL":
		switch {
		case rest == "":
			return ends, ""
		case strings.HasPrefix(rest, "["): // nextest
			return listsFail, lastPart(rest, " ")
		case strings.Contains(rest, " > ") || strings.Contains(rest, " [ "): // vitest
			return fails, lastPart(rest, " > ")
		}
		return sumsUp, ""
	case "FAIL:": // unittest
		return fails, firstField(rest)
	case "ERROR:":
		if strings.HasPrefix(rest, "test") && strings.HasSuffix(rest, ")") {
			return fails, firstField(rest)
		}
	case "FAILED", "ERROR":
		if name := firstField(rest); strings.Contains(name, ".py") {
			return sumsUp, lastPart(name, "::")
		} else if word == "FAILED" && strings.HasPrefix(rest, "(") {
			return sumsUp, ""
		}
	case "PASS":
		return passes, ""
	case "ok", "?":
		if strings.Contains(line, "\t") {
			return passes, ""
		}
	}
	return noVerdict, ""
}

// countVerdict reads cargo's rows "test x ... ok", and the counts that close a run.
func countVerdict(line string) (verdict, string) {
	switch {
	case line == "failures:":
		return ends, ""
	case strings.HasPrefix(line, "test result: FAILED"), strings.HasPrefix(line, "Tests run:") && strings.Contains(line, "<<< "):
		return sumsUp, ""
	case strings.HasPrefix(line, "Test Suites:"), strings.HasPrefix(line, "Tests:"), strings.HasPrefix(line, "Test Files "), strings.HasPrefix(line, "Tests "):
		if strings.Contains(line, " failed") {
			return sumsUp, ""
		}
		return ends, ""
	case strings.HasPrefix(line, "test"):
		name, result, found := strings.Cut(line, " ... ")
		switch {
		case !found:
		case result == "FAILED":
			name, _, _ = strings.Cut(strings.TrimPrefix(name, "test "), " - should panic")
			return listsFail, name
		case result == "FAIL", result == "ERROR":
			return listsFail, firstField(name)
		case result == "ok", strings.HasPrefix(result, "ignored"), strings.HasPrefix(result, "skipped"):
			return passes, ""
		}
	}
	return noVerdict, ""
}

// signVerdict reads the rows of jest and vitest that begin with a sign.
func signVerdict(line string) (verdict, string) {
	sign, rest, _ := strings.Cut(line, " ")
	switch sign {
	case "●":
		if rest = strings.TrimSpace(rest); rest == "Console" {
			return ends, ""
		}
		return fails, lastPart(rest, " › ")
	case "✕", "×", "✗", "✖", "✘":
		return listsFail, withoutTime(lastPart(rest, " > "))
	case "✓", "√", "✔", "○":
		return passes, ""
	case "❯":
		if strings.Contains(rest, " failed)") {
			return sumsUp, ""
		}
	}
	if strings.HasPrefix(line, "⎯") {
		return ends, ""
	}
	return noVerdict, ""
}

// endVerdict reads rows that tell the result behind the name: pytest -v, gradle and surefire.
func endVerdict(line string) (verdict, string) {
	rest := strings.TrimPrefix(line, "[ERROR] ")
	switch {
	case strings.HasPrefix(line, "[INFO] Tests run:"), strings.HasPrefix(line, "[INFO] Running "):
		return passes, ""
	case strings.HasPrefix(rest, "Tests run:") && rest != line:
		return sumsUp, ""
	case strings.Contains(line, "<<< FAILURE!"), strings.Contains(line, "<<< ERROR!"):
		name := firstField(rest)
		name, _, _ = strings.Cut(name, "(")
		return fails, lastPart(name, ".")
	case rest != line && rest[0] == ' ' && (strings.Contains(rest, " » ") || hasPlace(firstField(rest), "")):
		name, _, _ := strings.Cut(firstField(rest), ":")
		return sumsUp, lastPart(name, ".")
	case strings.HasPrefix(line, "> Task ") && strings.HasSuffix(line, " FAILED"), strings.Contains(line, " tests completed, ") && strings.HasSuffix(line, " failed"):
		return sumsUp, ""
	case strings.Contains(line, " > ") && strings.HasSuffix(line, " FAILED"):
		return failsBelow, lastPart(strings.TrimSuffix(line, " FAILED"), " > ")
	case strings.Contains(line, " > ") && (strings.HasSuffix(line, " PASSED") || strings.HasSuffix(line, " SKIPPED")):
		return passes, ""
	}
	if strings.Contains(line, "::") && strings.Contains(line, ".py") {
		for word := range strings.FieldsSeq(line) {
			switch word {
			case "PASSED", "SKIPPED", "XFAIL", "XPASS":
				return passes, ""
			case "FAILED", "ERROR":
				return listsFail, firstField(lastPart(line, "::"))
			}
		}
	}
	return noVerdict, ""
}

// lastPart is what follows the last separator, or all of s.
func lastPart(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		s = s[i+len(sep):]
	}
	return strings.TrimSpace(s)
}

func firstField(s string) string {
	s = strings.TrimLeft(s, " ")
	if i := strings.IndexByte(s, ' '); i >= 0 {
		return s[:i]
	}
	return s
}

// withoutTime is a name without the time behind it, "(3 ms)" or "3ms".
func withoutTime(name string) string {
	if i := strings.LastIndexByte(name, ' '); i > 0 && strings.HasSuffix(strings.TrimSuffix(name, ")"), "s") && i+1 < len(name) && classes[name[i+1]] == digitClass {
		return name[:i]
	}
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, "s)") {
		return name[:i]
	}
	return name
}

// hasPlace says whether a row begins with the place of a line in a file of that ending, such as x_test.go:27:.
func hasPlace(line, ending string) bool {
	i := strings.Index(line, ending+":")
	if i <= 0 || strings.ContainsAny(line[:i], " \t") {
		return false
	}
	i += len(ending) + 1
	return i < len(line) && classes[line[i]] == digitClass
}
