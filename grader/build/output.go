package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"cudalab/grader/lock"
)

// output is where a runner's file goes until release. It keeps its name and stays there afterwards, because go build
// links nothing if what it would write is there already. Two builds of one exercise at the same time must not share
// it, so the second gets a file of its own, which release deletes.
type output struct {
	path     string
	fallback string // the folder in use because the user's cache folder is not writable, or ""
	release  func()
}

func claimOutput(root, pkg string) (*output, error) {
	sum := sha256.Sum256([]byte(root))
	below := filepath.Join("cudalab", hex.EncodeToString(sum[:6]))
	if caches, err := os.UserCacheDir(); err == nil {
		if out, err := claimIn(filepath.Join(caches, below), pkg); err == nil {
			return out, nil
		}
	}
	private, temporary, err := privateTemp()
	if err == nil {
		var out *output
		if out, err = claimIn(filepath.Join(private, below), pkg); err == nil {
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

// claimIn claims the lasting file in a folder, or one of its own there if the lasting one is in use.
func claimIn(dir, pkg string) (*output, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	suffix := ""
	if runtime.GOOS == "windows" {
		suffix = ".exe"
	}
	if release, ok, err := lock.Try(filepath.Join(dir, pkg+".lock")); err == nil && ok {
		removeAbandoned(filepath.Join(dir, pkg+"-*"+suffix))
		return &output{path: filepath.Join(dir, pkg+suffix), release: release}, nil
	}
	f, err := os.CreateTemp(dir, pkg+"-*"+suffix)
	if err != nil {
		return nil, err
	}
	f.Close()
	return &output{path: f.Name(), release: func() { os.Remove(f.Name()) }}, nil
}

// removeAbandoned deletes what builds left that never came to release it. No check runs for a day.
func removeAbandoned(pattern string) {
	old, err := filepath.Glob(pattern)
	if err != nil {
		return
	}
	for _, path := range old {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			os.Remove(path)
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
