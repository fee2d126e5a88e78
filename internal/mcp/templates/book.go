package templates

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"secateur/internal/store/atomicfile"
)

// Errors of a Book's methods.
var (
	ErrNotFound = errors.New("there is no such template")
	ErrExists   = errors.New("a template of this name is already there")
	ErrSameURI  = errors.New("another template has this uri_template")
	ErrTooMany  = fmt.Errorf("there are %d templates, and there may be no more", MaxTemplates)
)

// Invalid is the error for an invalid template.
type Invalid struct{ error }

// Book is the set of templates. Its methods are safe for concurrent use.
type Book struct {
	dir string // "": in memory only

	// guards the fields below; held while a file is written, so that files and memory agree
	mu        sync.Mutex
	entries   []*entry // sorted by name
	listeners map[*listener]struct{}
}

// Open reads the templates of a directory; "": in memory only. A file that cannot be read is
// skipped and logged.
func Open(dir string, log *slog.Logger) *Book {
	b := &Book{dir: dir, listeners: map[*listener]struct{}{}}
	if dir == "" {
		return b
	}
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("resource templates cannot be read", "err", err)
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") || len(b.entries) == MaxTemplates {
			continue
		}
		e, err := readFile(b.path(name))
		if err == nil && (e.Name != name || b.sameURI(e) != nil) {
			err = errors.New("its name or its uri_template is another's")
		}
		if err != nil {
			log.Warn("a resource template cannot be read and is left out", "file", b.path(name), "err", err)
			continue
		}
		b.entries = append(b.entries, e) // in order, because ReadDir sorts by name
	}
	slices.SortFunc(b.entries, byName)
	return b
}

func byName(x, y *entry) int { return strings.Compare(x.Name, y.Name) }

// Len returns the number of templates.
func (b *Book) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.entries)
}

// List returns all templates, sorted by name.
func (b *Book) List() []Template {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]Template, len(b.entries))
	for i, e := range b.entries {
		all[i] = e.Template
	}
	return all
}

// Create adds a template. The error is an Invalid, ErrExists, ErrSameURI, ErrTooMany, or one of the
// file system.
func (b *Book) Create(t Template) (Template, error) {
	e, err := judge(t)
	if err != nil {
		return t, Invalid{err}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.find(t.Name)
	switch {
	case known:
		return t, ErrExists
	case b.sameURI(e) != nil:
		return t, ErrSameURI
	case len(b.entries) >= MaxTemplates:
		return t, ErrTooMany
	}
	if err := b.write(e); err != nil {
		return t, err
	}
	b.entries = slices.Insert(b.entries, at, e)
	b.tell(nil)
	return e.Template, nil
}

// Replace changes a template and notifies the subscribers of its resources. The error is as for
// Create, or ErrNotFound.
func (b *Book) Replace(t Template) (Template, error) {
	e, err := judge(t)
	if err != nil {
		return t, Invalid{err}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.find(t.Name)
	if !known {
		return t, ErrNotFound
	}
	if b.sameURI(e) != nil {
		return t, ErrSameURI
	}
	if err := b.write(e); err != nil {
		return t, err
	}
	before := b.entries[at]
	b.entries[at] = e
	if before.URITemplate == e.URITemplate && before.MIMEType == e.MIMEType {
		b.update(e.pattern)
	} else {
		b.tell(before.pattern)
	}
	return e.Template, nil
}

// Delete removes a template. The error is ErrNotFound, or one of the file system.
func (b *Book) Delete(name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.find(name)
	if !known {
		return ErrNotFound
	}
	if b.dir != "" {
		if err := os.Remove(b.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("resource template %s: %w", name, err)
		}
	}
	gone := b.entries[at]
	b.entries = slices.Delete(b.entries, at, at+1)
	b.tell(gone.pattern)
	return nil
}

// read fills in the first template that matches a URI. tooLarge means that the result would be too
// long.
func (b *Book) read(uri string) (mimeType, text string, found, tooLarge bool) {
	b.mu.Lock()
	entries := slices.Clone(b.entries)
	b.mu.Unlock()
	for _, e := range entries {
		if values, ok := e.pattern.match(uri); ok {
			text, ok = fill(e.Text, values, maxFilled)
			return e.MIMEType, text, true, !ok
		}
	}
	return "", "", false, false
}

// find returns the index of a template, or where to insert it. The caller holds mu.
func (b *Book) find(name string) (at int, known bool) {
	return slices.BinarySearchFunc(b.entries, name, func(e *entry, name string) int { return strings.Compare(e.Name, name) })
}

// sameURI returns another template with the same URI template; nil: none. The caller holds mu.
func (b *Book) sameURI(e *entry) *entry {
	for _, o := range b.entries {
		if o.Name != e.Name && o.URITemplate == e.URITemplate {
			return o
		}
	}
	return nil
}

func (b *Book) path(name string) string { return filepath.Join(b.dir, name+".json") }

func readFile(path string) (*entry, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t Template
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, err
	}
	return judge(t)
}

// write replaces a template's file atomically.
func (b *Book) write(e *entry) error {
	if b.dir == "" {
		return nil
	}
	data, err := json.MarshalIndent(e.Template, "", "  ")
	if err == nil {
		err = atomicfile.Replace(b.path(e.Name), append(data, '\n'), false)
	}
	if err != nil {
		return fmt.Errorf("resource template %s: %w", e.Name, err)
	}
	return nil
}
