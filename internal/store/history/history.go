package history

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"secateur/internal/store/redisdb"
)

// Options configure a History.
type Options struct {
	Dir   string       // "": kept in memory only
	Redis *redisdb.DB  // shared by replicas; nil: no other replicas
	Log   *slog.Logger // nil discards
}

// History counts. It is safe for concurrent use; a nil *History counts nothing.
type History struct {
	dir   string
	redis *redisdb.DB
	log   *slog.Logger
	// held while files are written, so that an older state never replaces a newer one
	writing sync.Mutex

	mu     sync.Mutex // guards the fields below
	hours  map[time.Time]hour
	names  map[string]string  // file names of the days in hours
	dirty  map[string]bool    // days changed since they were written
	fresh  map[time.Time]bool // hours changed since they were shared
	broken map[string]bool    // unreadable files already logged
}

// Open returns a History over the files of a directory, and creates it if missing.
func Open(opt Options) (*History, error) {
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	h := &History{
		dir: opt.Dir, redis: opt.Redis, log: opt.Log,
		hours: map[time.Time]hour{}, names: map[string]string{}, dirty: map[string]bool{}, fresh: map[time.Time]bool{}, broken: map[string]bool{},
	}
	if h.dir == "" {
		return h, nil
	}
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return h, h.makeRoom(time.Now())
}

// Chat adds an exchange with a provider.
func (h *History) Chat(e Exchange) {
	if h == nil {
		return
	}
	shares := e.Shares()
	h.update(func(now hour) {
		for i, s := range shares {
			c := now.at(row{Tool: s.Tool, Provider: e.Provider, Model: e.Model, Feature: s.Feature})
			c.Spent += s.Spent
			c.Passthrough += s.Passthrough
			c.Saved += s.Saved
			c.Lost += s.Lost
			if i == 0 { // count tokens only once
				c.PromptTokens += float64(e.PromptTokens)
				c.CachedTokens += float64(e.CachedTokens)
			}
		}
	})
}

// Cut adds a text that was cut.
func (h *History) Cut(c Cut) {
	if h == nil {
		return
	}
	h.update(func(now hour) {
		at := now.at(row{Server: c.Server, Tool: c.Tool, Model: c.Model, Feature: c.Feature})
		if !c.Again {
			at.Cuts++
		}
		at.CutTokens += c.Tokens
	})
}

// Recovered adds the tokens that came back of a cut text. Again: it was requested before.
func (h *History) Recovered(c Cut) {
	if h == nil {
		return
	}
	h.update(func(now hour) {
		at := now.at(row{Server: c.Server, Tool: c.Tool, Model: c.Model, Feature: c.Feature})
		if !c.Again {
			at.Recovered++
		}
		at.RecoveredTokens += c.Tokens
	})
}

// update changes the counters of this hour.
func (h *History) update(add func(hour)) {
	start := startOf(time.Now())
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.hours[start]
	if now == nil {
		now = hour{}
		h.hours[start] = now
	}
	add(now)
	day := dayOf(start)
	h.dirty[day] = true
	if h.redis != nil {
		h.fresh[start] = true
	}
	if h.names[day] == "" {
		h.names[day] = day + "." + strings.ToLower(rand.Text()[:10]) + fileEnding
	}
}

// saveEvery is the write interval, and so how much a crash may lose.
const saveEvery = 10 * time.Second

// Run writes changes every few seconds until ctx is done, and then once more.
func (h *History) Run(ctx context.Context) error {
	if h == nil || h.dir == "" {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	told := false
	today := dayOf(time.Now())
	for {
		select {
		case <-ctx.Done():
			return h.Save()
		case <-tick.C:
		}
		err := h.Save()
		if day := dayOf(time.Now()); day != today {
			today = day
			err = errors.Join(err, h.makeRoom(time.Now()))
		}
		if err != nil && !told { // log a full disk only once
			h.log.WarnContext(ctx, "history not written", "err", err)
		}
		told = err != nil
	}
}

// Save writes the changes.
func (h *History) Save() error {
	if h == nil || h.dir == "" {
		return nil
	}
	h.writing.Lock()
	defer h.writing.Unlock()
	var errs []error
	for day, content := range h.changed() {
		if err := h.write(content); err != nil {
			errs = append(errs, fmt.Errorf("history of %s: %w", day, err))
			h.mu.Lock()
			h.dirty[day] = true
			h.mu.Unlock()
		}
	}
	if len(errs) == 0 {
		h.forget(dayOf(time.Now()))
	}
	return errors.Join(errs...)
}

// changed returns the files to write, by day.
func (h *History) changed() map[string]file {
	h.mu.Lock()
	defer h.mu.Unlock()
	days := make(map[string]file, len(h.dirty))
	for start, counted := range h.hours {
		day := dayOf(start)
		if !h.dirty[day] {
			continue
		}
		f := days[day]
		f.name, f.Version = h.names[day], fileVersion
		for r, c := range counted {
			f.Rows = append(f.Rows, line{Hour: start, row: r, counters: *c})
		}
		days[day] = f
	}
	clear(h.dirty)
	return days
}

// forget drops past days from memory once they are written; queries then read their files. An hour
// not yet shared stays for up to 48 hours.
func (h *History) forget(today string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for start := range h.hours {
		if h.fresh[start] && time.Since(start) < 48*time.Hour {
			continue
		}
		if day := dayOf(start); day < today && !h.dirty[day] {
			delete(h.hours, start)
			delete(h.fresh, start)
			delete(h.names, day)
		}
	}
}

// Close writes the changes.
func (h *History) Close() error { return h.Save() }
