package main

import (
	"fmt"
	"os"
	"strings"

	"secateur/internal/app"
	"secateur/internal/config"
)

const workingDir = "."

// loaded is a configuration together with where it came from.
type loaded struct {
	*config.Config
	mistakes []config.Problem
}

// whose says whose files count where neither a flag nor the environment names one.
type whose int

const (
	usersOwn     whose = iota // those of the user's configuration directory
	orWorkingDir              // before them ./secateur.toml: for serve, and for check, which judges what serve would read
)

// load finds and reads the configuration. The working directory may be a stranger's repository: what is written there may
// not send this user's secrets and files anywhere just because some command was run in it.
func (w world) load(flag, listen string, files whose) (loaded, error) {
	path, found, err := config.Find(w.findOptions(flag, files))
	if err != nil {
		return loaded{}, exitError{exitConfig, fmt.Errorf("configuration: %w", err)}
	}
	opt := config.Options{Lookup: w.lookup, ReadFile: config.ReadFile, Listen: listen}
	var l loaded
	if found {
		l.Config, l.mistakes = config.LoadFile(path, opt)
	} else {
		l.Config, l.mistakes = config.Default(opt)
	}
	if err := app.Release(w.stateDir, l.Config); err != nil {
		l.Warnings = append(l.Warnings, config.Problem{File: l.Path, Text: "held servers stay held: " + err.Error(), Severity: config.Warning})
	}
	return l, nil
}

func (w world) findOptions(flag string, files whose) config.FindOptions {
	find := config.FindOptions{Flag: flag, Lookup: w.lookup, UserDir: w.userDir, Stat: os.Stat}
	if files == orWorkingDir {
		find.Dir = workingDir
	}
	return find
}

// usable is load for a command that is to run on the configuration: it says what is wrong and stops there.
func (w world) usable(flag, listen string, files whose) (*config.Config, error) {
	l, err := w.load(flag, listen, files)
	if err != nil {
		return nil, err
	}
	if len(l.mistakes) == 0 {
		return l.Config, nil
	}
	w.complain(l.mistakes)
	return nil, exitError{exitConfig, fmt.Errorf("%s in %s; nothing was started", plural(len(l.mistakes), "mistake"), l.name())}
}

// reload loads the configuration again that a program was started with: the same file, whatever else there may be by now.
func (w world) reload(started *config.Config, flag, listen string, files whose) (*config.Config, []config.Problem) {
	if started.Path != "" {
		flag = started.Path
	}
	l, err := w.load(flag, listen, files)
	if err != nil {
		return started, []config.Problem{{File: started.Path, Text: err.Error()}}
	}
	return l.Config, l.mistakes
}

// notifyHangups begins to take SIGHUP as a request to reload; nil where that is not done.
func (w world) notifyHangups() <-chan os.Signal {
	if w.hangups == nil {
		return nil
	}
	return w.hangups()
}

func (w world) complain(problems []config.Problem) {
	for _, p := range problems {
		fmt.Fprintln(w.err, p)
	}
}

// name is what to call the configuration.
func (l loaded) name() string {
	if l.Path == "" {
		return "the built-in default"
	}
	return l.Path
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %s", n, strings.TrimSuffix(noun, "s")+"s")
}
