package pins

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"secateur/internal/store/atomicfile"
)

// record is what is known of one thing.
type record struct {
	Pinned    string    `json:"pinned"` // the definition
	PinnedAt  time.Time `json:"pinned_at,omitzero"`
	Whole     bool      `json:"whole,omitempty"`   // the definition has all members
	Changed   string    `json:"changed,omitempty"` // what it is now, if that is another
	ChangedAt time.Time `json:"changed_at,omitzero"`
}

// isChanged reports whether it is not as pinned; one that never was pinned is not.
func (r record) isChanged() bool { return !r.ChangedAt.IsZero() }

func (r record) isNew() bool { return r.PinnedAt.IsZero() }

func (r record) state() string {
	switch {
	case !r.isChanged():
		return StatePinned
	case r.isNew():
		return StateNew
	}
	return StateChanged
}

// current is the definition that the server gives now.
func (r record) current() string {
	if r.isChanged() {
		return r.Changed
	}
	return r.Pinned
}

// content is a server's file.
type content struct {
	Tools  map[string]record  `json:"tools"`            // by name
	Others map[string]record  `json:"others,omitempty"` // by kind and name, see key
	Seen   map[Kind]time.Time `json:"seen"`             // since when it is known what there is of a kind
}

func newContent() content {
	return content{Tools: map[string]record{}, Others: map[string]record{}, Seen: map[Kind]time.Time{}}
}

// key is how a person names a thing of a kind: a tool by its name, a prompt as prompt:NAME.
func key(kind Kind, name string) string {
	switch kind {
	case Tool:
		return name
	case Instructions:
		return string(kind)
	}
	return string(kind) + ":" + name
}

// kindOf is the kind of a key that is no tool's.
func kindOf(key string) Kind {
	kind, _, _ := strings.Cut(key, ":")
	return Kind(kind)
}

// of are the records of a kind, among others where it is not about tools.
func (c content) of(kind Kind) map[string]record {
	if kind == Tool {
		return c.Tools
	}
	return c.Others
}

// with are the records that a key is in: those of tools first. Nil: none.
func (c content) with(key string) map[string]record {
	for _, m := range []map[string]record{c.Tools, c.Others} {
		if _, ok := m[key]; ok {
			return m
		}
	}
	return nil
}

// isFirst reports whether what is there of a kind is seen for the first time, and so trusted. Of a server that had nothing at all, everything is.
func (c content) isFirst(kind Kind) bool {
	if len(c.Tools)+len(c.Others) == 0 {
		return true
	}
	_, seen := c.Seen[kind]
	return !seen
}

// pathOf is a server's file. Ids are letters, digits, - and _.
func pathOf(dir, server string) string { return filepath.Join(dir, server+".json") }

// read reads a server's file; an empty one if there is none.
func read(dir, server string) (content, error) {
	var c content
	known := newContent()
	data, err := os.ReadFile(pathOf(dir, server))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return known, fmt.Errorf("pins of %s: %w", server, err)
	}
	maps.Copy(known.Tools, c.Tools)
	maps.Copy(known.Others, c.Others)
	maps.Copy(known.Seen, c.Seen)
	if c.Seen == nil && len(c.Tools) > 0 { // it was written when only tools were pinned
		known.Seen[Tool] = now()
	}
	return known, nil
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
