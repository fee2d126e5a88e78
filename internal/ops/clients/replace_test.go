package clients

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"secateur/internal/config/document"
)

// moved are the servers that the sample files list.
var moved = map[string][]string{
	"claude-desktop": {"filesystem"}, "codex": {"context7"}, "continue": {"SQLite"}, "cursor": {"github", "memory"},
	"opencode": {"docs"}, "vscode": {"playwright"}, "windsurf": {"fetch"},
}

func sample(t *testing.T, c Client) []byte {
	t.Helper()
	golden, err := txtar.ParseFile(filepath.Join("testdata", c.Name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return golden.Files[0].Data
}

func TestReplacedServersComeBackByteForByte(t *testing.T) {
	for _, c := range Known() {
		data := sample(t, c)
		b := newBench(t, c, data)
		b.connect(t, c.Command(argv), moved[c.Name]...)
		for _, name := range moved[c.Name] {
			if _, there := document.Find(c.Format, b.now(t).Data, c.place(name)); there {
				t.Errorf("%s: %s is still listed:\n%s", c.Name, name, b.now(t).Data)
			}
		}
		if _, there := document.Find(c.Format, b.now(t).Data, c.Place()); !there {
			t.Errorf("%s: our entry is missing:\n%s", c.Name, b.now(t).Data)
		}
		b.disconnect(t)
		if got := b.now(t).Data; !bytes.Equal(got, data) {
			t.Errorf("%s: after disconnecting\n%s\nwant\n%s", c.Name, got, data)
		}
	}
}

// Claude Code rewrites its file in every session: servers that were taken out must not be lost with it.
func TestReplacedServersComeBackIntoAChangedFile(t *testing.T) {
	for _, c := range Known() {
		data := sample(t, c)
		b := newBench(t, c, data)
		b.connect(t, c.Command(argv), moved[c.Name]...)
		change := []byte("\n")
		b.put(t, append(b.now(t).Data, change...))
		b.connect(t, c.Command([]string{"/other/secateur", "stdio"}))
		b.put(t, append(b.now(t).Data, change...))
		b.disconnect(t)
		got := b.now(t).Data
		if _, there := document.Find(c.Format, got, c.Place()); there {
			t.Errorf("%s: our entry is still there:\n%s", c.Name, got)
		}
		for _, name := range moved[c.Name] {
			want, _ := document.Find(c.Format, data, c.place(name))
			if back, there := document.Find(c.Format, got, c.place(name)); !there || !sameWords(want, back) {
				t.Errorf("%s: %s came back as %q, want %q", c.Name, name, back, want)
			}
		}
	}
}

func TestReplacingLaterIsUndoneToTheFirstState(t *testing.T) {
	c, _ := ByName("cursor")
	data := sample(t, c)
	b := newBench(t, c, data)
	b.connect(t, c.Command(argv))
	b.connect(t, c.Command(argv), "memory")
	b.disconnect(t)
	if got := b.now(t).Data; !bytes.Equal(got, data) {
		t.Errorf("after disconnecting\n%s\nwant\n%s", got, data)
	}
	if _, err := os.Stat(b.recordFile(c.Name)); !os.IsNotExist(err) {
		t.Errorf("the record is left: %v", err)
	}
}
