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

// Processes that share a directory agree through a lock on one file in it. Whoever renews or writes an original
// shares the lock; whoever removes one has it alone, and looks again before removing. So none can be removed that
// somebody was just told is kept. The system drops the lock of a process that dies.
const (
	lockName     = "lock"
	lockPatience = 2 * time.Second // a holder needs it for a millisecond; one that was stopped must not stop all
	lockPoll     = time.Millisecond
)

type lockMode bool

const (
	lockShared lockMode = false
	lockAlone  lockMode = true
)

// errLockBusy is what tryLock answers while another holds the lock.
var errLockBusy = errors.New("lock is held by another process")

// lock takes the directory's lock, waiting no longer than ctx or lockPatience, and returns what gives it back.
func (f *File) lock(ctx context.Context, mode lockMode) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(f.dir, lockName), os.O_RDWR|os.O_CREATE|atomicfile.NoFollow, fileMode)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	// Closing gives the lock back. A system without such locks is used without: what is risked then is only that
	// an original which expired, and is put again in the same instant as it is removed, has to be put once more.
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
