// Command sbom lists what is linked into secateur: a bill of materials in CycloneDX format, and the
// licences and notices of every module. It uses the sources in the module cache, without a network.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	dir := flag.String("o", "bin", "the `directory` to write to")
	flag.Parse()
	if err := run(context.Background(), *dir); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	all, err := linked(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // world-readable
		return err
	}
	list, err := json.MarshalIndent(bomOf(all), "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(
		write(filepath.Join(dir, "secateur.cdx.json"), append(list, '\n')),
		write(filepath.Join(dir, "THIRD_PARTY_NOTICES"), notices(all)),
	)
}

// module is a linked module.
type module struct {
	Path, Version, Dir string

	licence string            // SPDX
	texts   map[string]string // licences and notices, by file name
}

// linked lists the modules with packages in the binary.
func linked(ctx context.Context) (all []module, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "secateur/cmd/secateur")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := strings.Fields(string(out))
	for i := 0; i+2 < len(lines); i += 3 {
		m := module{Path: lines[i], Version: lines[i+1], Dir: lines[i+2]}
		if slices.ContainsFunc(all, func(o module) bool { return o.Path == m.Path }) {
			continue
		}
		if err := m.read(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// read finds a module's licence, which is mandatory, and its notices.
func (m *module) read() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	m.texts = map[string]string{}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "NOTICE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		m.texts[e.Name()] = string(text)
		if id := spdx(string(text)); id != "" && m.licence == "" {
			m.licence = id
		}
	}
	if m.licence == "" {
		return fmt.Errorf("%s %s: no licence that is known here; look at %s", m.Path, m.Version, m.Dir)
	}
	return nil
}

// spdx identifies a licence by a unique phrase; "": unknown.
func spdx(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, known := range []struct{ phrase, id string }{
		{"Apache License Version 2.0", "Apache-2.0"},
		{"Mozilla Public License Version 2.0", "MPL-2.0"},
		{"Permission is hereby granted, free of charge", "MIT"},
		{"Permission to use, copy, modify, and/or distribute", "ISC"},
		{"Neither the name of", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
	} {
		if strings.Contains(text, known.phrase) {
			return known.id
		}
	}
	return ""
}

// bom is a CycloneDX 1.6 bill of materials, with the fields we use.
type bom struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type     string    `json:"type"`
	Name     string    `json:"name"`
	Version  string    `json:"version,omitempty"`
	PURL     string    `json:"purl,omitempty"`
	Licences []licence `json:"licenses"`
}

type licence struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

func bomOf(all []module) bom {
	b := bom{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{component{Type: "application", Name: "secateur", Licences: licensed("Apache-2.0")}},
	}
	for _, m := range all {
		b.Components = append(b.Components, component{
			Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version, Licences: licensed(m.licence),
		})
	}
	return b
}

func licensed(id string) []licence {
	var l licence
	l.License.ID = id
	return []licence{l}
}

// notices joins all licences and notices.
func notices(all []module) []byte {
	var b strings.Builder
	b.WriteString("secateur holds software of others, under these licences.\n")
	for _, m := range all {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n", strings.Repeat("=", 80), m.Path, m.Version, m.licence)
		for _, name := range slices.Sorted(maps.Keys(m.texts)) {
			fmt.Fprintf(&b, "\n--- %s\n\n%s\n", name, strings.TrimSpace(m.texts[name]))
		}
	}
	return []byte(b.String())
}

func write(path string, content []byte) error {
	return os.WriteFile(path, content, 0o644) //nolint:gosec // world-readable
}
