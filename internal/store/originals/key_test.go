package originals_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"secateur/internal/store/originals"
)

func openIn(t *testing.T, dir string) *originals.File {
	t.Helper()
	f, err := originals.OpenFile(originals.FileOptions{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// Knowing a text does not reveal its id: that takes the store's key, a private file beside the
// originals.
func TestIDsAreKeyedByTheStore(t *testing.T) {
	dir := t.TempDir()
	one, again, other := openIn(t, dir), openIn(t, dir), openIn(t, t.TempDir())
	id, err := one.Put(t.Context(), "team", "text")
	if err != nil {
		t.Fatal(err)
	}
	if id == originals.ID("team", "text") || id == other.ID("team", "text") {
		t.Errorf("%s is made without the store's key", id)
	}
	if id != again.ID("team", "text") || id != one.ID("team", "text") {
		t.Error("two processes of one store disagree about an id")
	}
	if text, err := again.Get(t.Context(), "team", id); err != nil || text != "text" {
		t.Errorf("Get = %q, %v", text, err)
	}
	if _, err := one.Get(t.Context(), "team", originals.ID("team", "text")); err == nil {
		t.Error("the text alone tells the id")
	}
	info, err := os.Stat(filepath.Join(dir, "ids.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v %v, want 0600", info, err)
	}
}

// Ids issued before keys existed stay valid.
func TestAStoreWithoutAKeyGoesOnSo(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "0"), 0o700); err != nil { // as left by its first Put
		t.Fatal(err)
	}
	for range 2 {
		s := openIn(t, dir)
		if id, err := s.Put(t.Context(), "", "text"); err != nil || id != originals.ID("", "text") {
			t.Errorf("Put = %s, %v, want %s", id, err, originals.ID("", "text"))
		}
	}
}

func TestADamagedKeyIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ids.key"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := originals.OpenFile(originals.FileOptions{Dir: dir}); err == nil || !strings.Contains(err.Error(), "ids.key is damaged") {
		t.Errorf("OpenFile: %v", err)
	}
}
