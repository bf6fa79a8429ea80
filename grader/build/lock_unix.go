//go:build !windows

package build

import (
	"io/fs"
	"os"
	"syscall"
)

// lock takes the lock of a file without waiting. It goes with the process if it is not released before.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// ours reports whether a folder belongs to this user and nobody else can write to it.
func ours(info fs.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Getuid() && info.Mode().Perm()&0o022 == 0
}
