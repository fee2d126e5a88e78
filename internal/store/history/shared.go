package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"secateur/internal/store/redisdb"
)

// Replicas on several machines share what they have counted in an engine: a hash for each day, in it a field for each process and hour that this process alone
// writes, whole. Whoever asks adds up all fields. A process whose file can be read here is counted by its file.

const (
	shareEvery  = 2 * time.Second
	verifyEvery = 30 * time.Second // looks whether what was shared is still there
	shareTime   = 5 * time.Second
	shareDays   = 100 // how long it is kept there
)

func sharedKey(day string) string { return redisdb.Key("history", day, "") }

// sharedField names an hour of a process; its file is of the same name.
func sharedField(file string, hour time.Time) string {
	return fmt.Sprintf("%s %02d", processOf(file), hour.UTC().Hour())
}

// processOf is the part of a file's name that is the process's own.
func processOf(file string) string {
	_, rest, _ := strings.Cut(file, ".")
	return strings.TrimSuffix(rest, fileEnding)
}

// RunShared writes what has changed to the engine every few seconds until ctx is done, and then once more. It returns at once where there is no engine.
func (h *History) RunShared(ctx context.Context) error {
	if h == nil || h.redis == nil {
		return nil
	}
	tick, verify := time.NewTicker(shareEvery), time.NewTicker(verifyEvery)
	defer tick.Stop()
	defer verify.Stop()
	err := h.shareFiles(ctx)
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shareTime)
			defer cancel()
			_ = h.Share(last) // the files have it
			return nil
		case <-tick.C:
			_ = h.Share(ctx) // whether the engine answers is told by its owner
		case <-verify.C:
			err = h.restore(ctx, err != nil)
		}
	}
}

// restore has everything written again where the engine has lost it, and the files where they are owed to it.
func (h *History) restore(ctx context.Context, owed bool) error {
	lost, err := h.isForgotten(ctx)
	if lost {
		h.shareAgain()
	}
	if err == nil && (lost || owed) {
		err = h.shareFiles(ctx)
	}
	return err
}

// Share writes the hours that have changed to the engine.
func (h *History) Share(ctx context.Context) error {
	if h == nil || h.redis == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	hours := h.unshared()
	for start, l := range hours {
		if err := h.shareHour(ctx, l.file, start, l.rows); err != nil {
			h.mu.Lock()
			defer h.mu.Unlock()
			for start := range hours { // to write one twice does no harm
				h.fresh[start] = true
			}
			return err
		}
	}
	return nil
}

// hourLines are the rows of an hour, and the file that has them too.
type hourLines struct {
	file string
	rows []line
}

// unshared takes what is to be written.
func (h *History) unshared() map[time.Time]hourLines {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := map[time.Time]hourLines{}
	for start := range h.fresh {
		l := hourLines{file: h.names[dayOf(start)]}
		for r, c := range h.hours[start] {
			l.rows = append(l.rows, line{Hour: start, row: r, counters: *c})
		}
		found[start] = l
	}
	clear(h.fresh)
	return found
}

func (h *History) shareHour(ctx context.Context, file string, start time.Time, rows []line) error {
	b, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	key := sharedKey(dayOf(start))
	_, err = h.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, key, sharedField(file, start), b)
		p.Expire(ctx, key, shareDays*24*time.Hour)
		return nil
	})
	return err
}

// isForgotten reports whether the engine has lost what it had of this process: it was started empty, or has evicted it.
func (h *History) isForgotten(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	h.mu.Lock()
	var newest time.Time
	for start := range h.hours {
		if start.After(newest) && !h.fresh[start] {
			newest = start
		}
	}
	file := h.names[dayOf(newest)]
	h.mu.Unlock()
	if newest.IsZero() {
		return false, nil
	}
	there, err := h.redis.HExists(ctx, sharedKey(dayOf(newest)), sharedField(file, newest)).Result()
	return err == nil && !there, err
}

// shareAgain has everything written that is in memory.
func (h *History) shareAgain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for start := range h.hours {
		h.fresh[start] = true
	}
}

// shareFiles writes what the files have of processes that the engine knows nothing of: those before an engine was there, or before it lost what it had.
func (h *History) shareFiles(ctx context.Context) error {
	if h.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return nil //nolint:nilerr // there are none; who writes them says so
	}
	oldest := dayOf(time.Now().AddDate(0, 0, 1-shareDays))
	for _, e := range entries {
		if day, ok := dayOfName(e.Name()); ok && day >= oldest && !h.isOwn(e.Name()) {
			if err := errors.Join(ctx.Err(), h.shareFile(ctx, day, e.Name())); err != nil {
				return err // another time
			}
		}
	}
	return nil
}

func (h *History) isOwn(file string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.names[dayOfFile(file)] == file
}

func dayOfFile(name string) string {
	day, _ := dayOfName(name)
	return day
}

func (h *History) shareFile(ctx context.Context, day, name string) error {
	ctx, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	f, err := readFile(filepath.Join(h.dir, name))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			h.tellBroken(name, err)
		}
		return nil
	}
	hours := map[time.Time][]line{}
	for _, l := range f.Rows {
		hours[startOf(l.Hour)] = append(hours[startOf(l.Hour)], l)
	}
	for start, rows := range hours {
		there, err := h.redis.HExists(ctx, sharedKey(day), sharedField(name, start)).Result()
		if err == nil && !there {
			err = h.shareHour(ctx, name, start, rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readShared gives the rows of the days from first on that the engine has of processes whose files are not among those that were read.
func (h *History) readShared(first string, read map[string]bool) ([]line, error) {
	ctx, cancel := context.WithTimeout(context.Background(), shareTime)
	defer cancel()
	now := time.Now()
	if oldest := dayOf(now.AddDate(0, 0, 1-shareDays)); first < oldest {
		first = oldest
	}
	days := map[string]*redis.MapStringStringCmd{}
	_, err := h.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		// Clocks of replicas differ: some may have tomorrow already.
		for day := now.AddDate(0, 0, 1); dayOf(day) >= first; day = day.AddDate(0, 0, -1) {
			days[dayOf(day)] = p.HGetAll(ctx, sharedKey(dayOf(day)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var rows []line
	for day, answer := range days {
		for field, text := range answer.Val() {
			process, _, _ := strings.Cut(field, " ")
			if read[day+"."+process+fileEnding] {
				continue
			}
			var hour []line
			if err := json.Unmarshal([]byte(text), &hour); err != nil {
				h.tellBroken(field, err)
				continue
			}
			rows = append(rows, hour...)
		}
	}
	return rows, nil
}
