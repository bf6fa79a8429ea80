package build

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cudalab/grader/lock"
)

const (
	workspacePrefix = "cudalab-build-"
	workspaceLock   = "lock" // held by the process that the workspace belongs to, as long as it lives
)

// freshFor is how long a workspace without an owner is left alone: somebody may have made it just now.
const freshFor = time.Minute

// claimWorkspace makes the folder of a workspace and marks it as this process's. remove deletes it.
func claimWorkspace() (dir string, remove func(), err error) {
	tidy()
	dir, err = os.MkdirTemp("", workspacePrefix)
	if err != nil {
		return "", nil, err
	}
	release, held, err := lock.Try(filepath.Join(dir, workspaceLock))
	if err != nil || !held {
		release = func() {} // there are file systems without locks; nobody takes one there to delete the folder
	}
	return dir, func() {
		release() // before, because Windows deletes no file that is open
		os.RemoveAll(dir)
	}, nil
}

// tidy deletes, once in a process, what earlier ones could not, because they were killed.
var tidy = sync.OnceFunc(func() { removeLeftovers(os.TempDir(), time.Now().Add(-freshFor)) })

// removeLeftovers deletes the workspaces in a folder that are this user's, were there before that time and whose owners
// have ended. What it cannot delete is left for the next time.
func removeLeftovers(folder string, before time.Time) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), workspacePrefix) {
			continue
		}
		info, err := e.Info() // of a link, not of where it leads
		if err != nil || !info.IsDir() || !ours(info) || info.ModTime().After(before) {
			continue
		}
		dir := filepath.Join(folder, e.Name())
		release, free, err := lock.Try(filepath.Join(dir, workspaceLock))
		if err == nil && free {
			release()
			os.RemoveAll(dir)
		}
	}
}
