package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// policy is at least as strict as that of the site's own page.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'; " +
	"base-uri 'none'"

// Site serves a built engine with an empty page, below any path. An encoding host sends what was compressed beforehand,
// to be kept by the browser; any other sends files and nothing else.
func Site(dir, script string, encoding bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		switch {
		case name == "":
			fmt.Fprintf(w, `<!doctype html><meta http-equiv="Content-Security-Policy" content="%s"><title>engine</title>`,
				policy)
			return
		case name == "engine.js":
			w.Header().Set("Content-Type", "text/javascript")
			http.ServeFile(w, r, script)
			return
		case strings.HasSuffix(name, ".wasm"):
			w.Header().Set("Content-Type", "application/wasm")
		case strings.HasSuffix(name, ".js"):
			w.Header().Set("Content-Type", "text/javascript")
		}
		path := filepath.Join(dir, filepath.FromSlash(filepath.Clean("/"+name)))
		if encoding {
			if text, err := os.ReadFile(path + ".br"); err == nil {
				w.Header().Set("Content-Encoding", "br")
				w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
				_, _ = w.Write(text)
				return
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(text)
	})
}
