package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// A table fits its terminal: no row is longer, whichever column is.
func TestTablesFitTheTerminal(t *testing.T) {
	wide := table{
		head:    []string{"ID", "STATE", "TOKENS", "WHY"},
		rows:    [][]string{{"files", "ready", "12", ""}, {"a-server-with-a-long-name", "down", "1234567", "it ended with an error that is éxplained at length"}},
		numbers: map[int]bool{2: true},
	}
	show := func(width int, colour bool) string {
		var out bytes.Buffer
		wide.print(world{out: &out, width: width, colour: colour})
		return out.String()
	}
	whole := show(0, false)
	if want := "ID                         STATE   TOKENS  WHY\n" +
		"files                      ready       12\n" +
		"a-server-with-a-long-name  down   1234567  it ended with an error that is éxplained at length\n"; whole != want {
		t.Errorf("without a terminal:\n%swant\n%s", whole, want)
	}
	if got := show(200, false); got != whole {
		t.Errorf("on a wide terminal:\n%s", got)
	}
	for width := 1; width < 100; width++ {
		for line := range strings.Lines(show(width, false)) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Fatalf("on a terminal of %d characters a line has %d: %q", width, n, line)
			}
		}
	}
	if got := show(60, false); !strings.Contains(got, "it ended with an…\n") {
		t.Errorf("on a terminal of 60 characters:\n%s", got)
	}
	if got := show(0, true); !strings.Contains(got, green+"ready"+plain) || !strings.Contains(got, red+"down"+plain) || strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(got, green, ""), red, ""), plain, "") != whole {
		t.Errorf("in colour:\n%q", got)
	}
}

// A bar is shown on a terminal for what takes its time, moves on, and leaves nothing behind; elsewhere there is none.
func TestProgressIsForTerminals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := world{err: &out, errTerminal: true}
		part := 0.0
		quick := w.progress("quick")
		time.Sleep(progressQuiet / 2)
		quick()
		if out.Len() > 0 {
			t.Errorf("something quick shows %q", out.String())
		}
		done := w.progressOf(func() (string, float64) { part += 0.5; return "checking", part })
		time.Sleep(progressQuiet + 2*progressStep + progressStep/2)
		done()
		const clear = "\r\x1b[K"
		half, full := "["+strings.Repeat("=", 10)+strings.Repeat(" ", 10)+"]", "["+strings.Repeat("=", 20)+"]"
		if want := clear + half + " checking" + clear + full + " checking" + clear + full + " checking" + clear; out.String() != want {
			t.Errorf("shown %q, want %q", out.String(), want)
		}
		out.Reset()
		done = w.progress("waiting")
		time.Sleep(progressQuiet + progressStep/2)
		done()
		if want := clear + "[===" + strings.Repeat(" ", 17) + "] waiting" + clear; out.String() != want {
			t.Errorf("shown %q, want %q", out.String(), want)
		}
		out.Reset()
		w.errTerminal = false
		done = w.progress("in a pipe")
		time.Sleep(time.Minute)
		done()
		if out.Len() > 0 {
			t.Errorf("a pipe gets %q", out.String())
		}
	})
}
