package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// holdings are what a process has, and must not have more of as it runs.
type holdings struct{ goroutines, descriptors, children, heapMiB int }

func (h holdings) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d children, %d MiB of heap", h.goroutines, h.descriptors, h.children, h.heapMiB)
}

// least watches a process for a while under load and takes the least that was seen of each: what it has when nothing
// more than usual is going on, and right after a collection.
func (t *target) least(ctx context.Context, d time.Duration) (h holdings) {
	until := time.Now().Add(d)
	for first := true; first || time.Now().Before(until); first = false {
		now := t.holdings(ctx)
		if first {
			h = now
		}
		if now.goroutines > 0 {
			h = holdings{min(h.goroutines, now.goroutines), min(h.descriptors, now.descriptors), min(h.children, now.children), min(h.heapMiB, now.heapMiB)}
		}
		if !pause(ctx, 200*time.Millisecond) {
			break
		}
	}
	return h
}

func (t *target) holdings(ctx context.Context) (h holdings) {
	_, text := t.get(ctx, "/metrics")
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "go_goroutines":
			h.goroutines = int(number)
		case "go_memstats_heap_alloc_bytes":
			h.heapMiB = int(number) >> 20
		case "process_open_fds":
			h.descriptors = int(number)
		}
	}
	pid := t.cmd.Process.Pid
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		list, _ := os.ReadFile(task)
		h.children += len(strings.Fields(string(list)))
	}
	return h
}

// caches is how much heap what is kept to be quick may take once it is full, in MiB: 32 of originals, 16 of conversations, the feed of
// events, and what their keys take.
const caches = 64

// grown says what of h is more than it was, beyond what waits for its turn at any moment.
func (h holdings) grown(was holdings) error {
	for _, c := range []struct {
		what           string
		now, was, more int
	}{
		{"goroutines", h.goroutines, was.goroutines, 50},
		{"descriptors", h.descriptors, was.descriptors, 50},
		{"children", h.children, was.children, 0},
		{"MiB of heap", h.heapMiB, max(was.heapMiB, caches), 16 + was.heapMiB/4},
	} {
		if c.now > c.was+c.more {
			return fmt.Errorf("it has %d %s and had %d", c.now, c.what, c.was)
		}
	}
	return nil
}
