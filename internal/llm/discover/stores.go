package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The agents whose records are known.
const (
	ClaudeCode = "Claude Code"
	Codex      = "Codex"
	OpenCode   = "OpenCode"
	Other      = "other"
)

// Store is a folder where an agent records its sessions.
type Store struct{ Agent, Dir string }

// Stores returns the folders of the known agents, whether they exist or not.
func Stores(home string, lookup func(string) (string, bool)) []Store {
	dir := func(variable string, otherwise ...string) string {
		if v, ok := lookup(variable); ok && v != "" {
			return v
		}
		return filepath.Join(append([]string{home}, otherwise...)...)
	}
	codex, data := dir("CODEX_HOME", ".codex"), dir("XDG_DATA_HOME", ".local", "share")
	return []Store{
		{ClaudeCode, filepath.Join(dir("CLAUDE_CONFIG_DIR", ".claude"), "projects")},
		{Codex, filepath.Join(codex, "sessions")},
		{Codex, filepath.Join(codex, "archived_sessions")},
		{OpenCode, filepath.Join(data, "opencode")},
	}
}

// File is a recorded session: a file, or OpenCode's folder of one session's messages.
type File struct {
	Agent string // "": by its contents
	Path  string
	Size  int64
	isDir bool
}

// Skipped is a file that could not be read, and why.
type Skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Find lists the files below the stores. A store that does not exist has none.
func Find(stores []Store) (files []File, skipped []Skipped) {
	seen := make(map[string]bool)
	for _, s := range stores {
		err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && path == s.Dir:
				return nil
			case err != nil:
				skipped = append(skipped, Skipped{path, cause(err)})
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir():
				if isOpenCodeSession(path) {
					files = append(files, File{OpenCode, path, folderSize(path), true})
					return fs.SkipDir
				}
				return nil
			case seen[path]:
				return nil
			}
			seen[path] = true
			if d.Name() == "opencode.db" {
				skipped = append(skipped, Skipped{path, "a database; write sessions out with 'opencode export ID > FILE' and name the files"})
				return nil
			}
			f := File{Agent: s.Agent, Path: path}
			if path != s.Dir && !f.isRecord() {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				skipped = append(skipped, Skipped{path, cause(err)})
				return nil
			}
			f.Size = info.Size()
			files = append(files, f)
			return nil
		})
		if err != nil {
			skipped = append(skipped, Skipped{s.Dir, cause(err)})
		}
	}
	return files, skipped
}

// isRecord reports whether the file may hold a session. A file that the caller named is read whatever its name.
func (f File) isRecord() bool {
	switch {
	case f.Agent == OpenCode:
		return false // its sessions are folders
	case strings.HasSuffix(f.Path, ".jsonl"):
		return true
	}
	return f.Agent == "" && (strings.HasSuffix(f.Path, ".json") || strings.HasSuffix(f.Path, ".jsonl.gz"))
}

// isOpenCodeSession recognises …/storage/message/ses_….
func isOpenCodeSession(path string) bool {
	parent := filepath.Dir(path)
	return strings.HasPrefix(filepath.Base(path), "ses_") && filepath.Base(parent) == "message" && filepath.Base(filepath.Dir(parent)) == "storage"
}

func folderSize(dir string) (n int64) {
	entries, _ := os.ReadDir(dir) // an unreadable folder is reported when it is read
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// cause is an error without the path, which is told beside it.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Sprint(e.Err)
	}
	return err.Error()
}
