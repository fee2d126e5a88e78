package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

const (
	indexName    = "index.html"
	assetsPrefix = "assets/" // files whose names contain a content hash
)

// file is a dashboard file in memory.
type file struct {
	kind   string // Content-Type
	tag    string // ETag; weak, since it is the same for the compressed form
	cached string // Cache-Control
	text   []byte
	zipped func() []byte // nil: compression does not help
}

// kinds are the file types of a dashboard. They do not depend on the machine's MIME table.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2",
	".json": "application/json", ".webmanifest": "application/manifest+json", ".txt": "text/plain; charset=utf-8",
}

func readFiles(from fs.FS) (map[string]*file, error) {
	all := map[string]*file{}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if all[name], err = newFile(name, text); err != nil {
			return err
		}
		return nil
	})
	return all, err
}

func newFile(name string, text []byte) (*file, error) {
	kind := kinds[path.Ext(name)]
	if kind == "" {
		return nil, fmt.Errorf("ui: %s: of what type is it?", name)
	}
	sum := sha256.Sum256(text)
	f := &file{kind: kind, tag: `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`, cached: "no-cache", text: text}
	if strings.HasPrefix(name, assetsPrefix) {
		f.cached = "public, max-age=31536000, immutable"
	}
	if path.Ext(name) != ".png" && path.Ext(name) != ".woff2" {
		f.zipped = sync.OnceValue(func() []byte { return compress(text) })
	}
	return f, nil
}

// compress runs once per file, at its first request.
func compress(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	_, _ = z.Write(text)                                  // into memory
	_ = z.Close()
	return b.Bytes()
}

// serve sends the file, or 304 if the browser has it.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", f.cached)
	h.Set("ETag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), strings.TrimPrefix(f.tag, "W/")) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.text
	if f.zipped != nil && acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = f.zipped()
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client may be gone
	}
}

// acceptsGzip parses Accept-Encoding (RFC 9110, 12.5.3) for gzip.
func acceptsGzip(header string) bool {
	for one := range strings.SplitSeq(header, ",") {
		name, quality, _ := strings.Cut(one, ";")
		if strings.TrimSpace(name) == "gzip" {
			q := strings.TrimPrefix(strings.ReplaceAll(quality, " ", ""), "q=")
			n, err := strconv.ParseFloat(q, 64)
			return q == "" || err == nil && n > 0
		}
	}
	return false
}
