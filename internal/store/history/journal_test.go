package history

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestAJournalIsPartOfTheHistory(t *testing.T) {
	dir := t.TempDir()
	for range 3 {
		if err := Journal(dir, time.Now(), Cut{Feature: FeatureHook, Tool: "Bash", Tokens: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, dayOf(time.Now())+"."+journalName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"hour":"20`); err != nil { // a crash has left half a line
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := Open(Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	h.Cut(Cut{Feature: FeatureHook, Tool: "Bash", Tokens: 500})
	found, err := h.Query(Query{By: ByFeature, Since: 24 * time.Hour})
	if err != nil || found.CutTokens != 3500 || len(found.Items) != 1 || found.Items[0].Key != FeatureHook {
		t.Errorf("%+v, %v", found, err)
	}
}
