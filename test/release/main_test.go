package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var from = source{version: "1.2.3", commit: strings.Repeat("a", 40), time: time.Unix(1_700_000_000, 0).UTC(), golang: "go1.26"}

// tree writes files in the given order, with the current modes and times.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("content of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// An archive depends only on its contents, not on the machine, the time or the umask.
func TestArchivesAreTheSameAgain(t *testing.T) {
	one, other := tree(t, "secateur", "man/a.1", "LICENSE"), tree(t, "LICENSE", "man/a.1", "secateur")
	for name, pack := range map[string]func(string, time.Time) ([]byte, string, error){"tar": tarball, "zip": zipFile} {
		a, _, err := pack(one, from.time)
		if err != nil {
			t.Fatal(err)
		}
		b, _, err := pack(other, from.time)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the same files give other bytes", name)
		}
	}
	packed, _, _ := tarball(one, from.time)
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]int64{}
	for r := tar.NewReader(plain); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[h.Name] = h.Mode
	}
	if modes["secateur"] != 0o755 || modes["man/a.1"] != 0o644 || len(modes) != 3 {
		t.Errorf("files with modes %v", modes)
	}
}

// Checksums, provenance and formula name the same bytes.
func TestWhatIsWrittenDownAgrees(t *testing.T) {
	dir := tree(t, bomName)
	made := make([]artifact, 0, len(systems))
	for _, s := range systems {
		name := fmt.Sprintf("secateur_1.2.3_%s_%s.tar.gz", s.os, s.arch)
		made = append(made, artifact{name: name, system: s, sum: sha256.Sum256([]byte(name))})
	}
	if err := finish(dir, "https://example.org/v1.2.3", from, made); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	sums, brew := read("checksums.txt"), read("secateur.rb")
	var s statement
	if err := json.Unmarshal([]byte(read(provenanceName)), &s); err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for _, sub := range s.Subject {
		digests[sub.Name] = sub.Digest["sha256"]
	}
	for _, a := range made {
		sum := fmt.Sprintf("%x", a.sum)
		if !strings.Contains(sums, sum+"  "+a.name+"\n") {
			t.Errorf("checksums.txt lacks %s", a.name)
		}
		if digests[a.name] != sum {
			t.Errorf("provenance says %q of %s", digests[a.name], a.name)
		}
		wanted := fmt.Sprintf("url \"https://example.org/v1.2.3/%s\"\n      sha256 %q\n", a.name, sum)
		if strings.Contains(brew, wanted) != (a.system.os != "windows") {
			t.Errorf("the formula and %s:\n%s", a.name, brew)
		}
	}
	for _, name := range []string{bomName, provenanceName} {
		if want := fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(read(name))), name); !strings.Contains(sums, want) {
			t.Errorf("checksums.txt lacks %s", name)
		}
	}
	if s.Predicate.BuildDefinition.ResolvedDependencies[0].Digest["gitCommit"] != from.commit {
		t.Errorf("provenance of %+v", s.Predicate)
	}
}
