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

// MaxBytes is the maximum size of a configuration file.
const MaxBytes = 4 << 20

// Config is a loaded configuration with its warnings.
type Config struct {
	Settings
	Path     string    // of the file; "": the built-in default
	SHA256   string    // of the file's content, in hex
	Warnings []Problem // to be shown; the program starts all the same. Those that are Unready keep a server from starting

	given map[string]bool // paths that the file sets
}

// Given reports whether the file sets this key, such as "store".
func (c *Config) Given(key string) bool { return c.given[key] }

// Options are the external inputs of loading.
type Options struct {
	Lookup func(name string) (string, bool) // the environment; nil: empty
	// For files that the configuration names; nil: none can be read.
	ReadFile func(path string) ([]byte, error)
	Listen   string // the command line's --listen; "": not given
}

// Load parses a file's content and lists every mistake in it, in the order of the file. The
// extension of path selects the format (.toml, .json, .jsonc; any other is recognised by its first
// character). Problems name path. Do not run a configuration with mistakes; its Warnings are still
// worth showing.
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
	root = d.adoptClientServers(root, path, opt.ReadFile)
	d.decode(root, reflect.ValueOf(&cfg.Settings).Elem(), spot{place: place{off: noOffset}})
	d.leaveOut(cfg.Servers)
	cfg.given = make(map[string]bool, len(d.places))
	for key := range d.places {
		cfg.given[key] = true
	}
	delete(d.places, "") // a mistake about the whole file has no line
	if schema1 := root.get("observation_masking").get("schema1"); schema1 != nil && schema1.kind == kindTable && schema1.get("strategy") == nil {
		cfg.ObservationMasking.Schema1.Strategy = chat.Sliding
	}
	cfg.ObservationMasking.MCP.settleMode(func(key string) bool { return cfg.given["observation_masking.mcp."+key] })
	if s := &cfg.ObservationMasking.Schema1; s.Strategy == chat.Priced && cfg.Pruner.Enabled && !cfg.given["observation_masking.schema1.recover"] {
		// The model sees no header; the other strategy's placeholder is fixed.
		s.Recover = chat.RecoverHint
	}
	if whole {
		// Before the environment hides the file's mistakes.
		d.validate(reflect.ValueOf(cfg.Pruner), "mcp_pruner")
	}
	d.override(&cfg.Settings, opt)
	cfg.Pruner.Backend = oneBackendName(cfg.Pruner.Backend)
	if whole { // in half a file nothing can be called missing
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

// Dir returns the directory of the file, the base of its relative names; "" for the built-in
// default.
func (c *Config) Dir() string {
	if c.Path == "" {
		return ""
	}
	if abs, err := filepath.Abs(c.Path); err == nil {
		return filepath.Dir(abs)
	}
	return filepath.Dir(c.Path) // no working directory
}

// LoadFile is Load for a file, read with opt.ReadFile or, if that is nil, with [ReadFile].
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

// Default is the configuration without a file: the one that [Init] writes. Mistakes can only come
// from the environment and the command line.
func Default(opt Options) (*Config, []Problem) {
	cfg, mistakes := Load("built-in default.toml", Init(PresetDefault), opt)
	cfg.Path, cfg.given = "", nil // the user wrote none of its keys
	for _, list := range [][]Problem{mistakes, cfg.Warnings} {
		for i := range list {
			list[i].File = strings.TrimSuffix(list[i].File, ".toml")
		}
	}
	return cfg, mistakes
}

// readable removes a byte order mark and refuses data that is no text.
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
