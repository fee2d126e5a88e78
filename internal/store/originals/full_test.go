package originals_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"secateur/internal/store/originals"
)

func TestMemoryDropsTheLeastRecentlyUsed(t *testing.T) {
	text := func(n int) string { return fmt.Sprint(n) + strings.Repeat("x", 1000) }
	m := &originals.Memory{MaxBytes: 4 * 1300, DropOldest: true}
	first, second := keep(t, m, text(1)), keep(t, m, text(2))
	keep(t, m, text(3))
	keep(t, m, text(4))
	get(t, m, first) // so the second is the least recently used
	fifth := keep(t, m, text(5))
	get(t, m, first)
	get(t, m, fifth)
	if _, err := m.Get(t.Context(), "", second); !errors.Is(err, originals.ErrNotFound) {
		t.Errorf("Get of the least recently used: err = %v, want ErrNotFound", err)
	}
	if s := m.Stats(); s.Dropped != 1 || s.Full || s.Refused != 0 || s.Bytes > s.MaxBytes {
		t.Errorf("%+v, want one dropped", s)
	}
	if _, err := m.Put(t.Context(), "", strings.Repeat("x", 6000)); !errors.Is(err, originals.ErrTooLarge) {
		t.Errorf("Put of what never fits: err = %v, want ErrTooLarge", err)
	}
	if s := m.Stats(); s.Count != 4 {
		t.Errorf("%d are left, want all 4: nothing goes for what never fits", s.Count)
	}
}

func TestFileDropsTheLeastRecentlyUsed(t *testing.T) {
	const room = 16
	f := open(t, originals.FileOptions{Dir: t.TempDir(), MaxBytes: room * 4096, DropOldest: true})
	var ids []string
	for i := range room {
		ids = append(ids, keep(t, f, fmt.Sprint("text ", i)))
	}
	// The first three were used a minute after the others.
	for i, id := range ids {
		at := time.Now().Add(time.Hour)
		if i < 3 {
			at = at.Add(time.Minute)
		}
		if err := os.Chtimes(originals.Path(f, id), time.Time{}, at); err != nil {
			t.Fatal(err)
		}
	}
	for i := range room - 4 {
		keep(t, f, fmt.Sprint("more ", i))
	}
	gone := 0
	for i, id := range ids {
		_, err := f.Get(t.Context(), "", id)
		if errors.Is(err, originals.ErrNotFound) {
			gone++
		}
		if i < 3 && err != nil {
			t.Errorf("Get of text %d, which was used after the others: %v", i, err)
		}
	}
	if gone < room-4 {
		t.Errorf("%d of the others are gone, want %d for as many new ones", gone, room-4)
	}
	if s := f.Stats(); s.Dropped == 0 || s.Full || s.Refused != 0 || s.Bytes > s.MaxBytes {
		t.Errorf("%+v", s)
	}
}

// A text that was just put is not evicted, even if file times are too coarse to tell.
func TestFileDropsNothingThatWasJustPut(t *testing.T) {
	const room = 32
	f := open(t, originals.FileOptions{Dir: t.TempDir(), MaxBytes: room * 4096, DropOldest: true})
	for i := range 4 * room {
		id := keep(t, f, fmt.Sprint("text ", i))
		if i > 0 {
			get(t, f, f.ID("", fmt.Sprint("text ", i-1)))
		}
		get(t, f, id)
	}
}

// Concurrent Puts evict for each other, and each finds room.
func TestFileDropsForEveryPut(t *testing.T) {
	f := open(t, originals.FileOptions{Dir: t.TempDir(), MaxBytes: 16 * 4096, DropOldest: true})
	// on a busy machine one of the eight may wait for long
	originals.SetLockPatience(f, time.Minute)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 40 {
				if _, err := f.Put(t.Context(), "", fmt.Sprint("text ", worker, " ", i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s := f.Stats(); s.Refused != 0 || s.Bytes > s.MaxBytes {
		t.Errorf("%+v", s)
	}
}

func TestFullIsToldAndOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &originals.Memory{MaxBytes: 2000, TTL: time.Hour}
		keep(t, m, strings.Repeat("x", 1000))
		if m.Stats().Full {
			t.Error("full before anything was refused")
		}
		if _, err := m.Put(t.Context(), "", strings.Repeat("y", 1000)); !errors.Is(err, originals.ErrFull) {
			t.Fatalf("err = %v, want ErrFull", err)
		}
		if !m.Stats().Full {
			t.Error("not full after a refusal")
		}
		time.Sleep(time.Hour)
		if m.Stats().Full {
			t.Error("still full when all has expired")
		}
	})
}

func TestFileTellsThatItIsFull(t *testing.T) {
	f := open(t, originals.FileOptions{Dir: t.TempDir(), MaxBytes: 4096})
	keep(t, f, "one")
	if _, err := f.Put(t.Context(), "", "two"); !errors.Is(err, originals.ErrFull) || !f.Stats().Full {
		t.Errorf("err = %v, %+v, want full", err, f.Stats())
	}
}

func TestRefusalsAreReportedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := originals.WithReports(&originals.Memory{MaxBytes: 2000}, slog.New(slog.NewTextHandler(&log, nil)))
		lines := func() int { return strings.Count(log.String(), "originals not kept") }
		refuse := func(n int) {
			for i := range n {
				if _, err := m.Put(context.Background(), "", fmt.Sprint(i, strings.Repeat("y", 1000))); err == nil {
					t.Fatal("kept")
				}
			}
		}
		keep(t, m, strings.Repeat("x", 1000))
		refuse(1000)
		if lines() != 1 || !strings.Contains(log.String(), "full=1 ") || !strings.Contains(log.String(), "max_bytes=2000") || !strings.Contains(log.String(), "when_full") {
			t.Errorf("%d lines: %s", lines(), &log)
		}
		time.Sleep(time.Minute)
		refuse(1)
		if lines() != 2 || !strings.Contains(log.String(), "full=1000 ") {
			t.Errorf("%d lines: %s", lines(), &log)
		}
	})
}

func TestDropsAreReportedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		m := originals.WithReports(&originals.Memory{MaxBytes: 2000, DropOldest: true}, slog.New(slog.NewTextHandler(&log, nil)))
		for i := range 100 {
			keep(t, m, fmt.Sprint(i, strings.Repeat("y", 1000)))
		}
		time.Sleep(time.Minute)
		keep(t, m, "another"+strings.Repeat("y", 1000))
		if got := strings.Count(log.String(), "originals dropped"); got != 2 || !strings.Contains(log.String(), "count=99") {
			t.Errorf("%d lines: %s", got, &log)
		}
	})
}

func get(t *testing.T, s originals.Store, id string) {
	t.Helper()
	if _, err := s.Get(t.Context(), "", id); err != nil {
		t.Errorf("Get %s: %v", id, err)
	}
}

func open(t *testing.T, o originals.FileOptions) *originals.File {
	t.Helper()
	f, err := originals.OpenFile(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
