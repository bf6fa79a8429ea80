// Package serve serves a site to a room: read-only, with the types and caching that browsers need. It makes compressed
// copies of the files beside them, FILE.br and FILE.gz, and serves those to browsers that take them; other hosts can do
// the same.
package serve

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// types are the types of a site's files. A file of any other is bytes.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".webmanifest": "application/manifest+json", ".wasm": "application/wasm",
	".svg": "image/svg+xml", ".png": "image/png", ".txt": "text/plain; charset=utf-8",
}

// packings are the compressed copies that are served, by their ending, the smallest first.
var packings = []struct{ encoding, ending string }{{"br", ".br"}, {"gzip", ".gz"}}

// hashed matches names that say what their file holds, and will never hold anything else.
var hashed = regexp.MustCompile(`[.-][0-9a-f]{12,64}\.`)

// site serves the files of a folder.
type site struct {
	files fs.FS
	mu    sync.Mutex
	tags  map[string]tag
}

// tag is what a file's content was told apart by, while it was of that time.
type tag struct {
	when time.Time
	text string
}

// Handler serves a site's files, and nothing else. It takes files from os.Root's FS, so that no name and no link leads
// out of the folder.
func Handler(files fs.FS) http.Handler { return &site{files: files, tags: map[string]tag{}} }

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "This site can only be read.", http.StatusMethodNotAllowed)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	if !fs.ValidPath(name) || path.Base(name)[0] == '.' {
		notFound(w)
		return
	}
	served, encoding := s.choose(name, r.Header.Get("Accept-Encoding"))
	f, err := s.files.Open(served)
	if err != nil {
		notFound(w)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		notFound(w)
		return
	}
	etag, err := s.tag(served, f, info)
	if err != nil {
		http.Error(w, "The file cannot be read on the server.", http.StatusInternalServerError)
		return
	}
	h.Set("ETag", etag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache") // kept, but asked for anew: a course may change between two lessons
	if hashed.MatchString(path.Base(name)) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Content-Type", "application/octet-stream")
	if t, known := types[path.Ext(name)]; known {
		h.Set("Content-Type", t)
	}
	if encoding == "" {
		http.ServeContent(w, r, name, time.Time{}, f.(io.ReadSeeker))
		return
	}
	h.Set("Content-Encoding", encoding)
	if strings.Contains(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	if r.Method == http.MethodGet {
		_, _ = io.Copy(w, f) // who has gone away needs no answer
	}
}

func notFound(w http.ResponseWriter) {
	http.Error(w, "There is no such file in this site.", http.StatusNotFound)
}

// choose is the file to serve for a name: the best of its compressed copies that the browser takes, or the file itself.
func (s *site) choose(name, accepted string) (served, encoding string) {
	for _, p := range packings {
		if !accepts(accepted, p.encoding) {
			continue
		}
		if info, err := fs.Stat(s.files, name+p.ending); err == nil && info.Mode().IsRegular() {
			return name + p.ending, p.encoding
		}
	}
	return name, ""
}

// accepts reports whether an Accept-Encoding header names an encoding, with a weight that is not zero.
func accepts(header, encoding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		weight, given := strings.CutPrefix(strings.ReplaceAll(parameters, " ", ""), "q=")
		value, err := strconv.ParseFloat(weight, 64)
		return !given || err != nil || value > 0
	}
	return false
}

// tag tells a file's content apart from any other that the name has had.
func (s *site) tag(name string, f fs.File, info fs.FileInfo) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.tags[name]; known.text != "" && known.when.Equal(info.ModTime()) {
		return known.text, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	if _, err := f.(io.Seeker).Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	text := `"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"`
	s.tags[name] = tag{info.ModTime(), text}
	return text, nil
}
