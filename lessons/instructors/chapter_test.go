package instructors_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cudalab/grader/machine/sandbox"
	"cudalab/grader/proof/corpus"
)

// TestChapterCommands runs the commands of README.md, one after the other, in a folder with a class as it describes
// one.
func TestChapterCommands(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Grading is for Linux.")
	}
	if gaps := sandbox.Supported().Gaps(); len(gaps) > 0 {
		t.Skipf("The chapter's commands grade code that is confined, which this machine cannot: it could %s.",
			strings.Join(gaps, "; "))
	}
	work := filepath.Join(t.TempDir(), "work")
	for student, program := range map[string]string{"ada": "wrong/too-small", "bob": "right/in-passes"} {
		p, err := corpus.Find(course, "asyncpipeline", program)
		require.NoError(t, err)
		folder := filepath.Join(work, "submissions", student, "asyncpipeline")
		require.NoError(t, os.MkdirAll(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "asyncpipeline.go"), []byte(p.Text), 0o644))
	}
	chapter, err := os.ReadFile("README.md")
	require.NoError(t, err)
	example, err := policyExample(string(chapter))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(work, "grading.toml"), []byte(example), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(work, "class.csv"), []byte("name,login\nAda L.,ada\nBob M.,bob\n"),
		0o644))
	require.NoError(t, os.WriteFile(filepath.Join(work, "export.csv"),
		[]byte("Student,ID,SIS User ID,SIS Login ID,Section,CUDA lab (77)\n"+
			"    Points Possible,,,,,100\n\"L., Ada\",1,11,ada,A,\n\"M., Bob\",2,12,bob,A,\n"), 0o644))
	ran := 0
	for line := range strings.Lines(string(chapter)) {
		command, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    cudalab ")
		if !ok || strings.Contains(command, "--slurm") { // which grader/class/slurm tests, on a cluster
			continue
		}
		ran++
		args := fields(command)
		if strings.HasPrefix(command, "grade diff ") {
			for _, dir := range args[2:] {
				require.NoError(t, os.CopyFS(filepath.Join(work, dir), os.DirFS(filepath.Join(work, "results"))))
			}
		}
		said, err := run(work, args)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && args[0] == "calibrate" {
			require.Equal(t, 3, exit.ExitCode(), "%s", said)
			require.Contains(t, string(said), "there is no GPU to measure")
			if len(args) == 1 {
				continue
			}
			said, err = run(work, append(args, "--device", "sim"))
		}
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && args[0] == "check" && args[1] == "async-pipeline" {
			require.Equal(t, 1, exit.ExitCode(), "ada's code is wrong:\n%s", said)
			continue
		}
		require.NoErrorf(t, err, "cudalab %s\n%s", command, said)
	}
	require.Equal(t, 23, ran)
	for _, file := range []string{"../cuda-course/README.md", "results/report.html", "results/grades.csv",
		"results/students/ada.json",
		"results/timings/index.html", "results/timings/ada.json", "results/journal.jsonl", "results/junit.xml", "ada.html",
		"merged/grades.csv", "l4.json", "alike/similar.html"} {
		require.FileExists(t, filepath.Join(work, file))
	}
	grades := func(dir string) string { // but for where pages are, of which merged has none
		text, err := os.ReadFile(filepath.Join(work, dir, "grades.csv"))
		require.NoError(t, err)
		return regexp.MustCompile(`students/\w+\.html`).ReplaceAllString(string(text), "")
	}
	require.Equal(t, grades("results"), grades("merged"))
}

// fields are the words of a command, of which one in quotes may have spaces.
func fields(command string) (words []string) {
	for i, part := range strings.Split(command, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

// run runs cudalab in a folder, where no GPU is to be seen.
func run(dir string, args []string) (said []byte, err error) {
	cmd := exec.Command(cudalab, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CUDALAB_ROOT="+course, "CUDA_VISIBLE_DEVICES=-1")
	return cmd.CombinedOutput()
}
