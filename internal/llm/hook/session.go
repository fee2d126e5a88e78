package hook

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sessions note what was cut in each session of an agent, one file each. Lines are appended, each in one write, so that the hooks of calls
// that run side by side do not lose each other's.
type sessions struct{ dir string }

// maxSession is how much of a session's file is read: its newest lines.
const maxSession = 256 << 10

// sessionAge is how long the file of a session that goes no further is kept.
const sessionAge = 14 * 24 * time.Hour

// note is one cut of a session.
type note struct {
	ask    string // names the call; "": it cannot be named
	text   string // the id of its original
	tokens int    // that went, estimated
}

// session is what was cut in one.
type session struct {
	asks, texts map[string]bool
	cuts        int
	tokens      int
}

// fileOf is the file of a session, or of a sub-agent in it: each has a context of its own.
func (s sessions) fileOf(tenant, id, agent string) string {
	return filepath.Join(s.dir, short(tenant+"\x00"+id)+"."+short(agent))
}

func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}

// read reads what was cut. A session without a file has nothing cut.
func (s sessions) read(file string) (session, error) {
	out := session{asks: map[string]bool{}, texts: map[string]bool{}}
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return out, err
	}
	data := make([]byte, min(info.Size(), maxSession))
	n, err := f.ReadAt(data, max(0, info.Size()-maxSession))
	if err != nil && !errors.Is(err, io.EOF) {
		return out, err
	}
	for line := range bytes.Lines(data[:n]) {
		words := strings.Fields(string(line))
		if len(words) != 4 || words[0] != "cut" || !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		tokens, err := strconv.Atoi(words[3])
		if err != nil {
			continue
		}
		out.asks[words[1]], out.texts[words[2]] = true, true
		out.cuts++
		out.tokens += tokens
	}
	delete(out.asks, noAsk)
	return out, nil
}

// noAsk stands for a call that cannot be named.
const noAsk = "-"

// add notes a cut.
func (s sessions) add(file string, n note) error {
	if n.ask == "" {
		n.ask = noAsk
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(s.dir, 0o700); err != nil {
			return err
		}
		f, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "cut %s %s %d\n", n.ask, n.text, n.tokens)
	return errors.Join(err, f.Close())
}

// Saved tells how many results were cut in a session of this user, its sub-agents included, and how many tokens went with them.
func Saved(stateDir, id string) (cuts, tokens int, err error) {
	s := sessions{SessionDir(stateDir)}
	files, err := filepath.Glob(filepath.Join(s.dir, short("\x00"+id)+".*"))
	for _, f := range files {
		one, unread := s.read(f)
		cuts, tokens, err = cuts+one.cuts, tokens+one.tokens, errors.Join(err, unread)
	}
	return cuts, tokens, err
}

// forget forgets a session and its sub-agents: what was cut is no longer in their contexts.
func (s sessions) forget(tenant, id string) error {
	files, err := filepath.Glob(filepath.Join(s.dir, short(tenant+"\x00"+id)+".*"))
	for _, f := range files {
		if gone := os.Remove(f); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// sweep removes the files of sessions that went no further for long.
func (s sessions) sweep(now time.Time) error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if info, gone := e.Info(); gone == nil && now.Sub(info.ModTime()) > sessionAge {
			err = errors.Join(err, os.Remove(filepath.Join(s.dir, e.Name())))
		}
	}
	return err
}
