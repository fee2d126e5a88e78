package mask_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTextCutsAreLinear has documents that a careless search would go over again and
// again. What counts is the time of the processor, which a loaded machine does not change.
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
		m.TextCuts([]byte(doc))
		if took := threadTime(t) - start; took > 2*time.Second {
			t.Errorf("%s: %v of the processor for %d bytes", rule, took, len(doc))
		}
	}
}

// threadTime is how long the processor has worked for this thread.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
