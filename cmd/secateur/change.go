package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"secateur/internal/config"
	"secateur/internal/config/document"
	"secateur/internal/ops/clients"
)

// change is what a command did to a file, or would do. It is the command's --json.
type change struct {
	Client  string        `json:"client,omitempty"`
	File    string        `json:"file"`
	Backup  *string       `json:"backup"`  // null: there was no file, or nothing was written
	Changed bool          `json:"changed"` // the file was written
	Diff    string        `json:"diff"`    // "": nothing to change
	Found   []foundClient `json:"found,omitempty"`

	Replaced []string `json:"replaced,omitempty"` // servers that connect takes out of the client's file
}

// changeFlags are how a command that changes a file may be run.
type changeFlags struct {
	dryRun, yes, asJSON bool
	quiet               bool // the diff is for --json alone: what was typed says it already
}

func (f *changeFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change and write nothing")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "write without asking; needed where there is no terminal")
	jsonFlag(cmd, &f.asJSON)
}

func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print one JSON object")
}

// settle shows a change, asks where it must, makes it, and reports.
func (w world) settle(c change, f changeFlags, before, after []byte, write func() (backup string, err error)) error {
	if !bytes.Equal(before, after) {
		c.Diff = cmp.Or(document.Diff(c.File, config.HideSecrets(c.File, before), config.HideSecrets(c.File, after)), c.File+": a hidden value changes\n")
	}
	if !f.asJSON && !f.quiet {
		fmt.Fprint(w.out, c.Diff)
	}
	err := w.approve(c, f)
	if err == nil && c.Diff != "" && !f.dryRun {
		var backup string
		if backup, err = write(); err != nil {
			return err
		}
		c.Changed = true
		if backup != "" {
			c.Backup = &backup
		}
	}
	if f.asJSON {
		return errors.Join(json.NewEncoder(w.out).Encode(c), err)
	}
	w.report(c, f, err)
	return err
}

func (w world) report(c change, f changeFlags, err error) {
	switch {
	case err != nil || f.dryRun && c.Diff != "":
	case !c.Changed:
		fmt.Fprintf(w.out, "%s: nothing to change\n", c.File)
	case c.Backup != nil:
		fmt.Fprintf(w.out, "wrote %s; what it was is kept in %s\n", c.File, *c.Backup)
	default:
		fmt.Fprintf(w.out, "wrote %s\n", c.File)
	}
}

// approve asks whether to write. Where nobody can be asked, only --yes is a yes.
func (w world) approve(c change, f changeFlags) error {
	if f.yes || f.dryRun || c.Diff == "" {
		return nil
	}
	if !w.asks {
		return errors.New("nothing was written: there is no terminal to ask on; --yes writes it")
	}
	fmt.Fprintf(w.err, "Write %s? [y/N] ", c.File)
	answer, _ := bufio.NewReader(w.in).ReadString('\n')
	if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
		return nil
	}
	return errors.New("nothing was written")
}

// ownFile is the configuration file that a command edits.
type ownFile struct {
	path   string
	before clients.Version
	list   config.ServerList
	opt    config.Options
	unset  map[string]bool // variables that new servers name and that are not set here
	fresh  []byte          // what a file that does not exist begins with
}

// editable finds the configuration to edit: the one that is named, else the user's. Where there is none, one is made in the user's directory
// with the text of fresh. A file of the working directory may be part of a repository, where secrets must not go.
func (w world) editable(flag string, fresh []byte) (*ownFile, error) {
	path, found, err := config.Find(w.findOptions(flag, usersOwn))
	if err != nil {
		return nil, exitError{exitConfig, fmt.Errorf("configuration: %w", err)}
	}
	if !found {
		if w.userDir == "" {
			return nil, errors.New("there is no configuration file and no directory for one; name it with --config")
		}
		path = filepath.Join(w.userDir, "secateur", initFile)
	}
	if aside, there, _ := config.Find(w.findOptions(flag, orWorkingDir)); there && aside != path && !sameFile(aside, path) {
		fmt.Fprintf(w.err, "secateur: this edits %s; ./%s is left alone, --config %s edits it\n", path, aside, aside)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	f := &ownFile{path: path, unset: map[string]bool{}, fresh: fresh}
	f.opt = config.Options{ReadFile: config.ReadFile, Lookup: func(name string) (string, bool) {
		if f.unset[name] {
			return standIn, true
		}
		return w.lookup(name)
	}}
	if f.before, err = clients.Read(path); err != nil {
		return nil, err
	}
	var mistakes []config.Problem
	f.list, mistakes = config.ReadServers(path, f.start(), f.opt, nil)
	if len(mistakes) > 0 {
		w.complain(mistakes)
		return nil, exitError{exitConfig, fmt.Errorf("%s in %s; nothing was changed", plural(len(mistakes), "mistake"), path)}
	}
	return f, nil
}

// sameFile reports whether two paths name one file that exists.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// expect notes the variables that a new server names and that are not set here.
func (f *ownFile) expect(w world, s config.FileServer) {
	for _, name := range config.VariablesOf(s.Fields) {
		if _, set := w.lookup(name); !set {
			f.unset[name] = true
		}
	}
}

// standIn is what an unset variable counts as while a file is judged: whoever runs the daemon will set it. It fits wherever
// a server's keys take a variable.
const standIn = "http://unset.invalid"

// start is what an edit begins with.
func (f *ownFile) start() []byte {
	if !f.before.Exists && document.FormatOf(f.path, nil) == document.TOML {
		return f.fresh
	}
	return f.before.Data
}

// insert puts a server into the text of the file.
func (f *ownFile) insert(data []byte, s config.FileServer) ([]byte, error) {
	return f.list.InsertServer(f.path, data, s)
}

// newMistakes are those of a text that the file did not have.
func (f *ownFile) newMistakes(after []byte) []config.Problem {
	key := func(p config.Problem) string { return p.Key + ": " + p.Text }
	old := map[string]bool{}
	_, mistakes := config.Load(f.path, f.start(), f.opt)
	for _, p := range mistakes {
		old[key(p)] = true
	}
	_, mistakes = config.Load(f.path, after, f.opt)
	return slices.DeleteFunc(mistakes, func(p config.Problem) bool { return old[key(p)] })
}

// settle is settle for the configuration file.
func (f *ownFile) settle(w world, c change, flags changeFlags, after []byte) error {
	c.File = f.path
	return w.settle(c, flags, f.before.Data, after, func() (string, error) {
		return w.keeper().Replace(f.path, f.before, clients.Version{Data: after, Exists: true})
	})
}

func (w world) keeper() clients.Keeper { return clients.Keeper{StateDir: w.stateDir} }

func (w world) machine() clients.Machine {
	return clients.Machine{OS: runtime.GOOS, Home: w.home, Lookup: w.lookup}
}
