package child

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"secateur/internal/secret"
)

const (
	tailBytes = 64 << 10
	tailLines = 200
	lineBytes = 4 << 10 // a longer line is kept in parts
)

// stderrTail keeps the end of a child's standard error.
type stderrTail struct {
	log     *slog.Logger // gets each line at Debug
	secrets []string     // values of its environment to mask, longest first
	heard   func(string) // gets each line too; nil: not called

	mu    sync.Mutex
	lines []string // guarded by mu; oldest first
	size  int      // guarded by mu; bytes in lines
}

// minSecret is the minimum length of an environment value that is masked. Shorter ones are flags
// and numbers; masking them would make lines unreadable.
const minSecret = 6

// secretsOf returns the environment values to mask in the child's output.
func secretsOf(env map[string]secret.Text) (all []string) {
	for _, value := range env {
		if text := value.Reveal(); len(text) >= minSecret {
			all = append(all, text)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// drain reads until the pipe ends, so that a child never blocks on a full pipe.
func (t *stderrTail) drain(r io.Reader) {
	buf := make([]byte, 32<<10)
	var part []byte
	for {
		n, err := r.Read(buf)
		chunk := buf[:n]
		for len(chunk) > 0 {
			line, rest, ended := bytes.Cut(chunk, []byte{'\n'})
			room := lineBytes - len(part)
			if len(line) > room {
				line, rest, ended = chunk[:room], chunk[room:], true
			}
			part, chunk = append(part, line...), rest
			if ended {
				t.add(part)
				part = part[:0]
			}
		}
		if err != nil {
			t.add(part)
			return
		}
	}
}

func (t *stderrTail) add(line []byte) {
	line = bytes.TrimRight(line, "\r")
	if len(line) == 0 {
		return
	}
	s := strings.ToValidUTF8(string(line), "\uFFFD")
	for _, hidden := range t.secrets {
		s = strings.ReplaceAll(s, hidden, secret.Mask)
	}
	if ctx := context.Background(); t.log.Enabled(ctx, slog.LevelDebug) {
		t.log.DebugContext(ctx, "server stderr", "line", s)
	}
	if t.heard != nil {
		t.heard(s)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, s)
	t.size += len(s) + 1
	drop := 0
	for len(t.lines)-drop > tailLines || t.size > tailBytes {
		t.size -= len(t.lines[drop]) + 1
		drop++
	}
	clear(t.lines[:drop]) // release the memory
	t.lines = t.lines[drop:]
}

// last returns the last n lines.
func (t *stderrTail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines[max(0, len(t.lines)-n):], "\n")
}
