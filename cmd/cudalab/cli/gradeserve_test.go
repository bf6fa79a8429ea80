package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPageHandler(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "report.html"), []byte("<p>the class"), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "students"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "students", "ada.json"), []byte("{}"), 0o600))
	p := &pageHandler{filepath.Join(dir, "report.html"), "TOKEN", hosts([]string{"http://localhost:8080/",
		"http://[::1]:8080/"})}
	for _, c := range []struct {
		method, host, path string
		status             int
	}{
		{"GET", "localhost:8080", "/TOKEN/", 200},
		{"HEAD", "[::1]:8080", "/TOKEN/", 200},
		{"GET", "evil.example", "/TOKEN/", 421},
		{"GET", "localhost", "/TOKEN/", 421},
		{"POST", "localhost:8080", "/TOKEN/", 405},
		{"GET", "localhost:8080", "/", 404},
		{"GET", "localhost:8080", "/TOKEN", 404},
		{"GET", "localhost:8080", "/token/", 404},
		{"GET", "localhost:8080", "/TOKEN/students/ada.json", 404},
		{"GET", "localhost:8080", "/TOKEN/../students/ada.json", 404},
		{"GET", "localhost:8080", "/TOKEN/report.html", 404},
	} {
		r := httptest.NewRequest(c.method, "/", nil)
		r.Host, r.URL.Path = c.host, c.path
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		require.Equal(t, c.status, w.Code, c)
		require.Equal(t, c.status == http.StatusOK, w.Body.String() == "<p>the class", c)
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	}
	require.NoError(t, os.Remove(p.file))
	r, w := httptest.NewRequest("GET", "/TOKEN/", nil), httptest.NewRecorder()
	r.Host = "localhost:8080"
	p.ServeHTTP(w, r)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "3", w.Header().Get("Refresh"))
}
