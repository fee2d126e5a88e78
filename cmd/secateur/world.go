package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// world is what a command touches outside itself.
type world struct {
	in          io.Reader
	out, err    io.Writer
	environ     []string
	home        string
	userDir     string                  // where configurations of this user live; "" where it cannot be told
	cacheDir    string                  // where things of this user may be kept; "" where it cannot be told
	stateDir    string                  // where tokens and the like of this user are kept; "" where it cannot be told
	kill        <-chan struct{}         // closed when nobody is waited for any more; nil: never
	runsServers func()                  // tells that this command runs servers, which have to end first; nil: nobody asks
	hangups     func() <-chan os.Signal // begins to take SIGHUP, and tells of it; nil: it is not looked at
	colour      bool                    // standard output is a terminal that wants colours
	kind        outKind                 // where standard output goes
	width       int                     // of that terminal, in characters; 0: it is none
	asks        bool                    // somebody sits at a terminal and can answer a question

	errTerminal bool // standard error is a terminal, where progress is shown
}

// outKind is where standard output goes.
type outKind int

const (
	toPipe outKind = iota // another program, or not known
	toTerminal
	toFile
)

func system() world {
	home, _ := os.UserHomeDir()
	userDir, _ := os.UserConfigDir()
	cacheDir, _ := os.UserCacheDir()
	w := world{in: os.Stdin, out: &screen{to: os.Stdout}, err: &screen{to: os.Stderr}, environ: os.Environ(), home: home, userDir: userDir, cacheDir: cacheDir}
	w.stateDir = w.findStateDir()
	w.kind = kindOf(os.Stdout)
	w.colour = w.wantsColour(w.kind == toTerminal)
	w.errTerminal = isTerminal(os.Stderr)
	w.width = terminalWidth(os.Stdout)
	w.asks = isTerminal(os.Stdin) && isTerminal(os.Stderr)
	return w
}

// holdsServers tells that a signal has to let servers end before the program does.
func (w world) holdsServers() {
	if w.runsServers != nil {
		w.runsServers()
	}
}

// findStateDir is $XDG_STATE_HOME/secateur, or what stands for it.
func (w world) findStateDir() string {
	if dir, ok := w.lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "secateur")
	}
	if w.home == "" {
		return ""
	}
	return filepath.Join(w.home, ".local", "state", "secateur")
}

// lookup finds a variable of the environment.
func (w world) lookup(name string) (string, bool) {
	for _, entry := range slices.Backward(w.environ) { // the last one wins, as for a shell
		if key, value, ok := strings.Cut(entry, "="); ok && key == name {
			return value, true
		}
	}
	return "", false
}

func (w world) wantsColour(terminal bool) bool {
	if v, ok := w.lookup("NO_COLOR"); ok && v != "" {
		return false
	}
	if v, ok := w.lookup("CLICOLOR_FORCE"); ok && v != "" && v != "0" {
		return true
	}
	term, _ := w.lookup("TERM")
	return terminal && term != "dumb"
}

func isTerminal(f *os.File) bool { return kindOf(f) == toTerminal }

func kindOf(f *os.File) outKind {
	info, err := f.Stat()
	switch {
	case err == nil && info.Mode()&os.ModeCharDevice != 0:
		return toTerminal
	case err == nil && info.Mode().IsRegular():
		return toFile
	}
	return toPipe
}
