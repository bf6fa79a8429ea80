//go:build !js

package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// interval is how often a lock that another process holds is tried again.
const interval = 20 * time.Millisecond

// Acquire locks the file at path, which it makes if need be, and waits until nobody else holds it or ctx is done. The
// file itself stays when it is released.
func Acquire(ctx context.Context, path string) (release func(), err error) {
	l, err := open(path)
	if err != nil {
		return nil, err
	}
	if _, err := l.TryLockContext(ctx, interval); err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { l.Close() }, nil
}

// Try is Acquire without waiting; ok is false where somebody else holds the lock.
func Try(path string) (release func(), ok bool, err error) {
	l, err := open(path)
	if err != nil {
		return nil, false, err
	}
	if ok, err = l.TryLock(); !ok {
		return nil, false, err
	}
	return func() { l.Close() }, true, nil
}

// open makes the file if need be and opens it without a wish to write it: in a shared temporary folder it may be
// another user's, which Linux lets nobody open with O_CREATE.
func open(path string) (*flock.Flock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDONLY, 0o644)
	switch {
	case err == nil:
		err = f.Chmod(0o644) // whatever the umask: others only wait for it
		f.Close()
		if err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("locking: %w", err)
	}
	return flock.New(path, flock.SetFlag(os.O_RDONLY)), nil
}

// share is Acquire for any number of holders at one time, none of whom has the lock to itself.
func share(ctx context.Context, path string) (release func(), err error) {
	l, err := open(path)
	if err != nil {
		return nil, err
	}
	if _, err := l.TryRLockContext(ctx, interval); err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { l.Close() }, nil
}
