package main

import (
	"fmt"
	"os"
	"strings"

	"secateur/internal/config"
)

// loaded is a configuration together with where it came from.
type loaded struct {
	*config.Config
	mistakes []config.Problem
}

// load finds and reads the configuration. Only commands that a person starts may look into the working directory.
func (w world) load(flag, listen string, inWorkingDir bool) (loaded, error) {
	find := config.FindOptions{Flag: flag, Lookup: w.lookup, UserDir: w.userDir, Stat: os.Stat}
	if inWorkingDir {
		find.Dir = "."
	}
	path, found, err := config.Find(find)
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
	return l, nil
}

// usable is load for a command that is to run on the configuration: it says what is wrong and stops there.
func (w world) usable(flag, listen string, inWorkingDir bool) (*config.Config, error) {
	l, err := w.load(flag, listen, inWorkingDir)
	if err != nil {
		return nil, err
	}
	if len(l.mistakes) == 0 {
		return l.Config, nil
	}
	w.complain(l.mistakes)
	return nil, exitError{exitConfig, fmt.Errorf("%s in %s; nothing was started", plural(len(l.mistakes), "mistake"), l.name())}
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
