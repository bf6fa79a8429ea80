// Package instructors_test runs the recipes as far as that is possible without their platforms: the scripts in folders
// as the platforms make them, on the simulated device, and the platforms' files against what their manuals ask for.
package instructors_test

import (
	"archive/zip"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"cudalab/grader/proof/corpus"
)

var (
	course  string // its root
	cudalab string // the program, as it is now
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cudalab-recipes-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		if course, err = filepath.Abs("../.."); err != nil {
			panic(err)
		}
		cudalab = filepath.Join(dir, "cudalab")
		build := exec.Command("go", "build", "-o", cudalab, "./cmd/cudalab")
		build.Dir = course
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			panic(string(out))
		}
		return m.Run()
	}())
}

// script runs a script of a recipe with further variables in its environment and returns its output and exit status.
func script(t *testing.T, path string, env []string, args ...string) (output string, status int) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("The platforms run Linux, and so does cudalab grade.")
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(append(os.Environ(), "CUDALAB="+cudalab, "EXERCISES=slab", "SEED=42"), env...)
	out, err := cmd.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &failed, "%s", out)
		return string(out), failed.ExitCode()
	}
	return string(out), 0
}

// Submissions of the exercise slab.
const (
	right = "solution"
	wrong = "wrong/arguments-not-checked"
)

// handIn puts a program of slab's corpus into dir as path.
func handIn(t *testing.T, program, dir, path string) {
	t.Helper()
	p, err := corpus.Find(course, "slab", program)
	require.NoError(t, err)
	write(t, filepath.Join(dir, path), p.Text)
}

// install puts a file of the recipe for Gradescope into dir.
func install(t *testing.T, file, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("gradescope", file))
	require.NoError(t, err)
	write(t, filepath.Join(dir, file), string(text))
}

// linkCourse makes dir the course, without a copy.
func linkCourse(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for _, part := range []string{"cmd", "exercises", "go.mod", "go.sum", "grader", "kernels", "lessons", "native",
		"solutions"} {
		require.NoError(t, os.Symlink(filepath.Join(course, part), filepath.Join(dir, part)))
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, v))
}

func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, v))
}

func TestGradescope(t *testing.T) {
	root := t.TempDir() // stands for /autograder
	source := filepath.Join(root, "source")
	linkCourse(t, filepath.Join(source, "cudalab"))
	for _, name := range []string{"setup.sh", "run_autograder", "settings.sh"} {
		install(t, name, source)
	}
	env := []string{"AUTOGRADER=" + root}
	out, status := script(t, "bash", env, filepath.Join(source, "setup.sh"))
	require.Zero(t, status, out)
	require.Contains(t, out, "100 of 100 points", "the image is checked with the solution")

	grade := func(program, path string) (score float64, passed bool) {
		require.NoError(t, os.RemoveAll(filepath.Join(root, "submission")))
		handIn(t, program, filepath.Join(root, "submission"), path)
		out, status := script(t, "bash", env, filepath.Join(source, "run_autograder"))
		require.Zero(t, status, out)
		var r struct {
			Score float64
			Tests []struct{ Status string }
		}
		readJSON(t, filepath.Join(root, "results", "results.json"), &r)
		require.NotEmpty(t, r.Tests)
		passed = true
		for _, test := range r.Tests {
			passed = passed && test.Status == "passed"
		}
		return r.Score, passed
	}
	score, passed := grade(right, "slab.go") // as a student uploads a file
	require.Equal(t, 100.0, score)
	require.True(t, passed)
	score, passed = grade(wrong, "slab/slab.go")
	require.Less(t, score, 100.0)
	require.False(t, passed)
}

// Without a grade there must be no results.json: Gradescope would take one without tests for a zero.
func TestGradescopeWithoutAGrade(t *testing.T) {
	root := t.TempDir()
	linkCourse(t, filepath.Join(root, "source", "cudalab"))
	install(t, "settings.sh", filepath.Join(root, "source"))
	write(t, filepath.Join(root, "submission", "slab.go"), "package slab")
	write(t, filepath.Join(root, "bin", "cudalab"), "#!/bin/sh\nexit 4\n")
	require.NoError(t, os.Chmod(filepath.Join(root, "bin", "cudalab"), 0o755))
	_, status := script(t, "gradescope/run_autograder", []string{"AUTOGRADER=" + root})
	require.Equal(t, 4, status)
	require.NoFileExists(t, filepath.Join(root, "results", "results.json"))
}

