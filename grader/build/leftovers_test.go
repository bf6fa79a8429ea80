package build

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// claimantVariable makes the test binary a process that has a workspace and keeps it until it is killed.
const claimantVariable = "BUILD_TEST_CLAIMANT"

func playClaimant() {
	dir, _, err := claimWorkspace()
	fmt.Println(dir)
	if err == nil {
		_, _ = os.Stdin.Read(make([]byte, 1)) // until killed, or the test is gone
	}
}

func TestWhatTheKilledLeftBehindIsDeleted(t *testing.T) {
	temp := t.TempDir()
	claimant := exec.Command(os.Args[0])
	claimant.Env = append(os.Environ(), claimantVariable+"=1", "TMPDIR="+temp, "TMP="+temp)
	stdin, err := claimant.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := claimant.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, claimant.Start())
	defer func() { _ = claimant.Process.Kill() }()
	lines := bufio.NewScanner(stdout)
	require.True(t, lines.Scan())
	workspace := lines.Text()
	require.DirExists(t, workspace)

	outside := filepath.Join(t.TempDir(), "outside")
	kept := []string{outside, filepath.Join(temp, "cudalab-other")}
	for _, dir := range kept {
		require.NoError(t, os.Mkdir(dir, 0o700))
	}
	link := filepath.Join(temp, workspacePrefix+"link")
	require.NoError(t, os.Symlink(outside, link))
	unlocked := filepath.Join(temp, workspacePrefix+"killed-before-it-was-locked")
	require.NoError(t, os.Mkdir(unlocked, 0o700))

	removeLeftovers(temp, time.Now().Add(-time.Hour))
	require.DirExists(t, unlocked, "its owner may be about to lock it")
	later := time.Now().Add(time.Hour)
	removeLeftovers(temp, later)
	require.NoDirExists(t, unlocked)
	require.DirExists(t, workspace, "its owner lives")

	require.NoError(t, claimant.Process.Kill())
	_ = claimant.Wait() // it was killed
	removeLeftovers(temp, later)
	require.NoDirExists(t, workspace)
	for _, dir := range kept {
		require.DirExists(t, dir)
	}
	_, err = os.Lstat(link)
	require.NoError(t, err)
}

func TestAWorkspaceGoesWithItsBuild(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	dir, remove, err := claimWorkspace()
	require.NoError(t, err)
	require.Equal(t, temp, filepath.Dir(dir))
	remove()
	entries, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, entries)
}
