// Package lock is mutual exclusion between processes: a file that one of them at a time holds locked. The operating
// system lets go of it when its holder ends, however that happens, so a lock is never left behind.
package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// interval is how often a lock that another process holds is tried again.
const interval = 20 * time.Millisecond

// Acquire locks the file at path, which it makes if need be, and waits until nobody else holds it or ctx is done. The
// file itself stays when it is released.
func Acquire(ctx context.Context, path string) (release func(), err error) {
	f, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	for {
		locked, err := try(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if locked {
			return func() { f.Close() }, nil // closing it unlocks it
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(interval):
		}
	}
}

// open opens the file without a wish to write it: in a shared temporary folder it may be another user's.
func open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o644)
	if errors.Is(err, fs.ErrExist) { // somebody was faster
		return os.Open(path)
	}
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o644); err != nil { // whatever the umask: others only wait for it
		f.Close()
		return nil, err
	}
	return f, nil
}

// GPU waits until no other process of cudalab's on this machine times anything on the GPU that this one would use.
func GPU(ctx context.Context) (release func(), err error) {
	gpu, _, _ := strings.Cut(os.Getenv("CUDA_VISIBLE_DEVICES"), ",")
	if gpu == "" {
		gpu = "0"
	}
	gpu = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '-'
		}
		return r
	}, gpu)
	return Acquire(ctx, filepath.Join(os.TempDir(), "cudalab-gpu-"+gpu+".lock"))
}
