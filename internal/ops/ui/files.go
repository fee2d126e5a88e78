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
	assetsPrefix = "assets/" // of files whose name changes with their content
)

// file is one of the dashboard's, kept in memory.
type file struct {
	kind   string // Content-Type
	tag    string // ETag, a weak one: it is the same compressed
	cached string // Cache-Control
	text   []byte
	zipped func() []byte // nil: compressing does not make it smaller
}

// kinds are the types of files that a dashboard may have. They do not depend on the machine's own table.
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

// compress is done once for each file, when it is first asked for.
func compress(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one that there is
	_, _ = z.Write(text)                                  // into memory
	_ = z.Close()
	return b.Bytes()
}

// serve answers with the file, or that the browser has it.
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
		_, _ = w.Write(body) // a client that went away has no use for an error
	}
}

// acceptsGzip reads Accept-Encoding (RFC 9110, 12.5.3) as far as it is about gzip.
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
