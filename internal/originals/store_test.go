package originals_test

import (
	"testing"
	"time"

	"secateur/internal/originals"
	"secateur/internal/originals/originalstest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	originalstest.Run(t, func(*testing.T) originals.Store {
		return &originals.Memory{MaxBytes: originalstest.MaxBytes, TTL: originalstest.TTL}
	})
}

func TestFileKeepsTheContract(t *testing.T) {
	originalstest.Run(t, func(t *testing.T) originals.Store {
		t.Helper()
		return openFile(t, t.TempDir())
	})
}

func TestTimedKeepsTheContract(t *testing.T) {
	originalstest.Run(t, func(t *testing.T) originals.Store {
		t.Helper()
		return originals.WithPutTimeout(openFile(t, t.TempDir()), time.Minute)
	})
}

// openFile opens a store set up for the suite, and closes it when the test ends.
func openFile(t *testing.T, dir string) *originals.File {
	t.Helper()
	f, err := originals.OpenFile(originals.FileOptions{
		Dir: dir, MaxBytes: originalstest.MaxBytes, TTL: originalstest.TTL,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return f
}
