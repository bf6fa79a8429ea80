package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/class/handout"
	"cudalab/grader/desk/parcel"
)

// installed is a cudalab that carries a course, as somebody has it who has nothing else.
type installed struct {
	t      *testing.T
	binary string
	env    []string // beside the test's own
}

// install builds a cudalab that carries a parcel.
func install(t *testing.T, p *parcel.Parcel) installed {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	own, solutions, err := p.Archives()
	require.NoError(t, err)
	dir := t.TempDir()
	replace := map[string]string{}
	in := map[string][]byte{parcel.CourseZip: own, parcel.SolutionsZip: solutions}
	for _, e := range p.Exercises { // what it knows itself is of the same course
		in["lessons/"+e.Name+".skeleton.go.txt"] = p.Files[e.File()]
	}
	for in, text := range in {
		file := filepath.Join(dir, filepath.Base(in))
		require.NoError(t, os.WriteFile(file, text, 0o600))
		replace[filepath.Join(root, in)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlay := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(overlay, text, 0o600))
	c := installed{t: t, binary: filepath.Join(dir, "cudalab"), env: []string{"CUDALAB_ROOT="}}
	build := exec.Command("go", "build", "-overlay", overlay, "-ldflags=-s -w -funcalign=16", "-o", c.binary,
		"./cmd/cudalab")
	build.Dir = root
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return c
}

// packed is the course of this repository.
func packed(t *testing.T) *parcel.Parcel {
	t.Helper()
	p, err := handout.Pack(context.Background(), "../../..")
	require.NoError(t, err)
	return p
}

// in runs cudalab in a folder.
func (c installed) in(dir string, args ...string) (stdout, stderr string, status int) {
	c.t.Helper()
	return c.run(dir, exec.Command(c.binary, args...))
}

func (c installed) run(dir string, cmd *exec.Cmd) (stdout, stderr string, status int) {
	c.t.Helper()
	var out, complaints bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), c.env...), &out, &complaints
	err := cmd.Run()
	if cmd.ProcessState == nil {
		require.NoError(c.t, err)
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}

