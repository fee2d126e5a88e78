package records_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"secateur/internal/store/records"
)

func TestKeepFailsInsteadOfForgetting(t *testing.T) {
	dir := t.TempDir()
	f, err := records.OpenFile(records.FileOptions{Dir: dir, MaxBytes: 1 << 20, MaxKept: 256 << 10, TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("x", 3000)
	var taken []string
	for i := range 120 {
		key := fmt.Sprint("k", i)
		switch err := f.Keep(t.Context(), key, []byte(value)); {
		case err == nil:
			taken = append(taken, key)
		case !errors.Is(err, records.ErrFull):
			t.Fatalf("Keep: %v, want ErrFull", err)
		}
		put(t, f, fmt.Sprint("other", i), value) // has its own quota
	}
	if len(taken) < 30 || len(taken) > 64 {
		t.Fatalf("%d values of a block each are kept in 256 KiB", len(taken))
	}
	again := openFile(t, dir, 0, time.Hour)
	for _, key := range taken {
		if got, ok, _ := again.Kept(t.Context(), key); !ok || string(got) != value {
			t.Fatalf("Kept(%q) = %d bytes, %v", key, len(got), ok)
		}
	}
	for _, path := range files(t, dir) { // expired values make room
		when := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.Keep(t.Context(), "new", []byte(value)); err != nil {
		t.Errorf("Keep after everything has expired: %v", err)
	}
}

func TestKeptFindsWhatWasPut(t *testing.T) {
	f := openFile(t, t.TempDir(), 0, 0)
	put(t, f, "k", "put")
	if got, ok, _ := f.Kept(t.Context(), "k"); !ok || string(got) != "put" {
		t.Errorf("Kept = %q, %v", got, ok)
	}
	if err := f.Keep(t.Context(), "k", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	if got, ok, _ := f.Kept(t.Context(), "k"); !ok || string(got) != "kept" {
		t.Errorf("Kept = %q, %v", got, ok)
	}
}

func TestKeptIsRenewedByUse(t *testing.T) {
	dir := t.TempDir()
	f := openFile(t, dir, 0, time.Hour)
	if err := f.Keep(t.Context(), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	age := func(by time.Duration) {
		for _, path := range files(t, dir) {
			when := time.Now().Add(-by)
			if err := os.Chtimes(path, when, when); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		age(59 * time.Minute)
		if _, ok, _ := f.Kept(t.Context(), "k"); !ok {
			t.Fatal("what is in use was forgotten")
		}
	}
	age(61 * time.Minute)
	if _, ok, _ := f.Kept(t.Context(), "k"); ok {
		t.Error("what was not used for its lifetime is there still")
	}
}
