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

// holdings are the resources of a process, which must not grow as it runs.
type holdings struct{ goroutines, descriptors, children, heapMiB int }

func (h holdings) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d children, %d MiB of heap", h.goroutines, h.descriptors, h.children, h.heapMiB)
}

// least observes a process under load for a while and returns the minimum of each value: what it
// holds in normal operation, right after a collection.
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

// caches is how much heap the caches may take once they are full, in MiB: 32 of originals, 16 of
// conversations, the event feed, and their keys.
const caches = 64

// grown reports which values of h exceed the earlier ones by more than the normal fluctuation.
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
