package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"cudalab/grader/machine/lock"
)

// slot is what one build has to itself until release: the runner's file, and a folder for the sources. Both keep their
// names and stay there afterwards, because go build links nothing if what it would write is there already, and because
// to make files anew takes longer than to write them again. Builds of the same name at the same time must not share a
// slot: the first free one of a row is taken, so that there are as many as there were ever builds at one time. A killed
// build's is free again at once.
type slot struct {
	binary   string
	work     string // the folder, with the files of the build before
	fallback string // the folder in use because the user's cache folder is not writable, or ""
	release  func()
}

func claimSlot(root, name string) (*slot, error) {
	if folder, err := cacheFolder(root); err == nil {
		if p, err := claimIn(folder, name); err == nil {
			return p, nil
		}
	}
	private, temporary, err := privateTemp()
	if err == nil {
		var p *slot
		if p, err = claimIn(filepath.Join(private, below(root)), name); err == nil {
			p.fallback = private
			if temporary {
				release := p.release
				p.release = func() { release(); os.RemoveAll(private) }
			}
			return p, nil
		}
	}
	return nil, noPlace(err)
}

// Workplace is an empty folder for other work on the course at root than a build, until release. It is where builds
// have theirs, and what is left there by whoever was killed goes when the next one comes.
func Workplace(root, name string) (dir string, release func(), err error) {
	s, err := claimSlot(root, name)
	if err != nil {
		return "", nil, err
	}
	empty := func() error {
		files, err := os.ReadDir(s.work)
		for _, f := range files {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.work, f.Name())))
		}
		return err
	}
	if err := empty(); err != nil {
		s.release()
		return "", nil, noPlace(err)
	}
	return s.work, func() {
		_ = empty() // or the next one does
		s.release()
	}, nil
}

// cacheFolder is where in the user's cache folder lies what builds of the course at root keep. It is this user's alone.
func cacheFolder(root string) (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(caches, below(root))
	return folder, os.MkdirAll(folder, 0o700)
}

// below is a course's part of the path. A cache folder may be shared by machines, as a cluster's nodes share their
// users' homes, and a lock may hold on one alone.
func below(root string) string {
	machine, _ := os.Hostname()
	sum := sha256.Sum256([]byte(machine + "\x00" + root))
	return filepath.Join("cudalab", hex.EncodeToString(sum[:6]))
}

// noPlace is the error where what a build writes cannot be written.
func noPlace(err error) error {
	return &EnvironmentError{
		Problem: fmt.Sprintf("The runner needs a place: neither the cache folder nor %s can be written to (%v).",
			os.TempDir(), err),
		Fix: "Set XDG_CACHE_HOME or TMPDIR to a folder that you may write to, on a disk with space left.",
	}
}

// claimIn claims the first free slot of a name in a folder.
func claimIn(dir, name string) (*slot, error) {
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
		if !ok {
			continue
		}
		p := &slot{binary: path + suffix, work: path + ".src", release: release}
		if err := os.MkdirAll(p.work, 0o700); err != nil {
			release()
			return nil, err
		}
		return p, nil
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
