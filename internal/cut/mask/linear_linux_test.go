package mask_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTextCutsAreLinear uses documents that a naive search would read again and again. It measures
// CPU time, which does not depend on the machine's load.
func TestTextCutsAreLinear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	m := newMasker(t, short("#"))
	const n = 200_000
	for rule, doc := range map[string]string{
		"backslashes":   `{"content":[{"type":"text","text":"` + strings.Repeat(`\\`, n) + `"}]}`,
		"quotes":        `{"content":[{"type":"text","text":"` + strings.Repeat(`\"`, n) + `"}]}`,
		"blocks":        `{"content":[` + strings.Repeat(`{"type":"x"},`, n) + `1]}`,
		"texts":         `{"content":[{"type":"x"` + strings.Repeat(`,"text":"12345678"`, n) + `}]}`,
		"deep arrays":   `{"content":[` + strings.Repeat("[", n) + strings.Repeat("]", n) + `]}`,
		"never closed":  `{"content":[{"type":"text","text":"` + strings.Repeat(`\"`, n),
		"white space":   `{"content":[` + strings.Repeat(" ", n) + `]}`,
		"many contents": `{` + strings.Repeat(`"content":[{}],`, n) + `"a":1}`,
	} {
		start := threadTime(t)
		m.TextCuts([]byte(doc), m.LongString())
		if took := threadTime(t) - start; took > 2*time.Second {
			t.Errorf("%s: %v of the processor for %d bytes", rule, took, len(doc))
		}
	}
}

// Hostile documents must not be slow: the time is linear in the size.
func TestHostileDocumentsAreNotSlow(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 1 << 20
	s := short("#")
	s.ExemptMedia = true
	m := newMasker(t, s)
	data := `"data":"0123456789"`
	for name, doc := range map[string]string{
		"backslashes":        `"` + strings.Repeat(`\\`, n) + `"`,
		"media in media":     strings.Repeat(`{`+data+`,"x":`, 9000) + "1" + strings.Repeat("}", 9000),
		"media behind media": strings.Repeat(`{"x":`, 9000) + "1" + strings.Repeat(`,`+data+`}`, 9000),
		"data again":         `{` + strings.Repeat(data+",", n/20) + `"type":"image"}`,
		"strings just over":  `[` + strings.Repeat(`"0123456",`, n/10) + `1]`,
		"a long name":        `{"` + strings.Repeat(`\"`, n) + `":"0123456789"}`,
	} {
		start := threadTime(t)
		if _, _, err := m.Mask([]byte(doc)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := threadTime(t) - start; took > 10*time.Second {
			t.Errorf("%s: %v of the processor for %d bytes", name, took, len(doc))
		}
	}
}

// threadTime returns the CPU time of this thread.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
