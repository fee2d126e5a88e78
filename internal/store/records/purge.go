package records

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Purge removes the values of a directory whose key is wanted, and returns how many. It hands a
// damaged file the key "". No process should use the directory.
func Purge(dir string, isWanted func(key string) bool) (count int, err error) {
	for _, top := range []string{dir, filepath.Join(dir, keptFolder)} {
		for _, digit := range "0123456789abcdef" {
			folder := filepath.Join(top, string(digit))
			entries, err := os.ReadDir(folder)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return count, err
			}
			for _, e := range entries {
				path := filepath.Join(folder, e.Name())
				if !e.Type().IsRegular() || !isOurs(e.Name()) || !isWanted(keyOf(path)) {
					continue
				}
				if err := os.Remove(path); err != nil {
					return count, err
				}
				count++
			}
		}
	}
	return count, nil
}

func isOurs(name string) bool {
	return strings.HasPrefix(name, tempPrefix) || len(name) == len(nameOf("")) && strings.Trim(name, "0123456789abcdef") == ""
}

// keyOf returns the key in a file, or "".
func keyOf(path string) string {
	content, err := os.ReadFile(path)
	if err != nil || len(content) < headerSize || string(content[:len(magic)]) != magic {
		return ""
	}
	rest := content[headerSize:]
	length := int64(binary.LittleEndian.Uint32(content[headerSize-4:]))
	if length > int64(len(rest)) {
		return ""
	}
	return string(rest[:length])
}
