package originals_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/clock"
	"secateur/internal/store/originals"
)

// The system clock is set while originals are kept. None of them expires early, here or for another
// process that starts with the new clock.
func TestASteppingClockEndsNothingBeforeItsTime(t *testing.T) {
	for name, step := range map[string]time.Duration{"forward": 72 * time.Hour, "back": -72 * time.Hour} {
		dir := filepath.Join(t.TempDir(), "store")
		synctest.Test(t, func(t *testing.T) {
			var by time.Duration
			open := func() *originals.File {
				f, err := originals.OpenFile(originals.FileOptions{Dir: dir, TTL: time.Hour, Clock: &clock.Clock{Wall: func() time.Time { return time.Now().Add(by) }}})
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			f := open()
			put := func(text string) string {
				id, err := f.Put(t.Context(), "t", text)
				if err != nil {
					t.Fatal(err)
				}
				return id
			}
			early := put("kept before the step")
			by = step
			late := put("kept after the step")
			for _, id := range []string{early, late} {
				if _, err := f.Get(t.Context(), "t", id); err != nil {
					t.Errorf("%s: %s: %v", name, id, err)
				}
			}
			other := open() // removes what looks expired to a process that knows only the new clock
			defer other.Close()
			if _, err := other.Get(t.Context(), "t", late); err != nil {
				t.Errorf("%s: another process: %v", name, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
