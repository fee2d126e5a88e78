package chat

import (
	"strings"
	"testing"
)

func TestLooksLikeError(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"a Python traceback":                  {"ok so far\nTraceback (most recent call last):\n  File \"a.py\", line 1\nValueError: bad", true},
		"a name of nine letters":              {"TypeError: Cannot read properties of undefined (reading 'x')", true},
		"another":                             {"NameError: name 'x' is not defined", true},
		"a program that knows no more":        {"Error: null", true},
		"nor does this one":                   {"Error: undefined", true},
		"nor this":                            {"Error: unknown", true},
		"a test that took too long":           {"1) login\n\n    Test timeout of 5000ms exceeded.", true},
		"a JSON object that is fatal":         {`{"fatal": true, "message": "x"}`, true},
		"a JSON object that is not":           {`{"fatal": false}`, false},
		"a lone exception line":               {"ValueError: invalid literal for int()", true},
		"a dotted exception name":             {"java.lang.NullPointerException: Cannot invoke \"x\"\n\tat A.b(A.java:3)", true},
		"an exception of a library":           {"requests.exceptions.ConnectionError: HTTPConnectionPool", true},
		"a Go panic":                          {"panic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:", true},
		"git says fatal":                      {"fatal: not a git repository (or any of the parent directories): .git", true},
		"a fatal error of a compiler":         {"fatal error: stdio.h: No such file", true},
		"Error with a colon":                  {"Error: ENOENT: no such file or directory", true},
		"error in lower case":                 {"error: unexpected token", true},
		"ERROR alone":                         {"ERROR", true},
		"a Rust error code":                   {"error[E0382]: borrow of moved value", true},
		"a TypeScript error code":             {"error TS2304: Cannot find name 'x'.", true},
		"an error that tells what it did":     {"Error reading file /tmp/x", true},
		"docker's error":                      {"Error response from daemon: conflict", true},
		"Exception in thread":                 {"Exception in thread \"main\" java.lang.Error", true},
		"an error after other lines":          {"compiling a\ncompiling b\nerror: linking failed", true},
		"a JSON object with error":            {`{"error": {"code": 1}}`, true},
		"a JSON object with an error string":  {" {\"result\": null, \"error\": \"x\"} \n", true},
		"a JSON object with error null":       {`{"error": null, "ok": true}`, false},
		"a JSON object with status error":     {`{"status":"error"}`, true},
		"a JSON object with status ok":        {`{"status":"ok","note":"error"}`, false},
		"a JSON list":                         {`[{"error": 1}]`, false},
		"a nested error member":               {`{"items":[{"error":"x"}]}`, false},
		"an escaped name says the same":       {`{"\u0065rror": 1}`, true},
		"gcc's error at the end":              {"main.c:3:5: error: expected ';'\n1 error generated.", true},
		"a timeout at the end":                {"connecting...\nOperation timed out after 5000 ms", true},
		"a plain timeout":                     {"request timeout", true},
		"timeout with a reason":               {"Timeout: no answer", true},
		"timeout after":                       {"upstream timeout after 30s", true},
		"a library's timeout":                 {"httpx.ReadTimeout: The read operation timed out", true},
		"connection refused":                  {"curl: (7) Failed to connect to localhost port 1: Connection refused", true},
		"connect_error":                       {"connect_error", true},
		"connect_error in a sentence":         {"proxy said connect_error while dialing", true},
		"dial tcp refused":                    {"dial tcp 127.0.0.1:1: connect: connection refused", true},
		"source that raises":                  {"def f(x):\n    if not x:\n        raise ValueError(\"bad\")\n    return x\n", false},
		"source that catches":                 {"try:\n    f()\nexcept Exception as e:\n    log.error(\"Error: %s\", e)\n", false},
		"a class of errors":                   {"class MyError(Exception):\n    pass\n\nclass TimeoutError(MyError):\n    pass\n", false},
		"an error variable in Go":             {"err := f()\nerror := 1\nerrors.New(\"x\")\nfatal(err)\n", false},
		"an error type in Go":                 {"type error interface {\n\tError() string\n}\n", false},
		"an Error field of a TypeScript type": {"type A = {\nerror: string;\nError: Error;\n}", false},
		"a timeout setting":                   {"def get(url, timeout=30):\n    return s.get(url, timeout=timeout)\n", false},
		"timeout in YAML":                     {"server:\n  timeout: 30\n  retries: 2\n", false},
		"timeout in JSON lines":               {"a\n\"timeout\": 5,\nb", false},
		"a comment on timeouts":               {"x = 1\n# the request timed out\ny = 2", false},
		"prose about timeouts":                {"The default timeout is 30 seconds.\nSee below.", false},
		"prose about errors":                  {"Error handling in Go is explicit.\nErrors are values.\nException handling comes later.", false},
		"grep hits":                           {"src/a.py:12:    raise Error(\"timed out\")\nsrc/b.py:3:# connection refused", false},
		"a numbered file":                     {"     1\tfatal: x\n     2\terror: y\n     3\tconnection refused", false},
		"a word that starts like error":       {"errors: 0\nerror_count: 3\nfatality", false},
		"a log line with ERROR inside":        {"2024-01-01 10:00:00 ERROR something\nall done", false},
		"an old timeout far from the end":     {"request timed out\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\nok", false},
		"an indented doctest traceback":       {">>> f()\n    Traceback (most recent call last):\n        ...\n    ValueError: x\n", false},
		"nothing":                             {"", false},
		"test results":                        {"12 passed, 0 failed in 3.2s", false},
		"broken JSON falls back to the lines": {"{\nerror: unterminated", true},
		"an exception name in prose":          {"ValueError is raised when x is negative.", false},
	} {
		if got := looksLikeError(c.text); got != c.want {
			t.Errorf("%s: looksLikeError(%q) = %v, want %v", name, c.text, got, c.want)
		}
	}
}

func TestNoTailWordIsOverlooked(t *testing.T) {
	for _, word := range tailWords {
		for _, line := range []string{word, "é " + word, word + " é", "x" + word + "x"} {
			for _, line := range []string{line, strings.ToUpper(line)} {
				if !mayReport(line) {
					t.Errorf("mayReport(%q) = false, and it has %q", line, word)
				}
			}
		}
	}
}