func TestInit(t *testing.T) {
	p := packed(t)
	c := install(t, p)
	size, err := os.Stat(c.binary)
	require.NoError(t, err)
	require.Less(t, size.Size(), int64(35<<20))

	dir := filepath.Join(t.TempDir(), "my course")
	began := time.Now()
	stdout, stderr, status := c.in(filepath.Dir(dir), "init", "my course")
	took := time.Since(began)
	t.Logf("written in %v", took.Round(time.Millisecond))
	require.Zero(t, status, stderr)
	require.Regexp(t, `^The course is in .*/my course: \d+ lessons, of cudalab \d+\.\d+\.\d+\.\n`, stdout)
	require.Regexp(t, `1\. cd "my course"\n(?s:.*)2\. \S*cudalab lesson\n(?s:.*)3\. \S*cudalab watch\n`, stdout)

	t.Run("what is there can be checked without a network", func(t *testing.T) {
		offline := c
		offline.env = append(offline.env, "GOPROXY=off", "GOMODCACHE="+t.TempDir())
		stdout, stderr, status := offline.in(dir, "check", "async-pipeline", "--solution", "--device", "sim")
		require.Zero(t, status, stderr)
		require.Contains(t, stdout, "PASSED")
		stdout, _, status = offline.in(filepath.Join(dir, "lessons"), "check", "slab", "--device", "sim")
		require.Equal(t, 1, status)
		require.Contains(t, stdout, "NOT STARTED")
	})
	t.Run("a course is told", func(t *testing.T) {
		for where, says := range map[string]string{
			dir: "is a course already", filepath.Join(dir, "exercises", "new"): "lies within the course at " + dir,
		} {
			stdout, stderr, status := c.in(filepath.Dir(dir), "init", where)
			require.Equal(t, 2, status)
			require.Empty(t, stdout)
			require.Contains(t, stderr, says)
		}
	})
	t.Run("nothing is overwritten", func(t *testing.T) {
		full := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(full, ".gitignore"), []byte("mine"), 0o644))
		_, stderr, status := c.in(full, "init")
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "has .gitignore already, and nothing is overwritten")
		require.NoError(t, os.WriteFile(filepath.Join(full, "thesis.tex"), []byte("mine"), 0o644))
		_, stderr, status = c.in(full, "init", ".")
		require.Equal(t, 2, status)
		require.Contains(t, stderr, "is not empty, there is thesis.tex")
		require.Len(t, entries(t, full), 2)
	})
	t.Run("where nothing can be written nothing is left", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("limits as Linux has them")
		}
		parent := t.TempDir()
		// Root may write everywhere; a limit on the size of files stands for a full disk.
		_, stderr, status := c.run(parent, exec.Command("sh", "-c", "ulimit -f 8; exec "+c.binary+" init course"))
		require.Equal(t, 3, status)
		require.Contains(t, stderr,
			"could not be written to "+filepath.Join(parent, "course")+": file too large. Nothing was left there.")
		require.Empty(t, entries(t, parent))
		_, stderr, status = c.in(parent, "init", "/proc/course")
		require.Equal(t, 3, status)
		require.Contains(t, stderr,
			"could not be written to /proc/course: no such file or directory. Nothing was left there.")
	})
	t.Run("kill -9 leaves no half course, and the next goes on", func(t *testing.T) {
		whole := content(t, dir)
		outcome := map[string]int{}
		for i := range 24 {
			parent := t.TempDir()
			at := filepath.Join(parent, "course")
			if i%2 == 1 { // then the course gets its names one by one
				require.NoError(t, os.Mkdir(at, 0o755))
			}
			init := exec.Command(c.binary, "init", "course")
			init.Dir, init.Env = parent, append(os.Environ(), c.env...)
			require.NoError(t, init.Start())
			where := map[bool]string{false: parent, true: at}[i%2 == 1]
			for began := time.Now(); i < 18 && time.Since(began) < time.Minute && len(entries(t, where)) < 1; {
				time.Sleep(100 * time.Microsecond) // until it begins to write
			}
			time.Sleep(time.Duration(rand.Int64N(int64(took / 4))))
			_ = init.Process.Kill()
			_ = init.Wait()
			if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
				outcome["whole"]++
				require.Equal(t, whole, content(t, at))
				continue
			}
			outcome["no course"]++
			if i%2 == 1 {
				_, stderr, status := c.in(at, "list")
				require.NotZero(t, status)
				require.Contains(t, stderr, "course")
			}
			left := len(entries(t, parent)) - i%2
			if i%2 == 1 {
				left += len(entries(t, at))
			}
			_, stderr, status := c.in(parent, "init", "course")
			require.Zero(t, status, stderr)
			if strings.Contains(stderr, "An init was stopped here before it was done") {
				outcome["of these with something left"]++
				require.NotZero(t, left)
			}
			require.Equal(t, whole, content(t, at))
			require.Equal(t, []string{"course"}, entries(t, parent))
			require.Equal(t, entries(t, dir), entries(t, at))
		}
		t.Log(outcome)
	})
	t.Run("with Go missing or too old it says what to do", func(t *testing.T) {
		old := t.TempDir()
		script := "#!/bin/sh\n[ \"$1 $2\" = 'env GOVERSION' ] && echo go1.21.3\n"
		require.NoError(t, os.WriteFile(filepath.Join(old, "go"), []byte(script), 0o755))
		aged := c
		aged.env = append(aged.env, "PATH="+old+":/bin:/usr/bin")
		stdout, _, status := aged.in(old, "init", "course")
		require.Zero(t, status, "the course is there all the same")
		require.Contains(t, stdout,
			"Before the first check: The course needs Go 1.26.0 or newer; there is "+old+"/go, and it is 1.21.3.")
		require.Contains(t, stdout, "in a browser")
		stdout, _, status = aged.in(filepath.Join(old, "course"), "doctor")
		require.Equal(t, 3, status)
		require.Regexp(t, `missing +Go +The course needs Go 1\.26\.0 or newer`, stdout)
	})
	t.Run("a repository", func(t *testing.T) {
		if _, err := exec.LookPath("git"); err != nil {
			t.Skip("git is not installed")
		}
		nobody := c
		nobody.env = append(nobody.env, "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1")
		parent := t.TempDir()
		_, stderr, status := nobody.in(parent, "init", "course", "--git")
		require.Zero(t, status, stderr)
		said, err := exec.Command("git", "-C", filepath.Join(parent, "course"), "log", "--oneline", "--stat").Output()
		require.NoError(t, err)
		require.Contains(t, string(said), "The course as it was handed out")
		require.Contains(t, string(said), " .cudalab/course.json ")
		said, err = exec.Command("git", "-C", filepath.Join(parent, "course"), "status", "--porcelain").Output()
		require.NoError(t, err)
		require.Empty(t, string(said))
	})
	t.Run("a bug report is shown, and has nothing private", func(t *testing.T) {
		home := c
		secret := t.TempDir()
		home.env = append(home.env, "HOME="+secret, "GOCACHE="+goCaches(t)[0])
		require.NoError(t, os.WriteFile(filepath.Join(dir, "lessons", "slab.md"), []byte("mine"), 0o644))
		stdout, stderr, status := home.in(dir, "doctor", "--report")
		require.Zero(t, status, stderr)
		text, err := os.ReadFile(filepath.Join(dir, bugReport))
		require.NoError(t, err)
		require.Contains(t, stdout, string(text))
		require.Regexp(t, `^cudalab  `+p.Version+`\ncommit   \S+\nGo       go1\S+, \S+\n`+
			`course   [0-9a-f]{12}, of module cudalab\n`, string(text))
		require.Contains(t, string(text), "These files of it have changed: lessons/slab.md.")
		for _, private := range []string{dir, secret, os.TempDir() + "/"} {
			require.NotContains(t, string(text), private)
		}
		_, stderr, status = home.in(dir, "doctor", "--report")
		require.Equal(t, 2, status)
		require.Contains(t, stderr, bugReport+" is there already, and nothing is overwritten")
	})
	t.Run("a version says what is installed", func(t *testing.T) {
		stdout, _, status := c.in(t.TempDir(), "--version")
		require.Zero(t, status)
		require.Regexp(t, `^cudalab  `+p.Version+`\n(?s:.*)\ncarried  for .cudalab init., with the solutions\n$`, stdout)
		stdout, _, _ = c.in(dir, "check", "slab", "--json", "--device", "sim")
		require.Contains(t, stdout, `"cudalab": "`+p.Version+`"`)
	})
	t.Run("what takes cudalab's sources says that they are not here", func(t *testing.T) {
		for _, command := range []string{"handout", "browser"} {
			_, stderr, status := c.in(dir, command, t.TempDir())
			require.Equal(t, 2, status)
			require.Contains(t, stderr, "is made of cudalab's own sources")
		}
	})
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}
