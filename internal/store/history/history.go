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

// Options make a History.
type Options struct {
	Dir   string       // where it is kept; "": nowhere, so that it ends with the process
	Redis *redisdb.DB  // what replicas share it in; nil: there are no others
	Log   *slog.Logger // nil discards
}

// History counts. It may be used by many goroutines; a nil *History counts nothing.
type History struct {
	dir     string
	redis   *redisdb.DB
	log     *slog.Logger
	writing sync.Mutex // held while files are written, so that an older state never replaces a newer one

	mu     sync.Mutex // guards the fields below
	hours  map[time.Time]hour
	names  map[string]string  // of the files of the days in hours
	dirty  map[string]bool    // days that have changed since they were written
	fresh  map[time.Time]bool // hours that have changed since they were shared
	broken map[string]bool    // files that cannot be read and were told of
}

// Open makes a History over the files of a directory, which it makes where it is missing.
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
			if i == 0 { // tokens are counted once, wherever the money goes
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

// Recovered adds a text that was cut and has now been asked for, for the first time.
func (h *History) Recovered(c Cut) {
	if h == nil {
		return
	}
	h.update(func(now hour) {
		at := now.at(row{Server: c.Server, Tool: c.Tool, Model: c.Model, Feature: c.Feature})
		at.Recovered++
		at.RecoveredTokens += c.Tokens
	})
}

// update adds to the counters of this hour.
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

// saveEvery is how often counters are written, and so how much of them a crash loses.
const saveEvery = 10 * time.Second

// Run writes what has changed every few seconds until ctx is done, and then once more.
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
		if err != nil && !told { // a full disk is told once
			h.log.WarnContext(ctx, "history not written", "err", err)
		}
		told = err != nil
	}
}

// Save writes what has changed.
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

// changed gives what is to be written, by day.
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

// forget drops days that are over and written from memory: their files are read where they are asked for. One that waits to be shared may wait for a day.
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

// Close writes what has changed.
func (h *History) Close() error { return h.Save() }
