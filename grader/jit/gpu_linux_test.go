package jit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cudalab/grader/child"
	"cudalab/grader/sandbox"
)

// confinedVariable makes this test binary compile all kernels, as a runner does, instead of running tests.
const confinedVariable = "JIT_TEST_CONFINED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(confinedVariable); dir != "" {
		began := time.Now()
		n, err := compile()
		fmt.Println(n, err)
		fmt.Println(time.Since(began).Round(time.Millisecond))
		fmt.Println(os.WriteFile(filepath.Join(dir, "poison"), nil, 0o600))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A confined process reaches the GPU, with a cache that it can read but not change and without one.
func TestConfinedProcessReachesTheGPU(t *testing.T) {
	if gaps := sandbox.Supported().Gaps(); len(gaps) > 0 {
		t.Skip("without the sandbox a process could " + strings.Join(gaps, "; "))
	}
	dir := t.TempDir()
	n, err := Fill(context.Background(), dir, "")
	if err != nil {
		t.Skip(err)
	}
	before := contents(t, dir)
	require.NotEmpty(t, before)
	for _, policy := range []*sandbox.Policy{{GPU: true, JITCache: dir}, {GPU: true}} {
		p, err := child.Start(context.Background(), child.Command{
			Path:    "/proc/self/exe",
			Env:     append(policy.Environment(), confinedVariable+"="+dir),
			Limits:  child.Limits{Wall: time.Minute, Memory: 4 << 30},
			Sandbox: policy,
		})
		require.NoError(t, err)
		r := p.Wait()
		said := strings.Split(string(r.Stdout), "\n")
		require.GreaterOrEqual(t, len(said), 3, "%s: %s", r.Reason, r.Stderr)
		require.Equal(t, fmt.Sprintf("%d <nil>", n), said[0], "%s", r.Stderr)
		require.Contains(t, said[2], "permission denied")
		require.Equal(t, before, contents(t, dir))
		t.Logf("%d kernels in %s, with %s", n, said[1], strings.Join(policy.Environment(), " "))
	}
}

// contents are the texts of all files in a folder and below it.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			files[path] = string(text)
		}
		return err
	}))
	return files
}
