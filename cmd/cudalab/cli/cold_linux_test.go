package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/proof/corpus"
	"cudalab/grader/suite/verdict"
)

// The first checks on a machine that has compiled nothing yet, all at once on one processor that another program keeps
// busy: the standard library takes them far longer than a build may take, and the verdicts are what they are anywhere.
func TestAColdAndBusyMachineChangesNoVerdict(t *testing.T) {
	taskset, err := exec.LookPath("taskset")
	if err != nil || testing.Short() {
		t.Skip("it takes a minute, and taskset to have but one processor")
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	cudalab := filepath.Join(dir, "cudalab")
	build := exec.Command("go", "build", "-o", cudalab, "./cmd/cudalab")
	build.Dir = root
	text, err := build.CombinedOutput()
	require.NoError(t, err, string(text))
	alone := func(program string, args ...string) *exec.Cmd {
		return exec.Command(taskset, append([]string{"-c", "0", program}, args...)...)
	}
	loop := alone("nice", "-n", "5", "sh", "-c", "while :; do :; done") // or it takes half of all the time
	require.NoError(t, loop.Start())
	defer func() { loop.Process.Kill(); loop.Wait() }()

	type result struct{ stdout, stderr bytes.Buffer }
	var results [3]result
	var all sync.WaitGroup
	for i, program := range []string{"solution", "solution", "wrong/too-small"} {
		p, err := corpus.Find(root, "asyncpipeline", program)
		require.NoError(t, err)
		args := []string{"check", "async-pipeline", "--device", "sim", "--no-timing", "--dir", handIn(t, p)}
		if i == 1 {
			args = append(args, "--json")
		}
		cmd := alone(cudalab, args...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOCACHE="+filepath.Join(dir, "go-build"), "XDG_CACHE_HOME="+
			filepath.Join(dir, "cache"))
		cmd.Stdout, cmd.Stderr = &results[i].stdout, &results[i].stderr
		all.Go(func() { _ = cmd.Run() }) // the verdict is in what it writes
	}
	began := time.Now()
	all.Wait()
	t.Logf("all verdicts were there after %v", time.Since(began).Round(time.Second))

	require.Contains(t, results[0].stdout.String(), "passed", "%s", results[0].stderr.String())
	require.NotContains(t, results[0].stdout.String(), "failed")
	for _, told := range []int{0, 2} {
		require.Contains(t, results[told].stderr.String(), "Preparing: Go compiles what this lesson's checks are made of,")
	}
	var r verdict.Report
	require.NoError(t, json.Unmarshal(results[1].stdout.Bytes(), &r))
	require.Equal(t, verdict.Passed, r.Status, r.Message)
	require.Empty(t, results[1].stderr.String(), "programs wait in silence")
	require.Contains(t, results[2].stdout.String(), "out-of-bounds")
}

// handIn is a folder with a program of the corpus.
func handIn(t *testing.T, p corpus.Program) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "asyncpipeline.go"), []byte(p.Text), 0o600))
	return dir
}
