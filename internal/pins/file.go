package pins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"secateur/internal/atomicfile"
)

// record is what is known of one tool.
type record struct {
	Pinned    string    `json:"pinned"` // the definition
	PinnedAt  time.Time `json:"pinned_at"`
	Changed   string    `json:"changed,omitempty"` // what it is now, if that is another
	ChangedAt time.Time `json:"changed_at,omitzero"`
}

func (r record) isChanged() bool { return r.Changed != "" }

// current is the definition that the server gives now.
func (r record) current() string {
	if r.isChanged() {
		return r.Changed
	}
	return r.Pinned
}

// content is a server's file.
type content struct {
	Tools map[string]record `json:"tools"`
}

// pathOf is a server's file. Ids are letters, digits, - and _.
func pathOf(dir, server string) string { return filepath.Join(dir, server+".json") }

// read reads a server's file; an empty one if there is none.
func read(dir, server string) (content, error) {
	c := content{Tools: map[string]record{}}
	data, err := os.ReadFile(pathOf(dir, server))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, fmt.Errorf("pins of %s: %w", server, err)
	}
	if c.Tools == nil {
		c.Tools = map[string]record{}
	}
	return c, nil
}

// write replaces a server's file in one step.
func write(dir, server string, c content) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(pathOf(dir, server), append(data, '\n'), false); err != nil {
		return fmt.Errorf("pins of %s: %w", server, err)
	}
	return nil
}

// servers lists those that have a file.
func servers(dir string) (ids []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// mark tells one state of a file from another.
type mark struct {
	modified time.Time
	size     int64
}

func markOf(dir, server string) mark {
	info, err := os.Stat(pathOf(dir, server))
	if err != nil {
		return mark{}
	}
	return mark{info.ModTime(), info.Size()}
}