func TestGradescopesZip(t *testing.T) {
	if exec.Command("git", "rev-parse", "HEAD").Run() != nil {
		t.Skip("The course is no git repository here.")
	}
	file := filepath.Join(t.TempDir(), "autograder.zip")
	out, status := script(t, "gradescope/make-zip.sh", nil, file)
	require.Zero(t, status, out)
	z, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer z.Close()
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	for _, name := range []string{"setup.sh", "run_autograder", "settings.sh", "cudalab/go.mod",
		"cudalab/solutions/slab/slab.go"} {
		require.Contains(t, names, name)
	}
}

func TestGitHubClassroom(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("jq, which GitHub's runners have, is not in the PATH.")
	}
	for name, c := range map[string]struct {
		program string
		points  bool
	}{"right": {right, true}, "wrong": {wrong, false}} {
		t.Run(name, func(t *testing.T) {
			repository := t.TempDir()
			handIn(t, c.program, repository, "exercises/slab/slab.go")
			environment := filepath.Join(t.TempDir(), "env")
			out, status := script(t, "github-classroom/grade.sh", []string{"GITHUB_ENV=" + environment}, repository)
			require.Zero(t, status, out)
			mute, _, _ := strings.Cut(strings.SplitN(out, "::stop-commands::", 2)[1], "\n")
			require.Len(t, mute, 32)
			require.True(t, strings.HasSuffix(out, "::"+mute+"::\n"), "commands are heard again")
			if !c.points {
				require.Contains(t, out, "bad-argument-accepted at slab/slab.go:")
			}
			text, err := os.ReadFile(environment)
			require.NoError(t, err)
			values := map[string]string{}
			for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				key, value, ok := strings.Cut(line, "=")
				require.True(t, ok, line)
				values[key] = value
			}
			score := 0.0
			for _, runner := range strings.Split(values["CUDALAB_RUNNERS"], ",") {
				var r struct{ Tests []struct{ Score float64 } }
				decoded, err := base64.StdEncoding.DecodeString(values[strings.ToUpper(runner)+"_RESULTS"])
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(decoded, &r), runner)
				score += r.Tests[0].Score
			}
			require.Equal(t, c.points, score == 100)
		})
	}
}

func TestGitHubsWorkflow(t *testing.T) {
	var w struct {
		Jobs map[string]struct {
			Steps []struct {
				Name, Uses, Run string
				With, Env       map[string]string
			}
		}
	}
	readYAML(t, "github-classroom/classroom.yml", &w)
	steps := w.Jobs["grade"].Steps
	require.Len(t, steps, 6)
	for _, s := range steps {
		require.True(t, (s.Uses == "") != (s.Run == ""), "a step either uses an action or runs a command")
		if path, ok := strings.CutPrefix(s.Run, "course/"); ok {
			require.FileExists(t, filepath.Join(course, strings.Fields(path)[0]))
			require.Contains(t, s.Env, "EXERCISES")
			require.Contains(t, s.Env, "SEED")
		}
	}
	require.Equal(t, "classroom-resources/autograding-grading-reporter@v1", steps[5].Uses)
	require.Equal(t, "${{ env.CUDALAB_RUNNERS }}", steps[5].With["runners"])
}

