package app

import (
	"context"
	"errors"
	"os"

	"secateur/internal/store/originals"
)

// besideDisk is the store of a pipe, which ends with it, beside the one that the daemon and the hook of the same user keep on disk: a model that
// has a pipe's tools gets back with them what the hook has cut. Nothing is put there.
type besideDisk struct {
	originals.StoreCloser

	dir string
	opt originals.Options
}

// Get asks the pipe's own store, then the one on disk, if there is one.
func (s *besideDisk) Get(ctx context.Context, tenant, id string) (string, error) {
	text, err := s.StoreCloser.Get(ctx, tenant, id)
	if !errors.Is(err, originals.ErrNotFound) {
		return text, err
	}
	if _, gone := os.Stat(s.dir); gone != nil {
		return "", err
	}
	opt := s.opt
	opt.URL, opt.NoSweep, opt.Key = "file:"+s.dir, true, nil
	disk, failed := originals.Open(opt) //nolint:contextcheck // what it logs belongs to no call
	if failed != nil {
		return "", err
	}
	text, onDisk := disk.Get(ctx, tenant, id)
	if closed := disk.Close(); onDisk != nil || closed != nil {
		return "", err
	}
	return text, nil
}
