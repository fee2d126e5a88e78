package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"secateur/internal/config/document"
)

// Connection is a planned change of a client's file.
type Connection struct {
	Client        Client
	File          string
	Before, After Version

	Replaced []string // servers that are taken out of the file

	undo   Version  // what disconnecting restores
	gone   []string // servers that are not in the file while it is connected
	record string   // name under which that is remembered
}

// Changed reports whether there is anything to write.
func (c Connection) Changed() bool {
	return c.Before.Exists != c.After.Exists || string(c.Before.Data) != string(c.After.Data)
}

// record holds what disconnecting needs, besides the file's former content.
type record struct {
	File string `json:"file"`
	// the file existed before; its content is kept beside the record
	Existed bool   `json:"existed"`
	After   string `json:"after"` // digest of what we wrote
	// servers that were taken out; their text is in the former content
	Replaced []string `json:"replaced,omitempty"`
}

// Connect plans how to add our entry to the client's file, and how to take out the servers that we
// run in its place.
func (k Keeper) Connect(c Client, m Machine, entry []document.Field, replace []string) (Connection, error) {
	out := Connection{Client: c, File: c.File(m), Replaced: replace, gone: replace, record: c.Name}
	var err error
	if out.Before, err = Read(out.File); err != nil {
		return out, err
	}
	data, err := withEntry(c, out.Before.Data, entry)
	for _, name := range replace {
		if err == nil {
			data, err = document.Remove(c.Format, data, c.place(name))
		}
	}
	if err != nil {
		return out, fmt.Errorf("%s: %w", out.File, err)
	}
	out.After = Version{Data: data, Exists: true}
	out.undo = out.Before
	r, before, err := k.recall(c.Name)
	if err == nil && r.File == out.File && out.Before.Exists {
		out.gone = slices.Concat(r.Replaced, replace)
		out.undo, err = undone(c, r, before, out.Before)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return out, err
}

// withEntry adds our entry to a file. An entry that says the same keeps its layout.
func withEntry(c Client, data []byte, entry []document.Field) ([]byte, error) {
	at := c.Place()
	old, there := document.Find(c.Format, data, at)
	before := data
	var err error
	if there {
		if data, err = document.Remove(c.Format, data, at); err != nil {
			return nil, err
		}
	}
	if data, err = document.Insert(c.Format, data, at, entry); err != nil {
		return nil, err
	}
	if made, _ := document.Find(c.Format, data, at); there && sameWords(old, made) {
		return before, nil
	}
	return data, nil
}

// undone is a connected file without the connection: the former content if nothing changed since.
// Otherwise our entry is removed, and the servers that it replaced come back at the end.
func undone(c Client, r record, before, now Version) (Version, error) {
	if r.After == digest(now.Data) {
		return before, nil
	}
	data, err := now.Data, error(nil)
	if _, there := document.Find(c.Format, data, c.Place()); there {
		if data, err = document.Remove(c.Format, data, c.Place()); err != nil {
			return now, err
		}
	}
	for _, name := range r.Replaced {
		if _, there := document.Find(c.Format, data, c.place(name)); there {
			continue
		}
		if data, err = document.Restore(c.Format, data, c.place(name), before.Data); err != nil {
			return now, fmt.Errorf("cannot put %q back: %w", name, err)
		}
	}
	return Version{Data: data, Exists: true}, nil
}

// findUndo finds out what disconnecting restores.
func (k Keeper) findUndo(c *Connection) {
	c.undo = c.Before
	if r, before, err := k.recall(c.record); err == nil && r.File == c.File && c.Before.Exists && r.After == digest(c.Before.Data) {
		c.undo = before // connected once more: what was there before the first time counts
	}
}

// sameWords compares texts without their white space.
func sameWords(a, b []byte) bool {
	return bytes.Equal(bytes.Join(bytes.Fields(a), nil), bytes.Join(bytes.Fields(b), nil))
}

// Disconnect plans how to remove our entry. It restores the file byte for byte or, if it was
// changed since, removes our entry and puts back the servers that it replaced.
func (k Keeper) Disconnect(c Client, m Machine) (Connection, error) {
	out := Connection{Client: c, File: c.File(m), record: c.Name}
	r, before, err := k.recall(c.Name)
	if err == nil {
		out.File = r.File
	} else if !errors.Is(err, os.ErrNotExist) {
		return out, err
	}
	if out.Before, err = Read(out.File); err != nil {
		return out, err
	}
	out.After = out.Before
	if !out.Before.Exists {
		return out, nil
	}
	if out.After, err = undone(c, r, before, out.Before); err != nil {
		return out, fmt.Errorf("%s: %w", out.File, err)
	}
	return out, nil
}

// Join makes a connection and records how to undo it. It writes the record first, so that a changed
// file can always be restored.
func (k Keeper) Join(c Connection) (backup string, err error) {
	if err := k.remember(c); err != nil {
		return "", err
	}
	return k.Replace(c.File, c.Before, c.After)
}

// Part undoes a connection and removes its record.
func (k Keeper) Part(c Connection) (backup string, err error) {
	if backup, err = k.Replace(c.File, c.Before, c.After); err != nil {
		return "", err
	}
	return backup, k.forget(c.record)
}

// existing returns the first file that exists, or else the first.
func existing(files []string) string {
	for _, f := range files {
		if _, err := os.Stat(f); err == nil {
			return f
		}
	}
	return files[0]
}

func (k Keeper) recordFile(name string) string {
	return filepath.Join(k.StateDir, "connected", name+".json")
}

func (k Keeper) beforeFile(name string) string {
	return filepath.Join(k.StateDir, "connected", name+".before")
}

func (k Keeper) remember(c Connection) error {
	if k.StateDir == "" {
		return errNoState
	}
	if err := os.MkdirAll(filepath.Join(k.StateDir, "connected"), 0o700); err != nil {
		return err
	}
	if err := writeWhole(k.beforeFile(c.record), c.undo.Data, 0o600); err != nil {
		return err
	}
	text, err := json.Marshal(record{File: c.File, Existed: c.undo.Exists, After: digest(c.After.Data), Replaced: c.gone})
	if err != nil {
		return err
	}
	return writeWhole(k.recordFile(c.record), append(text, '\n'), 0o600)
}

func (k Keeper) recall(name string) (r record, before Version, err error) {
	if k.StateDir == "" {
		return r, before, os.ErrNotExist
	}
	text, err := os.ReadFile(k.recordFile(name))
	if err != nil {
		return r, before, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, before, fmt.Errorf("%s: %w", k.recordFile(name), err)
	}
	before.Exists = r.Existed
	if before.Data, err = os.ReadFile(k.beforeFile(name)); err != nil {
		return r, before, err
	}
	return r, before, nil
}

func (k Keeper) forget(name string) error {
	var errs []error
	for _, file := range []string{k.recordFile(name), k.beforeFile(name)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
