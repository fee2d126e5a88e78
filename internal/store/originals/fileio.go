package originals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"secateur/internal/store/atomicfile"
)

// prepare creates the directory and tests in it what every Put needs.
func (f *File) prepare(ctx context.Context) error {
	if err := os.MkdirAll(f.dir, dirMode); err != nil {
		return err
	}
	if err := f.checkPlaces(); err != nil {
		return err
	}
	info, err := os.Stat(f.dir)
	if err != nil {
		return err
	}
	if open := info.Mode().Perm() &^ dirMode; open != 0 && os.PathSeparator == '/' {
		f.log.WarnContext(ctx, "directory of originals is open to other users",
			"dir", f.dir, "mode", info.Mode().Perm().String())
	}
	probe, err := os.CreateTemp(f.dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(probe.Name())
	if err := probe.Close(); err != nil {
		return err
	}
	want := f.expiry()
	if err := os.Chtimes(probe.Name(), time.Time{}, want); err != nil {
		return err
	}
	if info, err = os.Stat(probe.Name()); err != nil {
		return err
	}
	if !info.ModTime().Equal(want) {
		return fmt.Errorf("%s does not keep the times of files, which say when an original expires", f.dir)
	}
	return nil
}

// renewKept reports whether the original exists undamaged, and extends its life. A damaged file
// counts as missing and will be overwritten.
func (f *File) renewKept(ctx context.Context, tenant, id string) (bool, error) {
	if _, err := os.Lstat(f.path(id)); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	unlock, err := f.lock(ctx, lockShared)
	if err != nil {
		return false, unavailable("renew original", err)
	}
	defer unlock()
	// The file may have changed since it was written. Checking the sums costs less than computing
	// the id did.
	content, _, err := f.read(id, tenant)
	if err == nil {
		err = checkSums(content, tenant)
	}
	if err != nil {
		return false, nil // damaged or unreadable: write it again
	}
	f.setUsed(id)
	return f.extend(id) == nil, nil
}

// renewRead extends the life of an original that was just read. If that fails, the reader still
// gets the text.
func (f *File) renewRead(ctx context.Context, id string) {
	unlock, err := f.lock(ctx, lockShared)
	if err != nil {
		f.log.DebugContext(ctx, "original read but not renewed", "id", id, "err", err)
		return
	}
	defer unlock()
	if err := f.extend(id); err != nil {
		f.log.DebugContext(ctx, "original read but not renewed", "id", id, "err", err)
		return
	}
	f.setUsed(id)
}

// extend moves the expiry forward, never back: another process may use a longer TTL. The caller
// holds the shared lock.
func (f *File) extend(id string) error {
	info, err := os.Stat(f.path(id))
	if err != nil {
		return err
	}
	until := f.expiry()
	if !until.After(info.ModTime()) {
		return nil
	}
	if err := extendIn(f.path(id), info.Size(), until); err != nil {
		return err
	}
	return os.Chtimes(f.path(id), time.Time{}, until)
}

// extendIn writes the expiry into a file's trailer. A file of version 1 has none.
func extendIn(path string, size int64, until time.Time) error {
	if _, ok := expiryIn(path); !ok {
		return nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(trailer(until), size-trailerSize)
	return errors.Join(err, file.Close())
}

// write stores the file completely, or not at all.
func (f *File) write(ctx context.Context, id string, content []byte) error {
	size, owner := onDisk(int64(len(content))), tag(content[8:16])
	f.note(id, owner)
	if err := f.reserve(ctx, size, owner); err != nil {
		return err
	}
	err := f.writeAside(ctx, id, content)
	if err != nil {
		f.account(-size, -1, owner)
		return unavailable("write original", err)
	}
	return nil
}

func (f *File) writeAside(ctx context.Context, id string, content []byte) error {
	shard := filepath.Dir(f.path(id))
	if err := checkPlace(shard, fs.ModeDir); err != nil {
		return err
	}
	return atomicfile.Write{
		Folder: shard, Prefix: tempPrefix,
		Make:  func() error { return f.makeShard(shard) },
		Place: func(temp string) error { return f.place(ctx, temp, id) },
	}.Do(content)
}

// makeShard creates the folder for an original, and the store's directory if it was removed. It
// does not create the directory's parent.
func (f *File) makeShard(shard string) error {
	for _, folder := range []string{f.dir, shard} {
		if err := os.Mkdir(folder, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// place sets a file's expiry and renames it into place.
func (f *File) place(ctx context.Context, temp, id string) error {
	if err := os.Chtimes(temp, time.Time{}, f.expiry()); err != nil {
		return err
	}
	unlock, err := f.lock(ctx, lockShared)
	if err != nil {
		return err
	}
	defer unlock()
	return os.Rename(temp, f.path(id))
}

// read returns a file's content. It stops after the header if the file is damaged or another
// tenant's.
func (f *File) read(id, tenant string) ([]byte, fs.FileInfo, error) {
	file, err := os.OpenFile(f.path(id), os.O_RDONLY|atomicfile.NoFollow, 0)
	if isSymlink(err) {
		info, _ := os.Lstat(f.path(id))
		return nil, info, fmt.Errorf("%w: a symbolic link", errCorrupt)
	}
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, info, fmt.Errorf("%w: not a file", errCorrupt)
	}
	var head [headerSize]byte
	n, err := io.ReadFull(file, head[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, info, err
	}
	if err := checkHeader(head[:n], info.Size(), tenant); err != nil {
		return nil, info, err
	}
	content := make([]byte, info.Size())
	copy(content, head[:])
	if _, err := io.ReadFull(file, content[headerSize:]); err != nil {
		return nil, info, fmt.Errorf("read original: %w", err)
	}
	return content, info, nil
}

// setAside moves a damaged file away, unless a good one has replaced it meanwhile.
func (f *File) setAside(ctx context.Context, id string, damaged fs.FileInfo, why error) {
	err := f.moveAside(ctx, id, damaged)
	f.mu.Lock()
	delete(f.used, id)
	f.corrupt++
	if err == nil {
		f.usage.count--
	}
	f.mu.Unlock()
	f.log.WarnContext(ctx, "damaged original set aside", "id", id, "dir", f.dir, "reason", why, "err", err)
}

func (f *File) moveAside(ctx context.Context, id string, damaged fs.FileInfo) error {
	unlock, err := f.lock(ctx, lockAlone)
	if err != nil {
		return err
	}
	defer unlock()
	if now, err := os.Lstat(f.path(id)); err != nil {
		return err
	} else if !os.SameFile(now, damaged) {
		return errors.New("replaced meanwhile")
	}
	if err := os.Mkdir(filepath.Join(f.dir, corruptDir), dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	aside := filepath.Join(f.dir, corruptDir, id)
	if err := os.Rename(f.path(id), aside); err != nil {
		return err
	}
	return os.Chtimes(aside, time.Time{}, f.expiry()) // kept as long as any other file
}

// path returns the path of an original. The first digit of its id selects one of 32 folders.
func (f *File) path(id string) string {
	return filepath.Join(f.dir, id[len(idPrefix):len(idPrefix)+1], id)
}

// unavailable maps a file system error to one of the store's errors.
func unavailable(doing string, err error) error {
	if IsDiskFull(err) {
		return fmt.Errorf("%s: %w: %w", doing, errDiskFull, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, ErrUnavailable, err)
}

// IsDiskFull reports whether a file system had no room, or none for this user.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// openKey reads the directory's key, or creates it.
func (f *File) openKey(ctx context.Context) error {
	inUse := false
	for _, digit := range idAlphabet { // created by the first Put, and never removed
		_, err := os.Stat(filepath.Join(f.dir, string(digit)))
		inUse = inUse || err == nil
	}
	key, made, err := LoadKey(f.dir, inUse)
	if err != nil {
		return err
	}
	if made && key == nil {
		f.log.InfoContext(ctx, "this store has given out ids without a key, and goes on so: what was sent once is sent again in the same form", "dir", f.dir)
	}
	f.codec.key = key
	return nil
}
