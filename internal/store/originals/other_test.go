package originals_test

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"secateur/internal/store/originals"
	"secateur/internal/store/originals/originalstest"
)

const (
	otherProcess = "ORIGINALS_TEST_PROCESS"
	otherDir     = "ORIGINALS_TEST_DIR"
	roomForAll   = 1 << 30
)

// runOther is the second process: it stores noise in the directory until killed, and reports each
// stored text.
func runOther(name string) int {
	f, err := originals.OpenFile(originals.FileOptions{Dir: os.Getenv(otherDir), MaxBytes: roomForAll})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i := range uint64(1_000_000) {
		id, err := f.Put(context.Background(), name, noiseOf(i))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(i, id)
	}
	return 0
}

func noiseOf(i uint64) string { return originalstest.Noise(i%100, int(i*7919%200_000)) }

// A process killed at any moment does no harm. Other processes can read everything that it reported
// as stored, and the next process starts normally.
func TestKilledProcessHarmsNothing(t *testing.T) {
	dir := t.TempDir()
	f, err := originals.OpenFile(originals.FileOptions{Dir: dir, MaxBytes: roomForAll})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	told := map[string]map[string]uint64{} // by process: id and number of the text
	for round := range 3 {
		for _, p := range []string{"one", "two"} {
			name := fmt.Sprint(p, round)
			told[name] = runAndKill(t, dir, name, 20+round*13)
		}
		again, err := originals.OpenFile(originals.FileOptions{Dir: dir, MaxBytes: roomForAll})
		if err != nil {
			t.Fatal(err)
		}
		for name, ids := range told {
			for id, i := range ids {
				for _, store := range []*originals.File{f, again} {
					if got, err := store.Get(t.Context(), name, id); err != nil || got != noiseOf(i) {
						t.Errorf("%s was told that text %d is kept; Get = %d bytes, %v", name, i, len(got), err)
					}
				}
			}
		}
		wantAllWhole(t, again, dir, slices.Collect(maps.Keys(told)))
		again.Close()
	}
}

// wantAllWhole checks that every file named like an original is complete, including the last ones
// written.
func wantAllWhole(t *testing.T, f *originals.File, dir string, tenants []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "?", "prn_*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		if !slices.ContainsFunc(tenants, func(tenant string) bool {
			_, err := f.Get(t.Context(), tenant, filepath.Base(file))
			return err == nil
		}) {
			t.Errorf("%s is no original of any tenant", file)
		}
	}
	if s := f.Stats(); s.Corrupt != 0 {
		t.Errorf("%d files are damaged", s.Corrupt)
	}
}

// runAndKill lets another process store this many texts and kills it during the next.
func runAndKill(t *testing.T, dir, name string, texts int) map[string]uint64 {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), otherProcess+"="+name, otherDir+"="+dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ids := map[string]uint64{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var i uint64
		var id string
		if _, err := fmt.Sscan(lines.Text(), &i, &id); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		ids[id] = i
		if len(ids) == texts {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		} // read on: reports before its death count too
	}
	_ = cmd.Wait()
	if len(ids) < texts {
		t.Fatalf("the other process ended after %d texts: %s", len(ids), stderr.String())
	}
	return ids
}