func TestPrairieLearn(t *testing.T) {
	grade := func(t *testing.T, hand func(student string)) (r struct {
		Gradable     bool
		Score        float64
		FormatErrors []string `json:"format_errors"`
	}) {
		root := t.TempDir() // stands for /grade
		hand(filepath.Join(root, "student"))
		out, status := script(t, "prairielearn/grade.sh", []string{"GRADE=" + root})
		require.Zero(t, status, out)
		readJSON(t, filepath.Join(root, "results", "results.json"), &r)
		return r
	}
	t.Run("right", func(t *testing.T) {
		r := grade(t, func(student string) { handIn(t, right, student, "slab.go") })
		require.True(t, r.Gradable)
		require.Equal(t, 1.0, r.Score)
	})
	t.Run("does not compile", func(t *testing.T) {
		r := grade(t, func(student string) { write(t, filepath.Join(student, "slab.go"), "package slab\n\nvar x = y\n") })
		require.False(t, r.Gradable)
		require.Len(t, r.FormatErrors, 1)
		require.Contains(t, r.FormatErrors[0], "slab/slab.go:3")
	})
	t.Run("nothing", func(t *testing.T) {
		r := grade(t, func(student string) { write(t, filepath.Join(student, "notes.txt"), "I ran out of time.") })
		require.False(t, r.Gradable)
		require.Contains(t, r.FormatErrors[0], "holds no exercise")
	})
}

func TestPrairieLearnsQuestion(t *testing.T) {
	var q struct {
		UUID, Title, Topic, Type string
		GradingMethod            string
		ExternalGradingOptions   struct {
			Enabled     bool
			Image       string
			Entrypoint  string
			Timeout     int
			Environment map[string]string
		}
	}
	readJSON(t, "prairielearn/slab/info.json", &q)
	require.Regexp(t, `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`, q.UUID)
	require.NotEmpty(t, q.Title)
	require.NotEmpty(t, q.Topic)
	require.Equal(t, "v3", q.Type)
	require.Equal(t, "External", q.GradingMethod)
	o := q.ExternalGradingOptions
	require.True(t, o.Enabled)
	require.LessOrEqual(t, o.Timeout, 600, "PrairieLearn allows no more")
	path, inImage := strings.CutPrefix(o.Entrypoint, "/cudalab/") // where the Dockerfile puts the course
	require.True(t, inImage)
	require.FileExists(t, filepath.Join(course, path))
	require.Contains(t, o.Environment, "EXERCISES")
	require.Contains(t, o.Environment, "SEED")
}

func TestContinuousIntegration(t *testing.T) {
	var ci struct {
		Variables map[string]string
		Grade     struct {
			Script    []string
			Artifacts struct{ Reports map[string]string }
		}
	}
	readYAML(t, "junit-ci/gitlab-ci.yml", &ci)
	dir := t.TempDir()
	linkCourse(t, filepath.Join(dir, "course"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "course", "bin"), 0o755))
	require.NoError(t, os.Symlink(cudalab, filepath.Join(dir, "course", "bin", "cudalab")))
	handIn(t, right, dir, "submissions/ada/slab/slab.go")
	handIn(t, wrong, dir, "submissions/bob/slab/slab.go")
	var env []string
	for k, v := range ci.Variables {
		env = append(env, k+"="+v)
	}
	env = append(env, "GRADE_FLAGS=--insecure") // the machine that tests need not be able to confine code
	out, status := script(t, "bash", env, "-e", "-c", "cd "+dir+"\n"+strings.Join(ci.Grade.Script, "\n"))
	require.Zero(t, status, out)
	text, err := os.ReadFile(filepath.Join(dir, ci.Grade.Artifacts.Reports["junit"]))
	require.NoError(t, err)
	var suites struct {
		Failures int `xml:"failures,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Failures int    `xml:"failures,attr"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(text, &suites))
	require.Len(t, suites.Suites, 2)
	require.Equal(t, "ada: slab", suites.Suites[0].Name)
	require.Zero(t, suites.Suites[0].Failures)
	require.Positive(t, suites.Suites[1].Failures)
}

func TestScriptsAreClean(t *testing.T) {
	scripts := []string{"grade-one.sh", "gradescope/setup.sh", "gradescope/run_autograder", "gradescope/make-zip.sh",
		"github-classroom/grade.sh",
		"prairielearn/grade.sh"}
	for _, path := range scripts {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&0o100, "%s can be run", path)
		out, err := exec.Command("bash", "-n", path).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	check, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("There is no shellcheck in the PATH.")
	}
	out, err := exec.Command(check, append([]string{"-x"}, scripts...)...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}
