package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"cudalab/grader/lock"
)

// output is where a runner's file goes until release. It keeps its name and stays there afterwards, because go build
// links nothing if what it would write is there already. Builds of the same name at the same time must not share it: the
// first free one of a row of files is taken, so that there are as many as there were ever builds at one time.
type output struct {
	path     string
	fallback string // the folder in use because the user's cache folder is not writable, or ""
	release  func()
}

func claimOutput(root, name string) (*output, error) {
	sum := sha256.Sum256([]byte(root))
	below := filepath.Join("cudalab", hex.EncodeToString(sum[:6]))
	if caches, err := os.UserCacheDir(); err == nil {
		if out, err := claimIn(filepath.Join(caches, below), name); err == nil {
			return out, nil
		}
	}
	private, temporary, err := privateTemp()
	if err == nil {
		var out *output
		if out, err = claimIn(filepath.Join(private, below), name); err == nil {
			out.fallback = private
			if temporary {
				release := out.release
				out.release = func() { release(); os.RemoveAll(private) }
			}
			return out, nil
		}
	}
	return nil, &EnvironmentError{
		Problem: fmt.Sprintf("The runner needs a place: neither the cache folder nor %s can be written to (%v).", os.TempDir(), err),
		Fix:     "Set XDG_CACHE_HOME or TMPDIR to a folder that you may write to, on a disk with space left.",
	}
}

// claimIn claims the first free file of a name in a folder.
func claimIn(dir, name string) (*output, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	for n := 1; ; n++ {
		path := filepath.Join(dir, name)
		if n > 1 {
			path = fmt.Sprintf("%s-%d", path, n)
		}
		release, ok, err := lock.Try(path + ".lock")
		if err != nil {
			return nil, err
		}
		if ok {
			return &output{path: path + suffix, release: release}, nil
		}
	}
}

// privateTemp is a folder below the temporary one that only this user can write to: anyone may have made one of the
// same name, and what lies in it is going to be run. If the lasting one is not to be trusted it is a fresh one, to be
// deleted after use.
func privateTemp() (dir string, temporary bool, err error) {
	dir = filepath.Join(os.TempDir(), fmt.Sprintf("cudalab-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err == nil {
		return dir, false, nil
	}
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && ours(info) {
		return dir, false, nil
	}
	dir, err = os.MkdirTemp("", "cudalab-")
	return dir, true, err
}
