package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"secateur/internal/llm/chat"
)

// MaxBytes bounds the size of a configuration file.
const MaxBytes = 4 << 20

// Config is a configuration with what there is to say about it.
type Config struct {
	Settings
	Path     string    // of the file; "": the built-in default
	SHA256   string    // of the file's content, in hex
	Warnings []Problem // to be shown; the program starts all the same. Those that are Unready keep a server from starting

	given map[string]bool // the paths that stand in the file
}

// Given reports whether the file itself says something under this key, such as "store".
func (c *Config) Given(key string) bool { return c.given[key] }

// Options are what loading needs from the outside.
type Options struct {
	Lookup   func(name string) (string, bool)  // the environment; nil: empty
	ReadFile func(path string) ([]byte, error) // for files that the configuration names; nil: none can be read
	Listen   string                            // the command line's --listen; "": not given
}

// Load makes a configuration of a file's content and lists every mistake in it, in the order of the file. Path tells the format by
// its ending (.toml, .json, .jsonc; any other is recognised by its first character), and is what problems are reported
// under. A configuration with mistakes must not be run; its Warnings are worth showing all the same.
func Load(path string, data []byte, opt Options) (*Config, []Problem) {
	if opt.Lookup == nil {
		opt.Lookup = func(string) (string, bool) { return "", false }
	}
	cfg := &Config{Settings: defaults(), Path: path, SHA256: sumOf(data)}
	data, refused := readable(data)
	if refused != nil {
		return cfg, problems(path, data, []finding{*refused})
	}
	json := isJSON(path, data)
	parse := parseTOML
	if json {
		parse = parseJSON
	}
	root, found, whole := parse(data)

	d := newDecoder(opt, json, found)
	root = d.adoptClientServers(root, filepath.Dir(path), opt.ReadFile)
	d.decode(root, reflect.ValueOf(&cfg.Settings).Elem(), spot{place: place{off: noOffset}})
	d.leaveOut(cfg.Servers)
	cfg.given = make(map[string]bool, len(d.places))
	for key := range d.places {
		cfg.given[key] = true
	}
	delete(d.places, "") // a mistake about the file as a whole has no line
	if schema1 := root.get("observation_masking").get("schema1"); schema1 != nil && schema1.kind == kindTable && schema1.get("strategy") == nil {
		cfg.ObservationMasking.Schema1.Strategy = chat.Sliding
	}
	cfg.ObservationMasking.MCP.settleMode(func(key string) bool { return cfg.given["observation_masking.mcp."+key] })
	if s := &cfg.ObservationMasking.Schema1; s.Strategy == chat.Priced && cfg.Pruner.Enabled && !cfg.given["observation_masking.schema1.recover"] {
		s.Recover = chat.RecoverHint // the model sees no header; the seed's strategy has its placeholder to the letter
	}
	if whole {
		d.validate(reflect.ValueOf(cfg.Pruner), "mcp_pruner") // before the environment hides what the file got wrong
	}
	d.override(&cfg.Settings, opt)
	cfg.Pruner.Backend = oneBackendName(cfg.Pruner.Backend)
	if whole { // of half a file nothing can be said to be missing
		d.validate(reflect.ValueOf(cfg.Settings), "")
		d.warnBackend(cfg.Settings)
	}

	d.hideVariables()
	isMistake := func(f finding) bool { return f.severity == Mistake }
	mistakes, warnings := partition(d.found, isMistake)
	cfg.Warnings = problems(path, data, warnings)
	return cfg, problems(path, data, mistakes)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func newDecoder(opt Options, json bool, found []finding) *decoder {
	return &decoder{
		lookup: opt.Lookup, json: json,
		shapes: map[reflect.Type]*shape{}, places: map[string]place{}, bad: map[string]bool{}, meant: map[string]bool{},
		found: found, expanded: map[string]string{},
	}
}

// Dir is the directory of the file, where relative names in it start; "" for the built-in default.
func (c *Config) Dir() string {
	if c.Path == "" {
		return ""
	}
	if abs, err := filepath.Abs(c.Path); err == nil {
		return filepath.Dir(abs)
	}
	return filepath.Dir(c.Path) // there is no working directory to start from
}

// LoadFile is Load of a file read with opt.ReadFile, or with [ReadFile] where that is nil.
func LoadFile(path string, opt Options) (*Config, []Problem) {
	if opt.ReadFile == nil {
		opt.ReadFile = ReadFile
	}
	data, err := opt.ReadFile(path)
	if err != nil {
		return &Config{Settings: defaults(), Path: path}, []Problem{{File: path, Text: cause(err)}}
	}
	return Load(path, data, opt)
}

// Default is the configuration of a program that was given no file: the one that [Init] writes. Mistakes can only come
// from the environment and the command line.
func Default(opt Options) (*Config, []Problem) {
	cfg, mistakes := Load("built-in default.toml", Init(PresetDefault), opt)
	cfg.Path, cfg.given = "", nil // nobody wrote any of its keys
	for _, list := range [][]Problem{mistakes, cfg.Warnings} {
		for i := range list {
			list[i].File = strings.TrimSuffix(list[i].File, ".toml")
		}
	}
	return cfg, mistakes
}

// readable takes a byte order mark off and refuses what is no text.
func readable(data []byte) ([]byte, *finding) {
	if len(data) > MaxBytes {
		return nil, refusal(noOffset, fmt.Sprintf("larger than %d bytes", MaxBytes))
	}
	return readableText(data)
}

func refusal(off int, text string) *finding { return &finding{place: place{off: off}, text: text} }

// readableText is readable for a text of any length.
func readableText(data []byte) ([]byte, *finding) {
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, refusal(noOffset, "the file is in UTF-16; save it as UTF-8")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for off := 0; off < len(data); {
		r, size := utf8.DecodeRune(data[off:])
		if r == utf8.RuneError && size == 1 {
			return data, refusal(off, "not valid UTF-8")
		}
		off += size
	}
	return data, nil
}

func isJSON(path string, data []byte) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".jsonc":
		return true
	case ".toml":
		return false
	}
	first := bytes.TrimSpace(data)
	return bytes.HasPrefix(first, []byte("{")) || bytes.HasPrefix(first, []byte("/"))
}

func partition(found []finding, first func(finding) bool) (a, b []finding) {
	for _, f := range found {
		if first(f) {
			a = append(a, f)
		} else {
			b = append(b, f)
		}
	}
	return slices.Clip(a), slices.Clip(b)
}
