package config_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"secateur/internal/config"
)

func TestFind(t *testing.T) {
	all := []string{"work/secateur.toml", "work/secateur.json", "user/secateur/secateur.toml", "user/secateur/secateur.json"}
	for _, c := range []struct {
		rule  string
		opt   config.FindOptions
		files []string
		want  string
		ok    bool
	}{
		{"the flag wins, whether the file exists or not", config.FindOptions{Flag: "f.toml", Lookup: environment("SECATEUR_CONFIG=e.toml"), Dir: "work"}, all, "f.toml", true},
		{"then the environment", config.FindOptions{Lookup: environment("SECATEUR_CONFIG=e.toml"), Dir: "work"}, all, "e.toml", true},
		{"an empty variable names nothing", config.FindOptions{Lookup: environment("SECATEUR_CONFIG="), Dir: "work"}, all, "work/secateur.toml", true},
		{"then the working directory, TOML first", config.FindOptions{Dir: "work", UserDir: "user"}, all, "work/secateur.toml", true},
		{"then its JSON", config.FindOptions{Dir: "work", UserDir: "user"}, all[1:], "work/secateur.json", true},
		{"then the user's directory", config.FindOptions{Dir: "work", UserDir: "user"}, all[2:], "user/secateur/secateur.toml", true},
		{"then its JSON", config.FindOptions{Dir: "work", UserDir: "user"}, all[3:], "user/secateur/secateur.json", true},
		{"no working directory is looked at where none is given", config.FindOptions{UserDir: "user"}, all[:2], "", false},
		{"nothing there, nothing found", config.FindOptions{Dir: "work", UserDir: "user"}, nil, "", false},
		{"a directory of that name is no file", config.FindOptions{Dir: "work"}, []string{"work/secateur.toml/x"}, "", false},
	} {
		tree := fstest.MapFS{}
		for _, f := range c.files {
			tree[f] = &fstest.MapFile{}
		}
		c.opt.Stat = func(path string) (fs.FileInfo, error) { return fs.Stat(tree, filepath.ToSlash(path)) }
		got, ok, err := config.Find(c.opt)
		if filepath.ToSlash(got) != c.want || ok != c.ok || err != nil {
			t.Errorf("%s: Find = %q, %v, %v, want %q, %v", c.rule, got, ok, err, c.want, c.ok)
		}
	}
}

func TestFindSaysWhatItCannotLookAt(t *testing.T) {
	denied := func(string) (fs.FileInfo, error) { return nil, fs.ErrPermission }
	if _, _, err := config.Find(config.FindOptions{Dir: "work", Stat: denied}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Find: err = %v, want a refusal, not the built-in default", err)
	}
}
