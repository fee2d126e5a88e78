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

// record is the state of one item.
type record struct {
	Pinned    string    `json:"pinned"` // the definition
	PinnedAt  time.Time `json:"pinned_at,omitzero"`
	Whole     bool      `json:"whole,omitempty"`   // the definition has all members
	Changed   string    `json:"changed,omitempty"` // the current definition, if it differs
	ChangedAt time.Time `json:"changed_at,omitzero"`

	// The pin before the last approval, so that it can be taken back. ApprovedAt zero: there was none.
	ApprovedAt time.Time `json:"approved_at,omitzero"`
	Former     string    `json:"former,omitempty"`
	FormerAt   time.Time `json:"former_at,omitzero"` // zero: the item was new
}

// isChanged reports whether the item differs from its pin, or has none.
func (r record) isChanged() bool { return !r.ChangedAt.IsZero() }

// isApproved reports whether the pin is one that a person approved.
func (r record) isApproved() bool { return !r.isChanged() && !r.ApprovedAt.IsZero() }

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

// current returns the server's current definition.
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
	Seen   map[Kind]time.Time `json:"seen"`             // since when the items of a kind are known
}

func newContent() content {
	return content{Tools: map[string]record{}, Others: map[string]record{}, Seen: map[Kind]time.Time{}}
}

// key returns the name that people use: a tool by its name, a prompt as prompt:NAME.
func key(kind Kind, name string) string {
	switch kind {
	case Tool:
		return name
	case Instructions:
		return string(kind)
	}
	return string(kind) + ":" + name
}

// kindOf returns the kind in a key that is not a tool's.
func kindOf(key string) Kind {
	kind, _, _ := strings.Cut(key, ":")
	return Kind(kind)
}

// of returns the map with the records of a kind. All kinds but tools share one.
func (c content) of(kind Kind) map[string]record {
	if kind == Tool {
		return c.Tools
	}
	return c.Others
}

// with returns the map that contains a key, tools first. nil: none.
func (c content) with(key string) map[string]record {
	for _, m := range []map[string]record{c.Tools, c.Others} {
		if _, ok := m[key]; ok {
			return m
		}
	}
	return nil
}

// isFirst reports whether items of a kind are seen for the first time, and so trusted. For a server
// without any pins, everything is.
func (c content) isFirst(kind Kind) bool {
	if len(c.Tools)+len(c.Others) == 0 {
		return true
	}
	_, seen := c.Seen[kind]
	return !seen
}

// pathOf returns a server's file. Ids consist of letters, digits, - and _.
func pathOf(dir, server string) string { return filepath.Join(dir, server+".json") }

// read reads a server's file. A missing file is empty.
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
	if c.Seen == nil && len(c.Tools) > 0 { // written when only tools were pinned
		known.Seen[Tool] = now()
	}
	return known, nil
}

// write replaces a server's file atomically.
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

// servers lists the servers that have a file.
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

// mark identifies a state of a file.
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
