package static_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sluice/static"
)

func get(t *testing.T, address, encoding string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	static.Handler().ServeHTTP(w, r)
	return w
}

func TestBuiltFilesAreServedForEver(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{
		"app.js": "text/javascript; charset=utf-8", "builder.js": "text/javascript; charset=utf-8", "inspector.js": "text/javascript; charset=utf-8",
		"app.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		require.True(t, static.Has(name), name)
		plain, packed := get(t, static.URL(name), ""), get(t, static.URL(name), "br, gzip")
		require.Equal(t, http.StatusOK, plain.Code, name)
		require.Equal(t, kind, plain.Header().Get("Content-Type"))
		require.Equal(t, "public, max-age=31536000, immutable", plain.Header().Get("Cache-Control"))
		require.Equal(t, "Accept-Encoding", plain.Header().Get("Vary"))
		body := packed.Body.Bytes()
		if packed.Header().Get("Content-Encoding") == "gzip" {
			zr, err := gzip.NewReader(packed.Body)
			require.NoError(t, err)
			body, err = io.ReadAll(zr)
			require.NoError(t, err)
		}
		require.Equal(t, plain.Body.Bytes(), body, name)
	}
}

func TestOnlyBuiltFilesAreServed(t *testing.T) {
	t.Parallel()
	base := path.Dir(static.URL("x"))
	for _, address := range []string{
		base + "/none.js", base + "/../static.go", base + "/", "/static/0123456789ab/app.js", "/static/app.js", base + "/chunks", "/static/",
	} {
		require.Equal(t, http.StatusNotFound, get(t, address, "").Code, address)
	}
}

// Scripts name their chunks relative to themselves, so these move with the hash.
func TestChunksOfScriptsAreFound(t *testing.T) {
	t.Parallel()
	imports := regexp.MustCompile(`(?:from|import)\s*"(\./[^"]+)"`)
	found := 0
	for _, script := range []string{"app.js", "builder.js", "inspector.js"} {
		for _, m := range imports.FindAllStringSubmatch(get(t, static.URL(script), "").Body.String(), -1) {
			found++
			require.True(t, static.Has(strings.TrimPrefix(m[1], "./")), "%s imports %s", script, m[1])
		}
	}
	require.Positive(t, found)
}
