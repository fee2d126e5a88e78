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

// Replicas on several machines share their counters in an engine. Each day is a hash, with one
// field per process and hour. Only its process writes a field, always whole. A query adds up all
// fields. A process whose file is readable here is counted by its file.

const (
	shareEvery  = 2 * time.Second
	verifyEvery = 30 * time.Second // checks whether shared data still exists
	shareTime   = 5 * time.Second
	shareDays   = 100 // how long it is kept there
)

func sharedKey(day string) string { return redisdb.Key("history", day, "") }

// sharedField names an hour of a process, which has the same name as its file.
func sharedField(file string, hour time.Time) string {
	return fmt.Sprintf("%s %02d", processOf(file), hour.UTC().Hour())
}

// processOf returns the process part of a file name.
func processOf(file string) string {
	_, rest, _ := strings.Cut(file, ".")
	return strings.TrimSuffix(rest, fileEnding)
}

// RunShared writes changes to the engine every few seconds until ctx is done, and then once more.
// Without an engine it returns at once.
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
			_ = h.Share(ctx) // the engine's owner reports whether it answers
		case <-verify.C:
			err = h.restore(ctx, err != nil)
		}
	}
}

// restore shares everything again if the engine has lost it, and also the files if owed is set.
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

// Share writes the changed hours to the engine.
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
			for start := range hours { // writing one twice does no harm
				h.fresh[start] = true
			}
			return err
		}
	}
	return nil
}

// hourLines are the rows of an hour, and the file that also holds them.
type hourLines struct {
	file string
	rows []line
}

// unshared returns the hours to write, and marks them as shared.
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

// isForgotten reports whether the engine has lost this process's data, because it was restarted
// empty or evicted it.
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

// shareAgain marks everything in memory for writing.
func (h *History) shareAgain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for start := range h.hours {
		h.fresh[start] = true
	}
}

// shareFiles shares the files of processes that the engine does not know: those from before the
// engine existed, or before it lost its data.
func (h *History) shareFiles(ctx context.Context) error {
	if h.dir == "" {
		return nil
	}
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return nil //nolint:nilerr // no files; the writer reports errors
	}
	oldest := dayOf(time.Now().AddDate(0, 0, 1-shareDays))
	for _, e := range entries {
		if day, ok := dayOfName(e.Name()); ok && day >= oldest && !h.isOwn(e.Name()) {
			if err := errors.Join(ctx.Err(), h.shareFile(ctx, day, e.Name())); err != nil {
				return err // retried later
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

// readShared returns the rows since the day first of all processes in the engine, except those
// whose files were read.
func (h *History) readShared(first string, read map[string]bool) ([]line, error) {
	ctx, cancel := context.WithTimeout(context.Background(), shareTime)
	defer cancel()
	now := time.Now()
	if oldest := dayOf(now.AddDate(0, 0, 1-shareDays)); first < oldest {
		first = oldest
	}
	days := map[string]*redis.MapStringStringCmd{}
	_, err := h.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		// Replicas' clocks differ: some may already be at tomorrow.
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
