package originals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"secateur/internal/store/atomicfile"
)

// Processes that share a directory coordinate through a lock file in it. Renewing or writing an
// original takes the shared lock. Removing one takes the exclusive lock and checks again first. So
// an original that was just reported as kept is never removed. The system releases the lock of a
// process that dies.
const (
	lockName = "lock"
	// a holder needs a millisecond; a stopped process must not block all others
	lockPatience = 2 * time.Second
	lockPoll     = time.Millisecond
)

type lockMode bool

const (
	lockShared lockMode = false
	lockAlone  lockMode = true
)

// errLockBusy is returned by tryLock while another process holds the lock.
var errLockBusy = errors.New("lock is held by another process")

// lock takes the directory's lock and returns the function that releases it. It waits until ctx is
// done, at most f.patience.
func (f *File) lock(ctx context.Context, mode lockMode) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(f.dir, lockName), os.O_RDWR|os.O_CREATE|atomicfile.NoFollow, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	// Closing releases the lock. On a system without such locks the store works without. Then an
	// expired original that is put again while being removed may have to be put once more.
	unlock = func() { _ = file.Close() }
	err = tryLock(file, mode)
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		return unlock, nil
	}
	patience := time.NewTimer(f.patience)
	defer patience.Stop()
	poll := time.NewTicker(lockPoll)
	defer poll.Stop()
	for errors.Is(err, errLockBusy) {
		select {
		case <-poll.C:
			if err = tryLock(file, mode); err == nil {
				return unlock, nil
			}
			continue
		case <-ctx.Done():
			err = ctx.Err()
		case <-patience.C:
			err = errors.New("another process does not give it back")
		}
	}
	unlock()
	return nil, fmt.Errorf("take lock: %w", err)
}
