package site_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/browser/serve"
	"cudalab/grader/browser/site"
	"cudalab/grader/suites/course"
)

const root = "../../.."

// home is where the tests' site lies on its host: a site runs under any path.
const home = "/some/where/"

// written is the site of this course in a folder of the test's own, with the tests' engine.
func written(t *testing.T) string {
	t.Helper()
	made, err := sealed()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(made)))
	return dir
}

var siteFolder string // once it was made

var sealed = sync.OnceValues(func() (dir string, err error) {
	c, err := course.Open(root)
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "cudalab-site-"); err != nil {
		return "", err
	}
	siteFolder = dir
	engine, err := os.ReadFile("testdata/engine.js")
	if err == nil {
		err = site.Write(c, dir)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "engine.js"), engine, 0o644)
	}
	if err == nil {
		err = site.Seal(context.Background(), dir)
	}
	return dir, err
})

// host serves a site, and checks what its engine sends. It is closed with the test, or before it, as a network that is
// gone.
func host(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	folder, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = folder.Close() })
	mux := http.NewServeMux()
	mux.Handle(home, http.StripPrefix(home[:len(home)-1], serve.Handler(folder.FS())))
	program := cudalab(t)
	mux.HandleFunc("POST "+home+"check", func(w http.ResponseWriter, r *http.Request) {
		checked(r.Context(), program, w,
			r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "cudalab-page-")
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "cudalab")
	said, err := exec.Command("go", "build", "-o", program, "cudalab/cmd/cudalab").CombinedOutput()
	return program, wrap(err, said)
})

func wrap(err error, said []byte) error {
	if err == nil {
		return nil
	}
	return &exec.Error{Name: string(said), Err: err}
}

// cudalab is the command line as it is now.
func cudalab(t *testing.T) string {
	t.Helper()
	program, err := built()
	require.NoError(t, err)
	return program
}

func TestMain(m *testing.M) {
	status := m.Run()
	_ = os.RemoveAll(siteFolder)
	if *drive {
		if program, err := built(); err == nil {
			_ = os.RemoveAll(filepath.Dir(program))
		}
	}
	os.Exit(status)
}

// checked answers with the documents of `cudalab check`.
func checked(ctx context.Context, program string, w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Exercise string
		Files    map[string]string
	}
	fail := func(err error) { http.Error(w, err.Error(), http.StatusInternalServerError) }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		fail(err)
		return
	}
	dir, err := os.MkdirTemp("", "cudalab-page-")
	if err != nil {
		fail(err)
		return
	}
	defer os.RemoveAll(dir)
	code := filepath.Join(dir, "code")
	if err := os.Mkdir(code, 0o755); err != nil {
		fail(err)
		return
	}
	for name, text := range asked.Files {
		if err := os.WriteFile(filepath.Join(code, filepath.Base(name)), []byte(text), 0o644); err != nil {
			fail(err)
			return
		}
	}
	html := filepath.Join(dir, "page.html")
	cmd := exec.CommandContext(ctx, program, "check", asked.Exercise, "--root", root, "--dir", code, "--device", "sim",
		"--json", "--html", html, "--seed", "7")
	document, err := cmd.Output() // its status says what became of the code
	if !json.Valid(document) {
		fail(err)
		return
	}
	page, err := os.ReadFile(html)
	if err != nil {
		fail(err)
		return
	}
	var report struct{ Status string }
	if err := json.Unmarshal(document, &report); err != nil {
		fail(err)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": report.Status, "json": json.RawMessage(document),
		"html": string(page)})
}
