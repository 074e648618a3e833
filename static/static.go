// Package static embeds and serves the built pages: scripts and styles, under
// addresses that change with their content, so that browsers may keep them for ever.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed all:dist
var files embed.FS

// asset is a file in memory, plain and compressed.
type asset struct {
	plain, packed []byte
	contentType   string
}

// tree is what is embedded, read once.
type tree struct {
	hash   string
	assets map[string]asset
}

var load = sync.OnceValue(func() tree {
	t := tree{assets: map[string]asset{}}
	sum := sha256.New()
	// Walking an embedded tree gives its files in order and can't fail.
	_ = fs.WalkDir(files, "dist", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		short := strings.TrimPrefix(name, "dist/")
		sum.Write([]byte(short + "\x00"))
		sum.Write(data)
		t.assets[short] = asset{plain: data, packed: pack(data), contentType: mime.TypeByExtension(path.Ext(name))}
		return nil
	})
	t.hash = hex.EncodeToString(sum.Sum(nil))[:12]
	return t
})

func pack(data []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(data); err != nil || w.Close() != nil || b.Len() >= len(data) {
		return nil
	}
	return b.Bytes()
}

// URL is the address of a built file, such as "app.js".
func URL(name string) string { return "/static/" + load().hash + "/" + name }

// Has reports whether a file was built.
func Has(name string) bool {
	_, ok := load().assets[name]
	return ok
}

// Handler serves /static/<hash>/<name>. An old hash is not found: the page that
// named it must be loaded again.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := load()
		name, ok := strings.CutPrefix(r.URL.Path, "/static/"+t.hash+"/")
		a, known := t.assets[name]
		if !ok || !known {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", a.contentType)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		body := a.plain
		if a.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.packed
		}
		_, _ = w.Write(body) // a client that went away is none of our business
	})
}
