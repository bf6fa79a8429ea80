package intake

import (
	"os"
	"path/filepath"
	"strings"

	"cudalab/grader/machine/lock"
)

// folders of intakes are named so, with what makes each another behind it.
const folders = "cudalab-intake-"

// lockName is a file beside the submissions, which whoever has made them holds locked. It is let go of however that
// ends.
const lockName = "lock"

// IsFolder reports whether a name is that of an intake's folder.
func IsFolder(name string) bool { return strings.HasPrefix(name, folders) }

// makeFolder makes the folder of an intake.
func makeFolder(temp string) (dir string, release func(), err error) {
	removeAbandoned(temp)
	if dir, err = os.MkdirTemp(temp, folders); err != nil {
		return "", nil, err
	}
	release, _, err = lock.Try(filepath.Join(dir, lockName))
	if err != nil {
		os.RemoveAll(dir)
	}
	return dir, release, err
}

// removeAbandoned removes the folders of intakes that were killed: nobody holds their locks. What is another user's, or
// is just being made, stays.
func removeAbandoned(temp string) {
	if temp == "" {
		temp = os.TempDir()
	}
	found, err := filepath.Glob(filepath.Join(temp, folders+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		path := filepath.Join(dir, lockName)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		release, free, err := lock.Try(path)
		if err != nil || !free {
			continue
		}
		os.RemoveAll(dir)
		release()
	}
}
