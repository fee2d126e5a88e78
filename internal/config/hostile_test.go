//go:build unix

package config

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHostileFilesAreQuick loads large files that are made to be slow. A quadratic step would take
// minutes. It measures processor time, because a busy machine takes longer by the clock.
func TestHostileFilesAreQuick(t *testing.T) {
	repeat := func(s string, size int) string { return strings.Repeat(s, size/len(s)) }
	const size = MaxBytes - 1024
	var distinct strings.Builder
	for i := 0; distinct.Len() < size/32; i++ {
		distinct.WriteString("k" + strconv.Itoa(i) + "=1\n")
	}
	var tables strings.Builder
	for i := 0; tables.Len() < size/32; i++ {
		fmt.Fprintf(&tables, "[providers.p%d]\n", i)
	}
	for name, text := range map[string]string{
		"deep-list.toml":      "a = " + repeat("[", size),
		"deep-list.json":      `{"a": ` + repeat("[", size),
		"deep-objects.json":   repeat(`{"a":`, size),
		"long-key.toml":       repeat("a.", size) + "a = 1",
		"long-header.toml":    "[" + repeat("a.", size) + "a]",
		"one-line.json":       `{"servers": [` + repeat(`{},`, size/32) + `{}]}`,
		"many-strings.json":   `{"allowed_hosts": [` + repeat(`"/",`, size/32) + `"a"]}`,
		"unknown-keys.toml":   distinct.String(),
		"many-tables.toml":    tables.String(),
		"same-key.toml":       repeat("a=1\n", size/32),
		"array-tables.toml":   repeat("[[servers]]\n", size/32),
		"comments.json":       repeat("/**/", size) + "{}",
		"half-comments.json":  `{"a": "` + repeat("/*", size),
		"dollars.toml":        `listen = "` + repeat("${", size) + `"`,
		"many-variables.toml": `listen = "` + repeat("${A}", size/32) + `"`,
	} {
		start := processorTime(t)
		_, mistakes := Load(name, []byte(text), Options{})
		if took := processorTime(t) - start; took > 30*time.Second {
			t.Errorf("%s took %v of the processor's time", name, took)
		}
		if len(mistakes) == 0 && name != "comments.json" {
			t.Errorf("%s: no mistakes", name)
		}
	}
}

// processorTime returns the processor time of this program.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
