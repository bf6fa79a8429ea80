package serve_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"

	"cudalab/grader/browser/serve"
)

// files are what the tests' site has.
var files = map[string]string{
	"index.html":                          "<!DOCTYPE html>",
	"app.js":                              "export {};",
	"engine/link.0123456789abcdef01.wasm": "\x00asm and so on",
	"engine/course.bin":                   "bytes",
	".hidden":                             "not for the room",
	"lessons/ring.json":                   "{}",
}

// handler serves the tests' site, whose app.js lies there compressed as well. Beside it is a file that it must not
// serve.
func handler(t *testing.T) http.Handler {
	t.Helper()
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("secret"), 0o600))
	dir := filepath.Join(outside, "site")
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	for ending, writer := range map[string]func(io.Writer) io.WriteCloser{
		".gz": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		".br": func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	} {
		f, err := os.Create(filepath.Join(dir, "app.js"+ending))
		require.NoError(t, err)
		w := writer(f)
		_, err = w.Write([]byte(files["app.js"]))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.Symlink("../secret.txt", filepath.Join(dir, "link.txt")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return serve.Handler(root.FS())
}

func get(h http.Handler, method, path string, header map[string]string) *http.Response {
	r := httptest.NewRequest(method, "http://room/", nil)
	r.URL.Path = path // as a client may write it, not as net/http would clean it
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}

func TestFilesComeWithTheTypesThatBrowsersNeed(t *testing.T) {
	h := handler(t)
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8",
		"/lessons/ring.json":                   "application/json",
		"/engine/link.0123456789abcdef01.wasm": "application/wasm", "/engine/course.bin": "application/octet-stream",
	} {
		r := get(h, http.MethodGet, path, nil)
		require.Equal(t, http.StatusOK, r.StatusCode, path)
		require.Equal(t, want, r.Header.Get("Content-Type"), path)
		require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		name := strings.TrimPrefix(path, "/")
		if name == "" {
			name = "index.html"
		}
		require.Equal(t, files[name], body(t, r.Body))
	}
}

func TestTheBestCopyThatTheBrowserTakesIsServed(t *testing.T) {
	h := handler(t)
	tags := map[string]bool{}
	for accepted, want := range map[string]string{
		"gzip, deflate, br, zstd": "br", "gzip, deflate": "gzip", "br;q=0, gzip;q=0.5": "gzip", "": "", "identity": "",
		"brotli": "", "br; q=0.0": "",
	} {
		r := get(h, http.MethodGet, "/app.js", map[string]string{"Accept-Encoding": accepted})
		require.Equal(t, want, r.Header.Get("Content-Encoding"), "%q", accepted)
		require.Equal(t, "text/javascript; charset=utf-8", r.Header.Get("Content-Type"))
		require.Equal(t, "Accept-Encoding", r.Header.Get("Vary"))
		tags[r.Header.Get("ETag")] = true
		read := io.Reader(r.Body)
		switch want {
		case "br":
			read = brotli.NewReader(r.Body)
		case "gzip":
			var err error
			read, err = gzip.NewReader(r.Body)
			require.NoError(t, err)
		}
		require.Equal(t, files["app.js"], body(t, read))
		again := get(h, http.MethodGet, "/app.js", map[string]string{"Accept-Encoding": accepted,
			"If-None-Match": r.Header.Get("ETag")})
		require.Equal(t, http.StatusNotModified, again.StatusCode)
		require.Empty(t, body(t, again.Body))
	}
	require.Len(t, tags, 3, "each copy has a tag of its own")
}

func TestWhatNeverChangesIsKept(t *testing.T) {
	h := handler(t)
	require.Contains(t, get(h, http.MethodGet, "/engine/link.0123456789abcdef01.wasm", nil).Header.Get("Cache-Control"),
		"immutable")
	for _, path := range []string{"/", "/app.js", "/engine/course.bin"} {
		require.Equal(t, "no-cache", get(h, http.MethodGet, path, nil).Header.Get("Cache-Control"), path)
	}
}

func TestNothingElseIsServed(t *testing.T) {
	h := handler(t)
	for _, path := range []string{
		"/nothing", "/../secret.txt", "/lessons/../../secret.txt", "//etc/passwd", "/./app.js", "/lessons", "/lessons/",
		"/.hidden", "/link.txt", `/..\secret.txt`, "/app.js/", "/\x00", "/engine/../app.js",
	} {
		r := get(h, http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, r.StatusCode, "%q", path)
		require.NotContains(t, body(t, r.Body), "secret\n")
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		r := get(h, method, "/app.js", nil)
		require.Equal(t, http.StatusMethodNotAllowed, r.StatusCode, method)
		require.Equal(t, "GET, HEAD", r.Header.Get("Allow"))
	}
	r := get(h, http.MethodHead, "/app.js", map[string]string{"Accept-Encoding": "br"})
	require.Equal(t, http.StatusOK, r.StatusCode)
	require.Empty(t, body(t, r.Body))
}

func FuzzPath(f *testing.F) {
	for _, path := range []string{"/", "/app.js", "/../secret.txt", "/lessons/ring.json", "/%2e%2e/secret.txt", "//",
		"/link.txt"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r := get(handler(t), http.MethodGet, path, nil)
		require.Contains(t, []int{http.StatusOK, http.StatusNotFound}, r.StatusCode)
		require.NotEqual(t, "secret", body(t, r.Body))
	})
}
