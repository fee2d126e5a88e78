package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"secateur/internal/store/atomicfile"
)

// Limits of the directory. The oldest days are deleted first.
const (
	keepDays  = 400
	keepFiles = 4096
	keepBytes = 64 << 20
)

const (
	fileVersion = 1
	fileEnding  = ".json"
	tempPrefix  = ".new-"
	dayLayout   = time.DateOnly
)

// file holds the counters of one process for one day.
type file struct {
	name    string
	Version int    `json:"version"`
	Rows    []line `json:"rows"`
}

// line is a row of an hour.
type line struct {
	Hour time.Time `json:"hour"`
	row
	counters
}

func dayOf(t time.Time) string { return t.UTC().Format(dayLayout) }

// dayOfName returns the day of a file. It is not ok for files that are not ours.
func dayOfName(name string) (day string, ok bool) {
	day, rest, found := strings.Cut(name, ".")
	if _, err := time.Parse(dayLayout, day); err != nil || !found || !strings.HasSuffix(rest, fileEnding) && rest != journalName {
		return "", false
	}
	return day, true
}

// write replaces a file atomically, so that a reader sees the old or the new one, even after a
// crash.
func (h *History) write(content file) error {
	b, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return atomicfile.Write{
		Folder: h.dir, Prefix: tempPrefix, Durable: true,
		Place: func(temp string) error { return os.Rename(temp, filepath.Join(h.dir, content.name)) },
	}.Do(append(b, '\n'))
}

// read returns the rows of all files since the day first, except for files in have. It adds the
// names of the files read to have.
func (h *History) read(first string, have map[string]bool) ([]line, error) {
	if h.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	var rows []line
	for _, e := range entries {
		day, ok := dayOfName(e.Name())
		if !ok || day < first || have[e.Name()] {
			continue
		}
		f, err := readFile(filepath.Join(h.dir, e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
		case err != nil:
			h.tellBroken(e.Name(), err)
		default:
			rows = append(rows, f.Rows...)
			have[e.Name()] = true
		}
	}
	return rows, nil
}

// tellBroken logs once that a file cannot be read.
func (h *History) tellBroken(name string, err error) {
	h.mu.Lock()
	told := h.broken[name]
	h.broken[name] = true
	h.mu.Unlock()
	if !told {
		h.log.Warn("history file not read", "file", name, "err", err)
	}
}

func readFile(path string) (f file, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return f, err
	}
	if info.Size() > keepBytes {
		return f, fmt.Errorf("%d bytes are too many", info.Size())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	if strings.HasSuffix(path, "."+journalName) {
		f.Rows = readJournal(b)
		return f, nil
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return file{}, err
	}
	if f.Version != fileVersion {
		return file{}, fmt.Errorf("version %d is not known", f.Version)
	}
	return f, nil
}

// dayFiles are the files of a day.
type dayFiles struct {
	names []string
	bytes int64
}

// makeRoom deletes files that are too old or exceed the limits.
func (h *History) makeRoom(now time.Time) error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	days := map[string]*dayFiles{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // gone meanwhile
		}
		if strings.HasPrefix(e.Name(), tempPrefix) && now.Sub(info.ModTime()) > time.Hour {
			_ = os.Remove(filepath.Join(h.dir, e.Name())) // left by a crash
			continue
		}
		day, ok := dayOfName(e.Name())
		if !ok {
			continue
		}
		if days[day] == nil {
			days[day] = &dayFiles{}
		}
		days[day].names = append(days[day].names, e.Name())
		days[day].bytes += info.Size()
	}
	oldest := dayOf(now.AddDate(0, 0, -keepDays))
	files, bytes := 0, int64(0)
	for _, day := range slices.Backward(slices.Sorted(maps.Keys(days))) {
		files += len(days[day].names)
		bytes += days[day].bytes
		if day >= oldest && files <= keepFiles && bytes <= keepBytes || day == dayOf(now) {
			continue
		}
		for _, name := range days[day].names {
			if err := os.Remove(filepath.Join(h.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("history: %w", err)
			}
		}
	}
	return nil
}
