package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is a file for an archive. Modes, owners and times are the same on every machine.
type entry struct {
	name    string // with slashes
	mode    fs.FileMode
	content []byte
}

// entries returns the files below a directory, sorted by name.
func entries(dir string) (all []entry, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // it was put there to be packed
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		e := entry{name: filepath.ToSlash(name), mode: 0o644, content: content}
		if strings.TrimSuffix(e.name, ".exe") == "secateur" {
			e.mode = 0o755
		}
		all = append(all, e)
		return nil
	})
	return all, err
}

func tarball(dir string, at time.Time) (content []byte, ending string, err error) {
	files, err := entries(dir)
	if err != nil {
		return nil, "", err
	}
	content, err = packTar(files, at)
	return content, ".tar.gz", err
}

// packTar makes a compressed tar of files, and of folders, whose names end with a slash.
func packTar(files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	squeeze, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	pack := tar.NewWriter(squeeze)
	for _, f := range files {
		kind := byte(tar.TypeReg)
		if strings.HasSuffix(f.name, "/") {
			kind = tar.TypeDir
		}
		if err := pack.WriteHeader(&tar.Header{Typeflag: kind, Name: f.name, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := pack.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := pack.Close(); err != nil {
		return nil, err
	}
	if err := squeeze.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func zipFile(dir string, at time.Time) (content []byte, ending string, err error) {
	files, err := entries(dir)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	pack := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at.UTC()}
		header.SetMode(f.mode)
		w, err := pack.CreateHeader(header)
		if err != nil {
			return nil, "", err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, "", err
		}
	}
	if err := pack.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), ".zip", nil
}
