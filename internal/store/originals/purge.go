package originals

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// PurgeAll removes all originals of a directory, damaged ones too. The key of ids stays. It returns
// how many there were and their bytes. No process should use the directory.
func PurgeAll(ctx context.Context, dir string) (count int, bytes int64, err error) {
	return purge(ctx, dir, func(string) bool { return true })
}

// PurgeTenant removes a tenant's originals.
func PurgeTenant(ctx context.Context, dir, tenant string) (count int, bytes int64, err error) {
	want := tenantTag(tenant)
	return purge(ctx, dir, func(path string) bool {
		file, err := os.Open(path)
		if err != nil {
			return false
		}
		defer file.Close()
		head := make([]byte, headerSize)
		_, err = io.ReadFull(file, head)
		return err == nil && string(head[:len(fileMagic)]) == fileMagic && [8]byte(head[8:16]) == want
	})
}

func purge(ctx context.Context, dir string, isWanted func(path string) bool) (count int, bytes int64, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	f := &File{dir: dir, patience: lockPatience}
	unlock, err := f.lock(ctx, lockAlone)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	folders := []string{filepath.Join(dir, corruptDir)}
	for _, digit := range idAlphabet {
		folders = append(folders, filepath.Join(dir, string(digit)))
	}
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return count, bytes, err
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || !isOurs(e.Name()) || !isWanted(path) {
				continue
			}
			if err := os.Remove(path); err != nil {
				return count, bytes, err
			}
			count, bytes = count+1, bytes+info.Size()
		}
	}
	return count, bytes, nil
}
