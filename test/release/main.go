// Command release makes what a release consists of: an archive for each system, packages for npm and Debian, their checksums, the bill of
// materials, a statement of provenance, a Homebrew formula, and manifests for Scoop and winget. The same commit and the same Go give the same bytes on every machine, so
// anybody can check a release by making it again.
//
//	go run ./test/release -o dist -url https://example.org/secateur/v0.1.0
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// systems are the targets of archives.
var systems = []system{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

type system struct{ os, arch string }

func (s system) binary() string {
	if s.os == "windows" {
		return "secateur.exe"
	}
	return "secateur"
}

func main() {
	dir := flag.String("o", "dist", "the `directory` to write to")
	url := flag.String("url", "", "where the archives will be; \"\": in that directory")
	only := flag.String("only", "", "some systems, as `os/arch,os/arch`; \"\": all")
	flag.Parse()
	if err := run(context.Background(), *dir, *url, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir, url, only string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // world-readable
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if url == "" {
		url = "file://" + dir
	}
	from, err := sourceOf(ctx)
	if err != nil {
		return err
	}
	if err := command(ctx, nil, "go", "run", "./test/sbom", "-o", dir); err != nil {
		return err
	}
	made := []artifact{}
	for _, s := range systems {
		if only != "" && !strings.Contains(","+only+",", ","+s.os+"/"+s.arch+",") {
			continue
		}
		some, err := build(ctx, dir, from, s)
		if err != nil {
			return fmt.Errorf("%s/%s: %w", s.os, s.arch, err)
		}
		made = append(made, some...)
	}
	return finish(dir, url, from, made)
}

// finish writes the checksums, the provenance and the formula.
func finish(dir, url string, from source, made []artifact) error {
	bom, err := os.ReadFile(filepath.Join(dir, bomName))
	if err != nil {
		return err
	}
	wrapper, packed, err := npmWrapper(from, made)
	if err != nil {
		return err
	}
	wrapper.sum = sha256.Sum256(packed)
	made = append(made, wrapper, artifact{name: bomName, sum: sha256.Sum256(bom)})
	bucket, err := scoop(from.version, url, made)
	if err != nil {
		return err
	}
	for name, manifest := range winget(from.version, url, made) {
		if err := write(filepath.Join(dir, name), manifest); err != nil {
			return err
		}
	}
	statement, err := provenance(from, made)
	if err != nil {
		return err
	}
	made = append(made, artifact{name: provenanceName, sum: sha256.Sum256(statement)})
	return errors.Join(
		write(filepath.Join(dir, provenanceName), statement),
		write(filepath.Join(dir, "checksums.txt"), checksums(made)),
		write(filepath.Join(dir, "secateur.rb"), formula(from.version, url, made)),
		write(filepath.Join(dir, wrapper.name), packed),
		write(filepath.Join(dir, "scoop.json"), bucket),
	)
}

// artifact is one file of a release.
type artifact struct {
	name   string
	system system // zero: for all
	sum    [sha256.Size]byte
}

// checksums returns the input of sha256sum -c.
func checksums(made []artifact) []byte {
	var b strings.Builder
	for _, a := range made {
		fmt.Fprintf(&b, "%x  %s\n", a.sum, a.name)
	}
	return []byte(b.String())
}

// source is what a release is made from.
type source struct {
	version  string
	commit   string
	modified bool      // the working tree has changes
	time     time.Time // of the commit; files in archives have it
	golang   string
}

func sourceOf(ctx context.Context) (source, error) {
	commit, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return source{}, err
	}
	seconds, err := output(ctx, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return source{}, err
	}
	changes, err := output(ctx, "git", "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return source{}, err
	}
	said, err := output(ctx, "go", "run", "./cmd/secateur", "version")
	if err != nil {
		return source{}, err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(said, "secateur "), " ")
	version, _, _ = strings.Cut(version, "+") // the commit is named beside it
	return source{version: version, commit: commit, modified: changes != "", time: time.Unix(at, 0).UTC(), golang: runtime.Version()}, nil
}

// build makes the archive for a system, with the binary, the licences and manual pages, and the packages that hold the same.
func build(ctx context.Context, dir string, from source, s system) ([]artifact, error) {
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	env := []string{"CGO_ENABLED=0", "GOOS=" + s.os, "GOARCH=" + s.arch, "GOFLAGS="}
	if err := command(ctx, env, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(work, s.binary()), "./cmd/secateur"); err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md"} {
		if err := copyFile(name, filepath.Join(work, name)); err != nil {
			return nil, err
		}
	}
	if err := copyFile(filepath.Join(dir, "THIRD_PARTY_NOTICES"), filepath.Join(work, "THIRD_PARTY_NOTICES")); err != nil {
		return nil, err
	}
	if err := command(ctx, nil, "go", "run", "./cmd/secateur", "man", filepath.Join(work, "man")); err != nil {
		return nil, err
	}
	a := artifact{name: fmt.Sprintf("secateur_%s_%s_%s", from.version, s.os, s.arch), system: s}
	pack := tarball
	if s.os == "windows" {
		pack = zipFile
	}
	content, ending, err := pack(work, from.time)
	if err != nil {
		return nil, err
	}
	a.name += ending
	a.sum = sha256.Sum256(content)
	if err := write(filepath.Join(dir, a.name), content); err != nil {
		return nil, err
	}
	others, err := packages(dir, work, from, s)
	return append([]artifact{a}, others...), err
}

// packages makes the packages for a system of the files in a directory.
func packages(dir, work string, from source, s system) (made []artifact, err error) {
	files, err := entries(work)
	if err != nil {
		return nil, err
	}
	kinds := []func(source, system, []entry) (artifact, []byte, error){npmPlatform}
	if s.os == "linux" {
		kinds = append(kinds, deb)
	}
	for _, pack := range kinds {
		a, content, err := pack(from, s, files)
		if err != nil {
			return nil, err
		}
		a.sum = sha256.Sum256(content)
		made = append(made, a)
		if err := write(filepath.Join(dir, a.name), content); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func command(ctx context.Context, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return write(to, content)
}

func write(path string, content []byte) error {
	return os.WriteFile(path, content, 0o644) //nolint:gosec // world-readable
}
